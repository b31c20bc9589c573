"""`regard export MODEL --to torch|ctranslate2|onnx|huggingface --out DIR`: a model to serve, checked first."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.cli import complete
from regard.cli.lines import read_lines
from regard.cli.options import AnyLanguage
from regard.errors import UsageError, did_you_mean

USUAL = {
    "torch": "int8",
    "ctranslate2": "int8",
    "onnx": "float32",
    "huggingface": "float32",
}  # how weights are kept where nobody says

To = Annotated[
    list[str],
    typer.Option(
        "--to",
        metavar="ENGINE|LANG",
        help="What to export to: torch, ctranslate2, onnx, huggingface. Given again: the language of --data to write.",
        autocompletion=lambda: list(USUAL),
    ),
]
Quantization = Annotated[
    Literal["int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32"] | None,
    typer.Option(
        help="How weights are kept: int8 (usual for torch and ctranslate2) is small and fast, "
        "float32 (usual for onnx) exact. torch knows int8, bfloat16 and float32; onnx int8 and float32."
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        help="A corpus whose validation split is checked with too; needed for --shortlist.",
        autocompletion=complete.corpora,
    ),
]


def export(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    to: To,
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    quantization: Quantization = None,
    sample: Annotated[Path | None, typer.Option(help="Sentences to check the export with, a line each.")] = None,
    data: Data = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="LANG", help="The language of --data to read.")
    ] = None,
    any_language: AnyLanguage = False,
    shortlist: Annotated[
        int, typer.Option(min=0, help="Score only so many target pieces for each source piece; 0 scores all.")
    ] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is no export.")] = False,
    old_source: Annotated[str | None, typer.Option("--source", hidden=True)] = None,
    old_target: Annotated[str | None, typer.Option("--target", hidden=True)] = None,
) -> None:
    """Export a model with its tokenizers, and check that it translates and aligns as before.

    --to torch takes every model that writes text, for our own engine; --to ctranslate2 takes Transformers, and is
    the fastest for them; --to onnx takes every model that writes text to where there is no PyTorch. --to huggingface
    takes BERT, RoBERTa, ALBERT and GPT-2, trained here or imported, to `transformers`.

    `regard translate DIR` then runs the exported model, with the same options and the same output.

    Example: regard export runs/de-en --to ctranslate2 --out exports/de-en --sample some.de
    """
    from regard.data.corpus import Corpus
    from regard.data.held_out import recorded
    from regard.data.languages import asked_of
    from regard.engine.home import model_home
    from regard.export.request import Wish

    engine, target = _engine_and_language(to)
    source, target = source or old_source, target or old_target
    if (source or target) and not data:
        raise UsageError(f"'{source or target}' is a language of --data; there is none.", hint="Add --data CORPUS.")
    lines = [line for some in read_lines(sample) for line in some] if sample else []
    if data and not any_language:
        source, target = asked_of(model_home(model), source, target)
    held_out = recorded(model_home(model))
    corpus = Corpus.open(data, source=source, target=target, held_out=held_out) if data else None
    wish = Wish(quantization or USUAL[engine], lines, corpus, shortlist, force)
    export_model = import_module(f"regard.export.{engine}").export
    typer.echo(export_model(model, out, wish, say=lambda line: typer.echo(line, err=True)).told())


def _engine_and_language(to: list[str]) -> tuple[str, str | None]:
    """What --to was given for: once for the engine, and perhaps once for the language to write."""
    engines = [word for word in to if word in USUAL]
    languages = [word for word in to if word not in USUAL]
    if len(engines) != 1 or len(languages) > 1:
        raise UsageError(
            f"expected one engine after --to ({', '.join(USUAL)}), and at most one language; found {', '.join(to)}.",
            hint=did_you_mean(to[0], USUAL) or "Write --to ctranslate2, or --to ctranslate2 --data D --from de --to en",
        )
    return engines[0], languages[0] if languages else None
