"""`regard export MODEL --to torch|ctranslate2|onnx --out DIR`: a model to serve, checked before it is used."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.lines import read_lines
from regard.cli.options import AnyLanguage

if TYPE_CHECKING:
    from regard.export.request import Exported

USUAL = {"torch": "int8", "ctranslate2": "int8", "onnx": "float32"}  # how weights are kept where nobody says


def export(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    to: Annotated[Literal["torch", "ctranslate2", "onnx"], typer.Option(help="The engine to export to.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    quantization: Annotated[
        Literal["int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32"]
        | None,
        typer.Option(
            help="How weights are kept: int8 (usual for torch and ctranslate2) is small and fast, "
            "float32 (usual for onnx) exact. torch knows int8, bfloat16 and float32; onnx int8 and float32."
        ),
    ] = None,
    sample: Annotated[Path | None, typer.Option(help="Sentences to check the export with, a line each.")] = None,
    data: Annotated[
        str | None, typer.Option(help="A corpus whose validation split is checked with too; needed for --shortlist.")
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="LANG", help="The language of --data to read.")] = None,
    target: Annotated[str | None, typer.Option(metavar="LANG", help="The language of --data to write.")] = None,
    any_language: AnyLanguage = False,
    shortlist: Annotated[
        int, typer.Option(min=0, help="Score only so many target pieces for each source piece; 0 scores all.")
    ] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is no export.")] = False,
) -> None:
    """Export a model with its tokenizers, and check that it translates and aligns as before.

    --to torch takes every model that writes text, for our own engine; --to ctranslate2 takes Transformers, and is
    the fastest for them; --to onnx takes every model that writes text to where there is no PyTorch.

    `regard translate DIR` then runs the exported model, with the same options and the same output.

    Example: regard export runs/de-en --to ctranslate2 --out exports/de-en --sample some.de
    """
    from regard.data.corpus import Corpus
    from regard.data.languages import asked_of
    from regard.export.request import Wish
    from regard.translator import model_home

    lines = [line for some in read_lines(sample) for line in some] if sample else []
    if data and not any_language:
        source, target = asked_of(model_home(model), source, target)
    corpus = Corpus.open(data, source=source, target=target) if data else None
    wish = Wish(quantization or USUAL[to], lines, corpus, shortlist, force)
    export_model = import_module(f"regard.export.{to}").export
    typer.echo(_told(export_model(model, out, wish, say=lambda line: typer.echo(line, err=True))))


def _told(found: Exported) -> str:
    share = found.size / found.before
    return (
        f"{found.folder}: {found.size / 1e6:.1f} MB of weights, {share:.0%} of the model's {found.before / 1e6:.1f} MB;"
        f" {found.quantized.outputs:.1%} of {found.quantized.sentences:,} outputs and "
        f"{found.quantized.links:.1%} of links as the model's"
    )
