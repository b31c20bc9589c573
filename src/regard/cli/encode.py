"""`regard encode MODEL [INPUT ...]`: a filter, texts or images in and vectors out; or all of them into one file."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.classify import Form, ModelFolder, opened
from regard.cli.images import image_paths, in_groups, told_broken
from regard.cli.lines import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from regard.tasks.encoder import Encoding

WRITES = (".npy", ".csv")
VERBS = ("encode", "reconstruct")  # of models that make vectors
Inputs = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="INPUT...",
        help="Text files (plain or .gz), a line each; of a model of images, images or folders of them. Without any, "
        "standard input: texts, or paths.",
    ),
]
Pool = Annotated[
    Literal["mean", "first", "max"] | None, typer.Option(help="How states become one vector; else as the model says.")
]
Normalise = Annotated[
    bool | None,
    typer.Option("--normalise/--no-normalise", help="Vectors of length one, or as they are; else as the model says."),
]


def encode(
    model: ModelFolder,
    inputs: Inputs = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for all vectors, a row each: .npy or .csv. Else standard output.")
    ] = None,
    pool: Pool = None,
    normalise: Normalise = None,
    form: Form = "text",
) -> None:
    """Make a vector of each line of standard input (or of files), or of each image: numbers, with tabs between them.

    An auto-encoder gives its codes. --format jsonl adds what was read; of an encoder the words, and how much each was
    looked at in the last layer. An image that cannot be read is named, and the command ends with 1; then --out writes
    nothing.

    Example: regard encode models/minilm sentences.txt --out vectors.npy
    """
    from regard.errors import UsageError

    if out is not None and out.suffix not in WRITES:
        raise UsageError(f"{out}: expected a file that ends with {' or '.join(WRITES)}; found {out.suffix or 'none'}.")
    if out is not None and form == "jsonl":
        raise UsageError("--format jsonl goes to standard output; --out writes numbers alone.", hint="Leave one out.")
    found, asked = _opened(model), {"pool": pool, "normalise": normalise}
    if found.verb != "encode":
        if named := [name for name, value in asked.items() if value is not None]:
            told = f"--{named[0]} is for encoders of texts; the code of an auto-encoder is as it is."
            raise UsageError(told, hint="Leave it out.")
        asked = {}
    groups = _groups(found, inputs, whole=out is not None)
    if out is not None:
        _keep(found, groups, out, asked)
        return
    for group in groups:
        _write(_lines(found, group, asked, form))


def _opened(folder: Path) -> Any:
    """A model that makes vectors."""
    from regard.tasks.objects import verb_of

    verb = verb_of(folder)
    return opened(folder, verb if verb in VERBS else "encode")


def _groups(model: Any, inputs: list[Path] | None, *, whole: bool) -> Iterator[list[str]]:
    """Texts, or paths of images that can be read, some at a time. With `whole`, none are given where one is broken."""
    if model.reads == "text":
        for file in inputs or [Path("-")]:
            yield from read_lines(file)
        return
    broken = 0
    paths = list(image_paths(inputs)) if whole else image_paths(inputs)
    if whole and sum(map(told_broken, paths)):
        raise typer.Exit(1)
    for group in in_groups(paths):
        sound = [str(path) for path in group if whole or not told_broken(path)]
        broken += len(group) - len(sound)
        if sound:
            yield sound
    if broken:
        raise typer.Exit(1)


def _lines(model: Any, group: list[str], asked: dict[str, Any], form: str) -> list[str]:
    """A line for each."""
    if model.verb == "encode":
        answers: list[Encoding] = model.answer(group, record=form == "jsonl", **asked)
        return [_json(each) if form == "jsonl" else "\t".join(each.numbers) for each in answers]
    return [_code(cell, code, form) for cell, code in zip(group, model.encode(group).tolist(), strict=True)]


def _write(lines: list[str]) -> None:
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
    sys.stdout.buffer.flush()


def _code(source: str, code: list[float], form: str) -> str:
    from regard.chunks import one_json_line

    if form == "jsonl":
        return one_json_line({"source": source, "vector": code})
    return "\t".join(f"{number:.8g}" for number in code)


def _keep(model: Any, groups: Iterator[list[str]], out: Path, asked: dict[str, Any]) -> None:
    """All vectors as one table, there whole or not at all."""
    import numpy as np

    parts = [model.encode(group, **asked) for group in groups]
    vectors = np.concatenate([np.zeros((0, model.width), np.float32), *parts])
    draft = out.with_name(f".{out.name}.{os.getpid()}{out.suffix}")
    try:
        if out.suffix == ".npy":
            np.save(draft, vectors)
        else:
            with draft.open("w", encoding="utf-8", newline="") as written:
                csv.writer(written).writerows([f"{number:.8g}" for number in row] for row in vectors.tolist())
        draft.replace(out)
    except OSError as error:
        from regard.errors import UsageError

        raise UsageError(f"{out} cannot be written: {error.strerror}.", hint="Give a folder that is there.") from error
    finally:
        draft.unlink(missing_ok=True)
    typer.echo(f"written: {out}, {len(vectors):,} vectors of {vectors.shape[1]} numbers", err=True)


def _json(answer: Encoding) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"source": answer.source, "vector": answer.vector.tolist(), "words": answer.words}
    return one_json_line({**told, "weights": answer.weights.tolist()})
