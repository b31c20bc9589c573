"""`regard evaluate MODEL --data D`: BLEU with its signature, by length if asked, alignment error, speed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli.options import Alpha, From, To

if TYPE_CHECKING:
    from datasets import Dataset

    from regard.evaluate import AlignmentScore, Throughput
    from regard.search import Options
    from regard.translator import Translation, Translator

Gold = Annotated[
    Path | None, typer.Option(help="Gold links, a line a pair, for the alignment error; else those of the corpus.")
]
Tokenize = Annotated[
    str, typer.Option(help="How sacreBLEU cuts words: 13a; none for tokenised text; zh, ja-mecab, char.")
]


def evaluate(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    data: Annotated[str, typer.Option(help="A corpus: a built-in or downloaded name, a folder or a file.")],
    split: Annotated[str, typer.Option(help="Which split; `test` is the only or first test.")] = "test",
    source: From = None,
    target: To = None,
    by_length: Annotated[bool, typer.Option("--by-length", help="BLEU by source length too.")] = False,
    gold: Gold = None,
    beam: Annotated[int, typer.Option(min=1, help="How many outputs are followed at once.")] = 5,
    alpha: Alpha = None,
    tokenize: Tokenize = "13a",
    out: Annotated[Path | None, typer.Option(help="Draw BLEU by length into a .png, .svg or .pdf file.")] = None,
    outputs_file: Annotated[
        Path | None, typer.Option("--outputs", metavar="FILE", help="Keep the translations, a line each.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
) -> None:
    """Translate a split and score it: BLEU, chrF, exact match, alignment error where gold links are, speed.

    Example: regard evaluate runs/de-en --data multi30k --from de --to en --by-length
    """
    from regard.data.corpus import Corpus
    from regard.evaluate import Report, chrf, count_bleu, exact_match, words_for_word
    from regard.evaluate import by_length as buckets
    from regard.search import Options
    from regard.translator import Translator

    metric = partial(count_bleu, tokenize=tokenize)
    metric(["a"], ["a"])  # an unknown tokenizer is told before the work
    translator = Translator.load(model)
    corpus = Corpus.open(data, source=source, target=target)
    rows = corpus.split(split)
    sources, references = list(rows["source"]), list(rows["target"])
    outputs, speed = _translated(translator, sources, Options(beam=beam, alpha=alpha))
    counted = metric(outputs, references)
    what = f"{corpus.name} {split}, {corpus.source}-{corpus.target}, {len(rows):,} pairs"
    report = Report(
        title=f"{model}: {what}, beam {beam}, alpha {translator.alpha if alpha is None else alpha:g}",
        scores=(counted.score(), chrf(outputs, references), exact_match(outputs, references)),
        words=words_for_word(counted),
        lengths=tuple(buckets(sources, outputs, references, metric=metric)) if by_length or out else (),
        alignment=_aligned(translator, rows, gold),
        speed=speed,
    )
    if outputs_file is not None:
        _keep(outputs, outputs_file)
    if out is not None:
        typer.echo(f"drawn: {report.figure(out)}", err=True)
    typer.echo(report.as_json() if as_json else report.as_text())


def _translated(translator: Translator, sources: list[str], options: Options) -> tuple[list[str], Throughput]:
    """The best outputs, and how fast they came."""
    from regard.evaluate import Stopwatch

    watch = Stopwatch()
    with watch:
        found = [best[0] for best in translator.search(sources, options, record=False)]
    watch.add(len(found), sum(len(each.pieces) for each in found))
    return [each.text for each in found], watch.throughput()


def _keep(outputs: list[str], path: Path) -> None:
    """A line each, whatever they hold."""
    from regard.blocks import one_line

    path.write_text("".join(f"{one_line(line)}\n" for line in outputs), encoding="utf-8")


def _aligned(translator: Translator, rows: Dataset, gold: Path | None) -> AlignmentScore | None:
    """The error of the model's links for the right targets, where gold links are known."""
    from regard.evaluate import aer, read_gold_file, read_links

    if gold is None and "links" not in rows.column_names:
        return None
    known = read_gold_file(gold) if gold is not None else read_links(list(rows["links"]))
    forced: list[Translation] = translator.force(list(rows["source"]), list(rows["target"]))
    if any(each.alignment is None for each in forced):
        return None
    return aer([each.alignment.links() for each in forced if each.alignment], known.sure, known.possible)
