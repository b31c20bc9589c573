"""`regard quickstart`: train a date reader and show what it looks at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.alignment import Alignment
    from regard.translator import Translator

SHOWN = ("friday october 20 1995", "the 3rd of may 1968")


def quickstart(
    minutes: Annotated[float, typer.Option(min=0.02, help="How long to train.")] = 1.0,
    out: Annotated[Path, typer.Option(help="Where to keep the run.")] = Path("runs/quickstart"),
    seed: Annotated[int, typer.Option(help="The same seed draws the same dates and first weights.")] = 0,
) -> None:
    """Train a reader of human dates in about a minute, and show what it looks at.

    A new quickstart replaces the run of the last one.

    Example: regard quickstart --minutes 3
    """
    from regard.show.matrix import draw_matrix

    typer.echo(f"Human dates to ISO 8601, letter by letter: rnnsearch-characters, {minutes:g} minutes.", err=True)
    reader = _trained(out / "dates", minutes, seed)
    exact, wrong = _read(reader, seed)
    typer.echo(f"{exact:.1%} of 500 dates it has never seen are read exactly.\n")
    for line in SHOWN:
        typer.echo(_letters(reader, line) + "\n")
    for told in wrong[:3]:
        typer.echo(f"read wrongly: {told}")
    picture = draw_matrix(_by_letters(reader, SHOWN[0]), out / "dates.png", "What it looked at")
    typer.echo(f"A picture: {picture}")
    typer.echo(f"Try it: echo 'May 3rd, 2011' | regard translate {out / 'dates'}")


def _trained(out: Path, minutes: float, seed: int) -> Translator:
    """Train under a progress bar, with one thread: a model this small gains little from a second, and may lose much."""
    import shutil

    import torch

    from regard import api
    from regard.learn.course import Budget
    from regard.learn.progress import Bar

    if (out / "last" / "recipe.toml").is_file() or (out / "best" / "recipe.toml").is_file():
        shutil.rmtree(out)
    torch.set_num_threads(1)
    settings = ["train.validate_steps=0", "train.tensorboard=false"]
    with Bar(Budget(minutes), unit="letters") as bar:
        return api.train(
            "rnnsearch-characters", data="dates", out=out, minutes=minutes, seed=seed, settings=settings, tell=bar
        )


def _read(reader: Translator, seed: int) -> tuple[float, list[str]]:
    """The share of held-out dates that are read exactly, and what is said of the others."""
    from regard.data.builtin import examples

    pairs = list(examples("dates", split="test", size=500, seed=seed))
    found = reader.translate([pair.source for pair in pairs], beam=1)
    wrong = [
        f"{pair.source} as {each.text}, not {pair.target}"
        for each, pair in zip(found, pairs, strict=True)
        if each.text != pair.target
    ]
    return 1 - len(wrong) / len(pairs), wrong


def _by_letters(reader: Translator, line: str) -> Alignment:
    """What was looked at, letter by letter instead of word by word."""
    from regard.alignment import END, Alignment

    found = reader.translate(line)
    return Alignment(found.attention[-1].mean(0), (*line, END), (*found.text, END))


def _letters(reader: Translator, line: str) -> str:
    """One date, what it was read as, and the letters that were looked at for each letter written."""
    from regard.show.terminal import draw

    looked = _by_letters(reader, line)
    written = looked.target[:-1]
    return f"{line}  ->  {''.join(written)}\n\n" + draw(looked.matrix[:-1], [*line, "·"], written)
