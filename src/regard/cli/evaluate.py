"""`regard evaluate MODEL --data D`: the metrics of the model's task with their intervals, by length if asked, speed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.options import (
    ENGINE,
    Alpha,
    AnyLanguage,
    CacheShare,
    CacheSize,
    CacheTheta,
    Data,
    From,
    TestSize,
    To,
    ValidationSize,
    cache_of,
)

if TYPE_CHECKING:
    from regard.evaluate import Report

Gold = Annotated[
    Path | None, typer.Option(help="Gold links, a line a pair, for the alignment error; else those of the corpus.")
]
Tokenize = Annotated[
    str, typer.Option(help="How sacreBLEU cuts words: 13a; none for tokenised text; zh, ja-mecab, char.")
]
EngineName = Annotated[Literal["auto", "torch", "ctranslate2", "onnx"], typer.Option(help=ENGINE)]
OutputsFile = Annotated[Path | None, typer.Option("--outputs", metavar="FILE", help="Keep the answers, a line each.")]
Probabilities = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep how sure the model was of each answer, a line each.")
]

Window = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Of a language model: pieces that are predicted at once.")
]
FeaturesOf = Annotated[
    Path | None,
    typer.Option(
        metavar="RUN", help="Of a generator: a classifier of images, by whose features the Frechet distance compares."
    ),
]
CacheTune = Annotated[bool, typer.Option("--cache-tune", help="Choose theta and share on the validation split.")]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    data: Data,
    split: Annotated[str, typer.Option(help="Which split; `test` is the only or first test.")] = "test",
    source: From = None,
    target: To = None,
    any_language: AnyLanguage = False,
    validation: ValidationSize = None,
    test: TestSize = None,
    by_length: Annotated[bool, typer.Option("--by-length", help="The main metric by source length too.")] = False,
    gold: Gold = None,
    beam: Annotated[int, typer.Option(min=1, help="How many outputs are followed at once.")] = 5,
    alpha: Alpha = None,
    tokenize: Tokenize = "13a",
    out: Annotated[
        Path | None, typer.Option(help="Draw the main metric by length into a .png, .svg or .pdf file.")
    ] = None,
    outputs_file: OutputsFile = None,
    probabilities: Probabilities = None,
    window: Window = None,
    cache: CacheSize = None,
    cache_theta: CacheTheta = None,
    cache_share: CacheShare = None,
    cache_tune: CacheTune = False,
    features: FeaturesOf = None,
    engine: EngineName = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Let a model answer a split, and score it by the metrics of its task.

    Of a translator: BLEU, chrF, exact match, alignment error where gold links are. Of a captioner: the same, and how
    often nouns look at what they name. Of a classifier: accuracy, macro F1, calibration, which classes are taken for
    which. Of a tagger: accuracy, tag by tag. Of a language model: perplexity. Of a generator: Frechet distance and
    diversity of as many samples as there are images. The languages are those that the model was trained for; --from and
    --to may be left out, or name the columns of a table of texts and labels.

    Example: regard evaluate runs/de-en --data multi30k --from de --to en --by-length
    """
    from regard.api import evaluate as measure
    from regard.data.held_out import read_amount

    cut = (("validation", validation), ("test", test))
    rows: dict[str, Any] = {name: None if text is None else read_amount(text) for name, text in cut}
    rows |= {"split": split, "source": source, "target": target, "any_language": any_language}
    asked: dict[str, Any] = {"gold": gold, "beam": beam, "alpha": alpha, "tokenize": tokenize, "engine": engine}
    asked |= {"probabilities": probabilities, "window": window, "tune": cache_tune, "features": features}
    asked |= {"cache": cache_of(cache, cache_theta, cache_share), "say": partial(typer.echo, err=True)}
    asked |= {"by_length": by_length or out is not None, "outputs": outputs_file}
    _told(measure(model, data, **rows, **asked), out, as_json)


def _told(report: Report, out: Path | None, as_json: bool) -> None:
    if out is not None:
        typer.echo(f"drawn: {report.figure(out)}", err=True)
    typer.echo(report.as_json() if as_json else report.as_text())
