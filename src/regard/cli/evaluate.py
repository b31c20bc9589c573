"""`regard evaluate MODEL --data D`: BLEU with its signature, by length if asked, alignment error, speed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from regard.cli.options import ENGINE, Alpha, AnyLanguage, Data, From, TestSize, To, ValidationSize

if TYPE_CHECKING:
    from datasets import Dataset

    from regard.data.corpus import Corpus
    from regard.evaluate import AlignmentScore, Throughput
    from regard.evaluate import Gold as Known
    from regard.search import Options
    from regard.translator import Translation, Translator

Gold = Annotated[
    Path | None, typer.Option(help="Gold links, a line a pair, for the alignment error; else those of the corpus.")
]
Tokenize = Annotated[
    str, typer.Option(help="How sacreBLEU cuts words: 13a; none for tokenised text; zh, ja-mecab, char.")
]
EngineName = Annotated[Literal["auto", "torch", "ctranslate2", "onnx"], typer.Option(help=ENGINE)]
OutputsFile = Annotated[
    Path | None, typer.Option("--outputs", metavar="FILE", help="Keep the translations, a line each.")
]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    data: Data,
    split: Annotated[str, typer.Option(help="Which split; `test` is the only or first test.")] = "test",
    source: From = None,
    target: To = None,
    any_language: AnyLanguage = False,
    validation: ValidationSize = None,
    test: TestSize = None,
    by_length: Annotated[bool, typer.Option("--by-length", help="BLEU by source length too.")] = False,
    gold: Gold = None,
    beam: Annotated[int, typer.Option(min=1, help="How many outputs are followed at once.")] = 5,
    alpha: Alpha = None,
    tokenize: Tokenize = "13a",
    out: Annotated[Path | None, typer.Option(help="Draw BLEU by length into a .png, .svg or .pdf file.")] = None,
    outputs_file: OutputsFile = None,
    engine: EngineName = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Translate a split and score it: BLEU, chrF, exact match, alignment error where gold links are, speed.

    The languages are those that the model was trained for; --from and --to may be left out.

    Example: regard evaluate runs/de-en --data multi30k --from de --to en --by-length
    """
    from regard.evaluate import Report, chrf, count_bleu, exact_match, words_for_word
    from regard.evaluate import by_length as buckets
    from regard.search import Options

    metric = partial(count_bleu, tokenize=tokenize)
    metric(["a"], ["a"])  # an unknown tokenizer is told before the work
    translator, corpus = _opened(model, engine, data, (source, target), (validation, test), any_language)
    rows = corpus.split(split)
    sources, references = list(rows["source"]), list(rows["target"])
    known = _gold(rows, gold)
    outputs, speed = _translated(translator, sources, Options(beam=beam, alpha=alpha))
    counted = metric(outputs, references)
    what = f"{corpus.name} {split}, {corpus.source}-{corpus.target}, {len(rows):,} pairs"
    report = Report(
        title=f"{model}: {what}, beam {beam}, alpha {translator.alpha if alpha is None else alpha:g}",
        scores=(counted.score(), chrf(outputs, references), exact_match(outputs, references)),
        words=words_for_word(counted),
        lengths=tuple(buckets(sources, outputs, references, metric=metric)) if by_length or out else (),
        alignment=_aligned(translator, sources, references, known) if known else None,
        speed=speed,
    )
    _keep(outputs, outputs_file)
    if out is not None:
        typer.echo(f"drawn: {report.figure(out)}", err=True)
    typer.echo(report.as_json() if as_json else report.as_text())


def _opened(
    model: Path,
    engine: str,
    data: str,
    asked: tuple[str | None, str | None],
    cut: tuple[str | None, str | None],
    any_language: bool,
) -> tuple[Translator, Corpus]:
    """The model, and the corpus in the model's languages.

    Where the corpus lacks splits, what the model's training held out is held out again, unless another `cut` is asked.
    """
    from regard.data.corpus import Corpus
    from regard.data.held_out import read_held_out, recorded
    from regard.data.languages import asked_of
    from regard.engine.home import model_home
    from regard.translator import Translator

    home = model_home(model)
    source, target = asked if any_language else asked_of(home, *asked)
    translator = Translator.load(model, engine, say=partial(typer.echo, err=True))
    held_out = read_held_out(*cut) or recorded(home)
    return translator, Corpus.open(data, source=source, target=target, held_out=held_out)


def _translated(translator: Translator, sources: list[str], options: Options) -> tuple[list[str], Throughput]:
    """The best outputs, and how fast they came."""
    from regard.evaluate import Stopwatch

    watch = Stopwatch()
    with watch:
        found = [best[0] for best in translator.search(sources, options, record=False)]
    watch.add(len(found), sum(len(each.pieces) for each in found))
    return [each.text for each in found], watch.throughput()


def _keep(outputs: list[str], path: Path | None) -> None:
    """A line each, whatever they hold, where somebody wants them kept."""
    from regard.chunks import one_line

    if path is not None:
        path.write_text("".join(f"{one_line(line)}\n" for line in outputs), encoding="utf-8")


def _gold(rows: Dataset, gold: Path | None) -> Known | None:
    """The gold links of the pairs, where any are known; those of a file must be of these pairs."""
    from regard.evaluate import check_gold, read_gold_file, read_links

    if gold is not None:
        known = read_gold_file(gold)
        check_gold(known, list(rows["source"]), list(rows["target"]), str(gold))
        return known
    return read_links(list(rows["links"])) if "links" in rows.column_names else None


def _aligned(translator: Translator, sources: list[str], targets: list[str], known: Known) -> AlignmentScore | None:
    """The error of the model's links for the right targets, between the words that gold links count."""
    from regard.evaluate import aer

    forced: list[Translation] = translator.force(sources, targets, spaced=(known.spaced, known.spaced))
    if any(each.alignment is None for each in forced):
        return None
    return aer([each.alignment.links() for each in forced if each.alignment], known.sure, known.possible)
