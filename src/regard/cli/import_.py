"""`regard import FOLDER_OR_ID --out MODEL`: a model that another toolkit wrote, as one of ours."""

from __future__ import annotations

from typing import Annotated

import typer


def import_(
    where: Annotated[
        str, typer.Argument(metavar="FOLDER|ID", help="A folder, or a repository of the Hugging Face hub.")
    ],
    out: Annotated[str, typer.Option(help="The model folder to write.")],
) -> None:
    """Import a model of another toolkit: its weights, its vocabulary and its settings.

    What the folder holds is found out from its files. The model folder is used as any other: `regard fill`,
    `regard generate`, `regard classify`, `regard show`.

    Example: regard import google-bert/bert-base-cased --out models/bert
    """
    from regard.importing import import_model
    from regard.tasks.objects import verb_of

    folder = import_model(where, out)
    typer.echo(f"{folder}: imported; use it with regard {verb_of(folder)} {folder}")
