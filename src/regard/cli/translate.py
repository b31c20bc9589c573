"""`regard translate MODEL [FILE]`: a filter, one line in and one line out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.lines import read_lines, write_line

if TYPE_CHECKING:
    from regard.search import Options
    from regard.translator import Translation, Translator

LONGEST = 1000  # source pieces; what comes after them is not translated, and that is said


def translate(
    model: Annotated[Path, typer.Argument(help="A model folder, a run folder, or an exported folder.")],
    file: Annotated[
        Path | None, typer.Argument(help="A text file, a sentence a line. Without it, standard input.")
    ] = None,
    beam: Annotated[int, typer.Option(min=1, help="How many outputs are followed at once.")] = 5,
    nbest: Annotated[int, typer.Option(min=1, help="How many outputs are printed for each line.")] = 1,
    alignments: Annotated[
        Literal["none", "hard", "soft"],
        typer.Option(help="Add word links (hard: 0-0 1-2; soft: a matrix, with --format jsonl)."),
    ] = "none",
    form: Annotated[
        Literal["text", "jsonl"], typer.Option("--format", help="Plain lines, or one JSON object a line.")
    ] = "text",
    max_length: Annotated[int, typer.Option(min=1, help="The most pieces an output may have.")] = 200,
    alpha: Annotated[float, typer.Option(help="Length penalty (Wu et al. 2016); 0 is none.")] = 0.6,
    engine: Annotated[
        Literal["torch", "ctranslate2", "onnx"] | None,
        typer.Option(help="What runs the model; else what the folder is for."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads may compute; else all cores.")] = None,
) -> None:
    """Translate standard input (or a file) to standard output, a line a sentence.

    With --alignments hard, text lines are followed by a tab and the links; with --nbest, each output is
    preceded by the number of its line and a tab.

    Example: echo "Ein Mann liest ein Buch." | regard translate runs/de-en
    """
    from regard.errors import UsageError
    from regard.search import Options
    from regard.translator import Translator

    if alignments == "soft" and form == "text":
        raise UsageError("soft alignments are matrices, which a line of text cannot hold.", hint="Add --format jsonl.")
    translator = Translator.load(model, engine, threads)
    options = Options(beam=max(beam, nbest), nbest=nbest, max_length=max_length, alpha=alpha)
    record = alignments != "none" or form == "jsonl"
    number = 0
    for lines in read_lines(file):
        for found in _translated(translator, lines, options, record, number):
            number += 1
            for each in found:
                write_line(_told(each, alignments, form, number if nbest > 1 else None))
        sys.stdout.flush()


def _translated(
    translator: Translator, lines: list[str], options: Options, record: bool, before: int
) -> Iterator[list[Translation]]:
    """One list of outputs for each line; an empty line has an empty output, an over-long one is cut and told."""
    from regard.translator import NOTHING

    cut = [_cut(translator, line, before + number) for number, line in enumerate(lines, 1)]
    real = [row for row, line in enumerate(cut) if line.strip()]
    found = dict(zip(real, translator.search([cut[row] for row in real], options, record=record), strict=True))
    return (found.get(row, [NOTHING]) for row in range(len(lines)))


def _cut(translator: Translator, line: str, number: int) -> str:
    pieces = translator.source.encode(line) if len(line) > LONGEST else None
    if pieces is None or len(pieces) <= LONGEST:
        return line
    typer.echo(f"line {number} has {len(pieces):,} pieces; only the first {LONGEST:,} are translated.", err=True)
    return line[: pieces.spans[LONGEST - 1][1]]


def _told(found: Translation, alignments: str, form: str, number: int | None) -> str:
    """One output as a line."""
    if form == "text":
        links = f"\t{found.alignment.pharaoh() if found.alignment else ''}" if alignments == "hard" else ""
        return ("" if number is None else f"{number}\t") + found.text + links
    told: dict[str, object] = {
        "text": found.text,
        "score": round(found.score, 4),
        "likelihood": round(found.likelihood, 4),
    }
    if number is not None:
        told["line"] = number
    if alignments != "none" and found.alignment is not None:
        told |= {"source": found.alignment.source, "target": found.alignment.target, "links": found.alignment.links()}
        told["note"] = found.alignment.note
    if alignments == "soft" and found.alignment is not None:
        told["matrix"] = [[round(weight, 4) for weight in row] for row in found.alignment.matrix.tolist()]
    return json.dumps(told, ensure_ascii=False)
