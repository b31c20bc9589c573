"""`regard import FOLDER_OR_ID --out MODEL`: a model that another toolkit wrote, as one of ours."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from regard.cli import complete
from regard.cli.options import From, To, ValidationSize


def import_(
    where: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|FILE|ID", help="A folder, an Argos package, or a repository of the Hugging Face hub."
        ),
    ],
    out: Annotated[str, typer.Option(help="The model folder to write.")],
    data: Annotated[
        str | None,
        typer.Option(
            help="A corpus on whose validation pairs a translator's aligning heads are chosen.",
            autocompletion=complete.corpora,
        ),
    ] = None,
    source: From = None,
    target: To = None,
    validation: ValidationSize = None,
) -> None:
    """Import a model of another toolkit: its weights, its vocabulary and its settings.

    What the folder holds is found out from its files: BERT, RoBERTa, ALBERT, GPT-2 and Marian (OPUS-MT) in Hugging Face
    format, translators of CTranslate2, Argos packages (.argosmodel, what LibreTranslate uses). The model folder is used
    as any other: `regard fill`, `regard generate`, `regard classify`, `regard translate`, `regard align`,
    `regard show`.

    Example: regard import google-bert/bert-base-cased --out models/bert

    Example: regard import translate-zh_en-1_9.argosmodel --out models/zh-en
    """
    from pathlib import Path

    from regard.data.corpus import Corpus
    from regard.data.held_out import read_held_out
    from regard.importing import import_model
    from regard.tasks.finish import finish_imported
    from regard.tasks.objects import verb_of

    corpus = None
    if data is not None:
        cut = read_held_out(validation, None)
        corpus = Corpus.open(data, source=source, target=target, held_out=cut)
    folder = import_model(where, out)
    if corpus is not None and verb_of(folder) == "translate":
        finish_imported(Path(folder), corpus, partial(typer.echo, err=True))
    typer.echo(f"{folder}: imported; use it with regard {verb_of(folder)} {folder}")
