"""`regard align MODEL SOURCE TARGET`: word links of given pairs, by a model or, without one, by counting."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.lines import read_lines, write_line

if TYPE_CHECKING:
    from regard.align.alignment import Alignment
    from regard.translate.translator import Translator

TOGETHER = 1024  # pairs aligned before their links are written
Pairs = tuple[list[str], list[str]]  # source lines and target lines


@dataclass(frozen=True)
class Linked:
    """The words of a pair, and the links between them."""

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int]]


Places = Annotated[
    list[Path],
    typer.Argument(
        metavar="[MODEL] SOURCE TARGET",
        help="A model folder or a run folder (not with --statistical); a text file, a sentence a line; its "
        "translation, line by line. Files may be .gz.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="How both directions are made one: grow-diag-final (usual with --reverse), grow-diag-final-and "
        "(usual with --statistical), intersection, union or posterior."
    ),
]


def align(
    places: Places,
    statistical: Annotated[
        bool, typer.Option("--statistical", help="Without a model: learn from these pairs alone (HMM, both ways).")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Every link of at least this weight, instead of the best one."),
    ] = None,
    reverse: Annotated[
        Path | None, typer.Option(help="A model of the other direction: the links of both are made one.")
    ] = None,
    method: Method = None,
    form: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="Pharaoh lines, or one JSON object a line with words.")
    ] = "text",
) -> None:
    """Align given pairs: the model is made to write the target, and watched. Pharaoh format, source first.

    Words are what stands between spaces. Where a script is written without, each piece of the model's tokenizer is a
    word (with --statistical each character), which is said; --format jsonl has the words.

    Example: regard align runs/de-en test.de test.en > test.links

    Example: regard align all.de all.en --statistical > all.links
    """
    model, source, target = _places(places, statistical)
    _check(statistical, threshold, reverse, method)
    pairs = _read(source, target)
    if model is None:
        found, unit = _by_counting(pairs, method), "character"
    else:
        found, unit = _by_model(model, reverse, pairs, threshold, method or "grow-diag-final"), "piece"
    for path, lines in zip((source, target), pairs, strict=True):
        _tell_unspaced(path, lines, unit)
    for linked, ours, theirs in zip(found, *pairs, strict=True):
        write_line(_told(linked, ours, theirs, unit) if form == "jsonl" else _pharaoh(linked))
    sys.stdout.flush()


def _places(places: Sequence[Path], statistical: bool) -> tuple[Path | None, Path, Path]:
    """The model, if one is asked for, and the two files."""
    from regard.errors import UsageError

    if len(places) != (2 if statistical else 3):
        expected = "SOURCE and TARGET" if statistical else "MODEL, SOURCE and TARGET"
        raise UsageError(
            f"expected {expected}; found {len(places)} places: {' '.join(map(str, places))}.",
            hint="Write: regard align MODEL SOURCE TARGET; without a model: regard align SOURCE TARGET --statistical",
        )
    return (None if statistical else places[0]), places[-2], places[-1]


def _check(statistical: bool, threshold: float | None, reverse: Path | None, method: str | None) -> None:
    """No option is taken that would change nothing."""
    from regard.align.symmetrise import check_method
    from regard.errors import UsageError

    if method is not None:
        check_method(method)
    if statistical and (threshold is not None or reverse is not None):
        raise UsageError(
            "--threshold and --reverse are for models; the statistical aligner goes both ways by itself.",
            hint="Leave them out, or leave out --statistical and give a model.",
        )
    if method is not None and not statistical and reverse is None:
        raise UsageError(
            f"--method {method} makes one set of links of two directions, and there is only one.",
            hint="Add --reverse MODEL, a model of the other direction, or leave --method out.",
        )


def _read(source: Path, target: Path) -> Pairs:
    from regard.errors import BrokenData

    sources = [line for lines in read_lines(source) for line in lines]
    targets = [line for lines in read_lines(target) for line in lines]
    if len(sources) != len(targets):
        raise BrokenData(
            f"expected as many lines in each file; {source} has {len(sources)}, {target} has {len(targets)}."
        )
    return sources, targets


def _spaced(lines: list[str]) -> bool | None:
    """A file that somebody cut into words is cut in every line; else each line tells."""
    from regard.data.words import are_spaced

    return True if are_spaced(lines) else None


def _by_model(
    model: Path, reverse: Path | None, pairs: Pairs, threshold: float | None, method: str
) -> Iterator[Linked]:
    """The links that a model looks at, or two models of both directions."""
    from regard.translate.translator import Translator

    translator = Translator.load(model)
    backward = Translator.load(reverse) if reverse else None
    sources, targets = pairs
    ours, theirs = _spaced(sources), _spaced(targets)
    for start in range(0, len(sources), TOGETHER):
        some = slice(start, start + TOGETHER)
        found = translator.align(sources[some], targets[some], spaced=(ours, theirs))
        others: list[Alignment | None] = [None] * len(found)
        if backward:
            others = [*backward.align(targets[some], sources[some], spaced=(theirs, ours))]
        if start == 0:
            _tell(translator, found, backward, others)
        for each, other in zip(found, others, strict=True):
            links = each.links(threshold, reverse=other, method=method)
            yield Linked(each.source[:-1], each.target[:-1], links)


def _by_counting(pairs: Pairs, method: str | None) -> Iterator[Linked]:
    """The links of the statistical aligner, which learns from the pairs themselves, so many at a time."""
    from regard.align.reference import PART

    spaced, count = [_spaced(lines) for lines in pairs], len(pairs[0])
    for start in range(0, count, PART):
        end = min(start + PART, count)
        typer.echo(f"aligning pairs {start + 1:,} to {end:,}, by what they teach (HMM, both ways)", err=True)
        words = [_words(lines[start:end], cut) for lines, cut in zip(pairs, spaced, strict=True)]
        yield from map(Linked, *words, _learnt(words, method))


def _words(lines: list[str], spaced: bool | None) -> list[list[str]]:
    """Lines as words; of a script without spaces, as characters."""
    from regard.data.words import characters, words_of

    return [[line[first:end] for first, end in words_of(line, characters(line), spaced)] for line in lines]


def _learnt(words: list[list[list[str]]], method: str | None) -> list[tuple[tuple[int, int], ...]]:
    """The links of pairs in words, with a bar on a terminal while they are looked for."""
    from rich.console import Console
    from rich.progress import Progress

    from regard.align.reference import ROUNDS, reference_links
    from regard.align.wordforms import form

    counted = ([[form(word) for word in line] for line in side] for side in words)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("learning", total=sum(ROUNDS))
        return reference_links(*counted, method=method, on_pass=lambda: progress.advance(task))


def _told(linked: Linked, source: str, target: str, unit: str) -> str:
    """A pair as one JSON object, with what its words are."""
    words = {
        "source": "spaces" if list(linked.source) == source.split() else f"{unit}s",
        "target": "spaces" if list(linked.target) == target.split() else f"{unit}s",
    }
    told = {"source": list(linked.source), "target": list(linked.target), "links": list(linked.links), "words": words}
    return json.dumps(told, ensure_ascii=False)


def _pharaoh(linked: Linked) -> str:
    return " ".join(f"{source}-{target}" for source, target in linked.links)


def _tell_unspaced(path: Path, lines: list[str], unit: str) -> None:
    """Say where links count something else than the words between spaces."""
    from regard.data.words import is_spaced

    if _spaced(lines):
        return
    count = sum(not is_spaced(line) for line in lines)
    typer.echo(
        f"{path}: {count:,} of {len(lines):,} lines are written without spaces between words: there each {unit} "
        "counts as a word (--format jsonl shows them).",
        err=True,
    )


def _tell(
    translator: Translator, found: Sequence[Alignment], backward: Translator | None, others: Sequence[Alignment | None]
) -> None:
    """Say where the links come from, so that nobody takes them for more than they are."""
    for each, alignments in ((translator, found), (backward, others)):
        if each and alignments and alignments[0]:
            typer.echo(f"{each.name}: read from {alignments[0].note}", err=True)
