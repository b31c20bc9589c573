"""`regard quickstart`: train a date reader and a phrasebook translator, and show what they look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.evaluate import AlignmentScore
    from regard.translator import Translator

DATES = ("friday october 20 1995", "the 3rd of may 1968")
PHRASES = ("the agreement on the European Economic Area was signed in August 1992 .", "he loved to eat .")


def quickstart(
    minutes: Annotated[float, typer.Option(min=0.02, help="How long to train, in all.")] = 2.0,
    out: Annotated[Path, typer.Option(help="Where to keep the runs.")] = Path("runs/quickstart"),
    seed: Annotated[int, typer.Option(help="The same seed draws the same data and first weights.")] = 0,
) -> None:
    """Train a date reader and an English-French translator in about two minutes, and show what they look at.

    A new quickstart replaces the runs of the last one.

    Example: regard quickstart --minutes 5
    """
    from regard.show.matrix import draw_matrix

    typer.echo("1. Human dates to ISO 8601, letter by letter (rnnsearch-characters).", err=True)
    reader = _trained("rnnsearch-characters", out / "dates", minutes * 0.4, data="dates", seed=seed, threads=1)
    typer.echo(f"{_exact(reader, seed):.1%} of 500 dates it has never seen are read exactly.\n")
    for line in DATES:
        typer.echo(_letters(reader, line) + "\n")

    typer.echo("2. English to French (rnnsearch-small on the phrasebook).", err=True)
    phrases = _trained("rnnsearch-small", out / "en-fr", minutes * 0.6, data="phrasebook", seed=seed, threads=None)
    bleu, links = _scored(phrases, seed)
    typer.echo(
        f"BLEU {bleu:.1f} on 300 sentences it has never seen; alignment error {links.aer:.1%} against gold links.\n"
    )
    for line in PHRASES:
        typer.echo(_words(phrases, line) + "\n")
    alignment = phrases.translate(PHRASES[0]).alignment
    if alignment is not None:
        typer.echo(f"A picture: {draw_matrix(alignment, out / 'alignment.png', 'What it looked at')}")
    typer.echo(f"Try it: echo 'the baker sells bread .' | regard translate {out / 'en-fr'}")


def _trained(recipe: str, out: Path, minutes: float, *, data: str, seed: int, threads: int | None) -> Translator:
    """Train under a progress bar. A small model gains nothing from a second thread, and may lose much."""
    import shutil

    import torch

    from regard import api
    from regard.learn.course import Budget
    from regard.learn.progress import Bar

    if (out / "best" / "recipe.toml").is_file():
        shutil.rmtree(out)
    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        with Bar(Budget(minutes)) as bar:
            quiet = ["train.validate_steps=0", "train.tensorboard=false"]
            return api.train(recipe, data=data, out=out, minutes=minutes, seed=seed, settings=quiet, tell=bar)
    finally:
        torch.set_num_threads(before)


def _exact(reader: Translator, seed: int) -> float:
    from regard.data.builtin import examples

    pairs = list(examples("dates", split="test", size=500, seed=seed))
    found = reader.translate([pair.source for pair in pairs], beam=1)
    return sum(each.text == pair.target for each, pair in zip(found, pairs, strict=True)) / len(pairs)


def _scored(translator: Translator, seed: int) -> tuple[float, AlignmentScore]:
    from regard.data.builtin import examples
    from regard.evaluate import aer, bleu

    pairs = list(examples("phrasebook", split="test", size=300, seed=seed))
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    outputs = [each.text for each in translator.translate(sources)]
    found = [alignment.links() for alignment in translator.align(sources, targets)]
    score = aer(found, [pair.sure for pair in pairs], [pair.possible for pair in pairs])
    return bleu(outputs, targets).value, score


def _letters(reader: Translator, line: str) -> str:
    """One date, what it was read as, and the letters that were looked at for each letter written."""
    from regard.show.terminal import draw

    found = reader.translate(line)
    written = list(found.text)
    weights = found.attention[-1].mean(0)[: len(written)]
    return f"{line}  ->  {found.text}\n\n" + draw(weights, [*line, "·"], written)


def _words(translator: Translator, line: str) -> str:
    """One sentence, its translation, and the words that were looked at for each word written."""
    from regard.show.terminal import draw

    found = translator.translate(line)
    if found.alignment is None:
        return f"{line}  ->  {found.text}"
    labels = [f"{word} " for word in found.alignment.source]
    return f"{line}  ->  {found.text}\n\n" + draw(found.alignment.matrix[:-1], labels, found.alignment.target[:-1])
