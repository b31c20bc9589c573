"""`regard encode MODEL [FILE]`: a filter, a text in and its vector out; or all of them into one file."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.classify import File, Form, ModelFolder, _filter, opened
from regard.cli.lines import read_lines

if TYPE_CHECKING:
    from regard.tasks.encoder import Encoder, Encoding

WRITES = (".npy", ".csv")
Pool = Annotated[
    Literal["mean", "first", "max"] | None, typer.Option(help="How states become one vector; else as the model says.")
]
Normalise = Annotated[
    bool | None,
    typer.Option("--normalise/--no-normalise", help="Vectors of length one, or as they are; else as the model says."),
]


def encode(
    model: ModelFolder,
    file: File = None,
    out: Annotated[
        Path | None, typer.Option(help="A file for all vectors, a row each: .npy or .csv. Else standard output.")
    ] = None,
    pool: Pool = None,
    normalise: Normalise = None,
    form: Form = "text",
) -> None:
    """Make a vector of each line of standard input (or a file): its numbers, with tabs between them.

    --format jsonl adds the words, and how much each was looked at in the last layer.

    Example: regard encode models/minilm sentences.txt --out vectors.npy
    """
    from regard.errors import UsageError

    if out is not None and out.suffix not in WRITES:
        raise UsageError(f"{out}: expected a file that ends with {' or '.join(WRITES)}; found {out.suffix or 'none'}.")
    if out is not None and form == "jsonl":
        raise UsageError("--format jsonl goes to standard output; --out writes numbers alone.", hint="Leave one out.")
    found = opened(model, "encode")
    if out is not None:
        _keep(found, file, out, {"pool": pool, "normalise": normalise})
        return

    def line(answer: Encoding) -> list[str]:
        return [_json(answer) if form == "jsonl" else "\t".join(answer.numbers)]

    _filter(found, file, line, record=form == "jsonl", pool=pool, normalise=normalise)


def _keep(model: Encoder, file: Path | None, out: Path, asked: dict[str, Any]) -> None:
    """All vectors as one table, there whole or not at all."""
    import numpy as np

    parts = [model.encode(group, **asked) for group in read_lines(file)]
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
