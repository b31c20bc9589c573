"""Options that several commands share, so that they read alike everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import complete

if TYPE_CHECKING:
    from regard.tasks.cache import Cache

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "-s",
        "--set",
        metavar="KEY=VALUE",
        help="Change one setting, as in -s encode.layers=2. May be repeated.",
        autocompletion=complete.settings,
    ),
]
Data = Annotated[
    str,
    typer.Option(help="A corpus: a built-in or downloaded name, a folder or a file.", autocompletion=complete.corpora),
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
_CUT = (
    "Cut so many pairs (1000), or such a share (0.05, 5%), off from train for {}, where the corpus has no such split."
)
ValidationSize = Annotated[str | None, typer.Option(metavar="N|SHARE", help=_CUT.format("validation"))]
TestSize = Annotated[str | None, typer.Option(metavar="N|SHARE", help=_CUT.format("test"))]
CacheSize = Annotated[
    int | None,
    typer.Option(
        "--cache", min=0, metavar="N", help="Of a language model: look back at its last N predictions (Grave 2017)."
    ),
]
CacheTheta = Annotated[
    float | None, typer.Option(min=0, help="With --cache: how sharply it picks what is most alike; near 0: all alike.")
]
CacheShare = Annotated[
    float | None, typer.Option(help="With --cache: how much of a prediction is what it found, from 0 to below 1.")
]


def cache_of(size: int | None, theta: float | None, share: float | None) -> Cache | None:
    """The cache that these options ask for."""
    from regard.errors import UsageError
    from regard.tasks.cache import Cache

    given = {name: value for name, value in (("theta", theta), ("share", share)) if value is not None}
    if size is None:
        if given:
            raise UsageError(f"--cache-{next(iter(given))} goes with --cache.", hint="Write --cache 2000 as well.")
        return None
    return Cache(size, **given)
