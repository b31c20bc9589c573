"""Options that several commands share, so that they read alike everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "-s", "--set", metavar="KEY=VALUE", help="Change one setting, as in -s encode.layers=2. May be repeated."
    ),
]
From = Annotated[str | None, typer.Option("--from", metavar="LANG", help="The language to read.")]
Alpha = Annotated[
    float | None,
    typer.Option(
        min=0, help="Length penalty (Wu et al. 2016): more makes outputs longer; else what suited the validation pairs."
    ),
]
AnyLanguage = Annotated[
    bool, typer.Option("--any-language", help="Take --from and --to even where the model was trained for others.")
]
ENGINE = "What runs the model. auto: what the folder is for; a model folder CTranslate2, where it can, else PyTorch."
To = Annotated[str | None, typer.Option("--to", metavar="LANG", help="The language to write.")]
