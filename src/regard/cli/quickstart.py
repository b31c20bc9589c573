"""`regard quickstart`: train a date reader and a phrasebook translator, and show what they look at.

These are the trials of two systems (see `regard reproduce`) side by side: their data and settings are those that the
[reproduce] tables of their recipes state.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.align.alignment import Alignment
    from regard.evaluate import AlignmentScore
    from regard.translate.translator import Translator

DATES = ("friday october 20 1995", "the 3rd of may 1968")
PHRASES = ("the honest architect explained that he was tired .", "the red car is in the garden .")
MIDDLING = 8  # words of a sentence that shows something, and is read at a glance
PHRASES_LEARNT, TESTED_DATES, TESTED_PHRASES = 50_000, 500, 300
READER, TRANSLATOR = "rnnsearch-characters", "rnnsearch"


def quickstart(
    minutes: Annotated[float, typer.Option(min=0.02, help="How long to train; both models at once.")] = 2.0,
    out: Annotated[Path, typer.Option(help="Where to keep the runs.")] = Path("runs/quickstart"),
    seed: Annotated[int, typer.Option(help="The same seed draws the same data and first weights.")] = 0,
) -> None:
    """Train a date reader and an English-French translator in about two minutes, and show what they look at.

    A new quickstart replaces the runs of the last one.

    Example: regard quickstart --minutes 5
    """
    from regard.api import load
    from regard.show.matrix import draw_matrix

    typer.echo("English to French on the phrasebook (rnnsearch, small); a date reader trains beside it.", err=True)
    with _beside(_fresh(out / "dates"), minutes, seed):
        phrases = _trained(_fresh(out / "en-fr"), minutes, seed)
    reader = load(out / "dates")
    bleu, links, known = _scored(phrases, seed)
    typer.echo(f"{_exact(reader, seed):.1%} of {TESTED_DATES:,} dates it has never seen are read exactly.\n")
    for line in DATES:
        typer.echo(_drawn(line, _by_letters(reader, line), "") + "\n")
    typer.echo(
        f"BLEU {bleu:.1f} on {TESTED_PHRASES:,} sentences it has never seen; "
        f"alignment error {links.aer:.1%} against gold links.\n"
    )
    for line in PHRASES:
        typer.echo(_drawn(line, phrases.align(line, phrases.translate(line).text), " ") + "\n")
    looked = phrases.align(PHRASES[0], phrases.translate(PHRASES[0]).text)
    typer.echo(f"A picture: {draw_matrix(looked, out / 'alignment.png', 'What it looked at')}")
    line, folder = shlex.quote(known or PHRASES[1]), shlex.quote(str(out / "en-fr"))
    typer.echo(f"Try it: echo {line} | {_command()} translate {folder}")


def _fresh(folder: Path) -> Path:
    """A folder without the run of the last quickstart; what is not such a run is left for `train` to refuse."""
    if any((folder / name / "recipe.toml").is_file() for name in ("last", "best")):
        shutil.rmtree(folder)
    return folder


@contextmanager
def _beside(folder: Path, minutes: float, seed: int) -> Iterator[None]:
    """Train the date reader in a process of its own, so that each model has a core; it ends with the block."""
    from regard.errors import TrainingError

    data, _, _, settings = _trial(READER)
    words = [READER, "--data", data, "--out", folder, "--minutes", minutes, "--seed", seed]
    words += [word for setting in settings for word in ("-s", setting)]
    command = [sys.executable, "-m", "regard", "train", *map(str, words)]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=one_thread) as process:
        try:
            yield
            _, told = process.communicate()
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        raise TrainingError(f"the date reader could not be trained: {told.strip()}")


def _trained(folder: Path, minutes: float, seed: int) -> Translator:
    """Train the translator under a progress bar, with one thread, since the date reader has the other core."""
    import torch

    from regard import api
    from regard.learn.progress import Bar
    from regard.learn.run import Budget

    torch.set_num_threads(1)
    data, source, target, settings = _trial(TRANSLATOR)
    with Bar(Budget(minutes)) as bar:
        return api.train(
            TRANSLATOR,
            data=data,
            source=source,
            target=target,
            size=PHRASES_LEARNT,
            out=folder,
            minutes=minutes,
            seed=seed,
            settings=settings,
            tell=bar,
        )


def _trial(system: str) -> tuple[str, str | None, str | None, tuple[str, ...]]:
    """The data, its languages and the settings of the small version of a system."""
    from regard.tasks.reproduce.arms import table_of

    table = table_of(system)
    return table.data, table.source, table.target, (*table.settings, *table.changes)


def _exact(reader: Translator, seed: int) -> float:
    from regard.data.builtin import examples

    pairs = list(examples("dates", split="test", size=TESTED_DATES, seed=seed))
    found = reader.translate([pair.source for pair in pairs], beam=1)
    return sum(each.text == pair.target for each, pair in zip(found, pairs, strict=True)) / len(pairs)


def _command() -> str:
    """How to call `regard` from here: by its name where the shell finds it, else as it was called now."""
    beside = Path(sys.executable).with_name("regard")
    if not beside.is_file():
        return f"{shlex.quote(_near(Path(sys.executable)))} -m regard"
    found = shutil.which("regard")
    return "regard" if found and Path(found).resolve() == beside.resolve() else shlex.quote(_near(beside))


def _near(path: Path) -> str:
    """A path as it is written from this folder, where it lies in it."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _scored(translator: Translator, seed: int) -> tuple[float, AlignmentScore, str]:
    """BLEU and alignment error on test sentences, and a sentence of these that is translated as it should be."""
    from regard.data.builtin import examples
    from regard.evaluate import aer, bleu

    pairs = list(examples("phrasebook", split="test", size=TESTED_PHRASES, seed=seed))
    sources, targets = [pair.source for pair in pairs], [pair.target for pair in pairs]
    outputs = [each.text for each in translator.translate(sources)]  # as the command does that is shown at the end
    found = [alignment.links() for alignment in translator.align(sources, targets)]
    score = aer(found, [pair.sure for pair in pairs], [pair.possible for pair in pairs])
    known = [pair.source for pair, output in zip(pairs, outputs, strict=True) if output == pair.target]
    return bleu(outputs, targets).value, score, min(known, key=_from_middling, default="")


def _from_middling(line: str) -> int:
    """How far a sentence is from being neither short nor long."""
    return abs(len(line.split()) - MIDDLING)


def _by_letters(reader: Translator, line: str) -> Alignment:
    """What was looked at, letter by letter instead of word by word.

    Letters written are read off the pieces: what is hardly trained writes bytes that are no letters in its text.
    """
    from regard.align.alignment import END, Alignment

    found = reader.translate(line)
    return Alignment(found.attention[-1].mean(0), (*line, END), (*found.pieces, END))


def _drawn(line: str, looked: Alignment, space: str) -> str:
    """A line, what was written, and what was looked at for each part of it."""
    from regard.show.terminal import draw

    written = looked.target[:-1]
    labels = [f"{label}{space}" for label in (*looked.source[:-1], "·")]
    return f"{line}  ->  {space.join(written)}\n\n" + draw(looked.matrix[:-1], labels, written)
