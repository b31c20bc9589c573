"""`regard train --processes N|auto`: this process trains, or starts those that do and ends with them."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import typer

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.learn.pace import Way
    from regard.tasks.job import TrainJob
    from regard.tasks.setup import Tokenizers

TOKENIZERS = "REGARD_TOKENIZERS"  # names, in the environment of processes, a folder with those of their training
NAMES = ("source.tokenizer.json", "target.tokenizer.json")


def launched(processes: str, asked: TrainJob) -> TrainJob:
    """Start as many processes as are wanted, and end with them; or come back, and this one trains.

    What comes back is what was asked, with the tokenizers of the training where they are known already.
    """
    from regard.learn.launch import is_launched, needs_launch

    if processes != "auto":
        if needs_launch(count := _count(processes)):
            _check_recipe(asked)
            _start(count, {})
        return asked
    # whoever launched this process has chosen
    return replace(asked, tokenizers=_one_of_many(asked) if is_launched() else _chosen(asked))


def _count(text: str) -> int:
    if text.isdecimal() and int(text):
        return int(text)
    raise UsageError(f"--processes is a number of 1 or more, or auto; found '{text}'.")


def _check_recipe(asked: TrainJob) -> None:
    """A mistake in the recipe is told once, not by every process."""
    from regard.recipe import resolve

    resolve(asked.recipe, asked.settings)


def _start(count: int, environment: dict[str, str]) -> None:
    from regard.learn.launch import launch

    raise typer.Exit(launch(count, sys.argv[1:], environment))


def _chosen(asked: TrainJob) -> Tokenizers | None:
    """Train in as many processes as before, as many as can, or as many as are fastest."""
    from regard.learn.launch import threads_at_hand

    threads = threads_at_hand()
    known = _known(asked, threads)
    if known is None:
        return _fastest(asked, threads)
    way, reason = known
    _say(f"{way}: {reason}")
    if way.processes > 1:
        _check_recipe(asked)
        _start(way.processes, way.environment)
    return None


def _known(asked: TrainJob, threads: int) -> tuple[Way, str] | None:
    """The way to take without measuring, and why, if there is one."""
    from regard.learn.pace import obstacle, processes_of, way_of

    if asked.resume and (count := processes_of(Path(asked.out))):
        return way_of(count, threads), "this run goes on as before"
    reason = obstacle(threads)
    return None if reason is None else (way_of(1, threads), reason)


def _fastest(asked: TrainJob, threads: int) -> Tokenizers | None:
    """Measure every way, say how fast each is, and take the first; mistakes are told before."""
    from regard.learn.pace import measure, told
    from regard.learn.processes import Elsewhere

    tokenizers = asked.rehearse()
    _say("timing a few updates in each way to share out the threads")
    with TemporaryDirectory(prefix="regard-") as folder:
        handed = {TOKENIZERS: folder} if tokenizers else {}
        for name, each in zip(NAMES, tokenizers or (), strict=False):
            each.save(Path(folder) / name)
        try:
            rates = measure(sys.argv[1:], threads, handed)
        except Elsewhere as error:
            raise typer.Exit(error.exit_code) from error
        _say(told(rates))
        way = next(iter(rates))
        if way.processes > 1:
            _start(way.processes, handed | way.environment)
    return tokenizers


def _one_of_many(asked: TrainJob) -> Tokenizers | None:
    """Take what was handed to this process: the tokenizers, and perhaps the wish to be timed and not to train."""
    from regard.data.tokenizer import Tokenizer
    from regard.learn.pace import REPORT

    tokenizers = None
    if folder := os.environ.get(TOKENIZERS):
        source, target = (Tokenizer.load(Path(folder) / name) for name in NAMES)
        tokenizers = (source, target)
    if report := os.environ.get(REPORT):
        _be_timed(asked, tokenizers, Path(report))
    return tokenizers


def _be_timed(asked: TrainJob, tokenizers: Tokenizers | None, report: Path) -> None:
    """Make some updates, report how fast that went, and end."""
    from regard.learn.processes import Elsewhere, Processes

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # there is nothing to save, and nothing to say
    try:
        rate = replace(asked, tokenizers=tokenizers).pace()
    except Elsewhere as error:
        raise typer.Exit(error.exit_code) from error
    if Processes().main:
        report.write_text(str(rate), encoding="utf-8")
    raise typer.Exit


def _say(line: str) -> None:
    typer.echo(line, err=True)
