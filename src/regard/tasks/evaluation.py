"""A model on a split of a corpus: its answers, and the report of what they are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset

from regard.chunks import one_line
from regard.data.corpus import Corpus
from regard.data.held_out import USUAL, HeldOut, recorded
from regard.data.labelled.wanted import Kind
from regard.data.languages import asked_of
from regard.data.latex import normalise
from regard.engine import AUTO, silent
from regard.errors import UsageError
from regard.evaluate import (
    METRICS,
    AlignmentScore,
    Gold,
    Report,
    Score,
    Stopwatch,
    aer,
    check_gold,
    count_accuracy,
    count_bleu,
    exact_match,
    read_gold_file,
    read_links,
    scores_of,
    words_for_word,
)
from regard.evaluate import by_length as buckets
from regard.evaluate import chrf as score_chrf
from regard.evaluate.metrics import likely
from regard.search import Options
from regard.tasks.autoencoder import AutoEncoder
from regard.tasks.cache import Cache
from regard.tasks.captioner import Captioner
from regard.tasks.encoder import Encoder
from regard.tasks.formula_reader import FormulaReader
from regard.tasks.frozen import keep_features
from regard.tasks.language_model import LanguageModel
from regard.tasks.objects import open_model
from regard.tasks.references import once_each
from regard.tasks.sampler import Sampler
from regard.tasks.sampling import evaluate_samples
from regard.tasks.sentence_autoencoder import SentenceAutoEncoder
from regard.tasks.using import TaskModel
from regard.tasks.writer import Writer
from regard.translate.translator import Translation, Translator


@dataclass(frozen=True)
class EvaluateOptions:
    """What is asked of an evaluation, as `regard.evaluate` explains it."""

    split: str = "test"
    source: str | None = None
    target: str | None = None
    any_language: bool = False
    held_out: HeldOut = USUAL
    by_length: bool = False
    gold: str | Path | None = None
    beam: int = 5
    alpha: float | int | None = None
    tokenize: str = "13a"
    window: int | None = None
    cache: Cache | None = None
    tune: bool = False
    features: str | Path | None = None


USUALLY = EvaluateOptions()


@dataclass(frozen=True)
class Answers:
    """What was answered, in order; and how sure the model was of each, where it says so."""

    texts: list[str]
    probabilities: list[float] | None = None

    def keep(self, path: Path) -> None:
        """A line each, whatever they hold."""
        path.write_text("".join(f"{one_line(line)}\n" for line in self.texts), encoding="utf-8")

    def keep_probabilities(self, path: Path) -> None:
        """A line each; nothing is written of a model that does not tell them."""
        if self.probabilities is not None:
            path.write_text("".join(f"{each!r}\n" for each in self.probabilities), encoding="utf-8")


Measured = tuple[Report, Answers]  # a report, whose title says how answers were found, and the answers


def evaluate(
    model: Any,
    data: str | Path | Corpus,
    asked: EvaluateOptions = USUALLY,
    *,
    engine: str | None = None,
    say: Callable[[str], None] = silent,
) -> Measured:
    """Measure a model, or the one of a folder, on a corpus."""
    count_bleu(["a"], ["a"], tokenize=asked.tokenize)  # an unknown tokenizer is told before the work
    named = str(model) if isinstance(model, str | Path) else getattr(model, "name", "") or "model"
    used = open_model(model, engine or AUTO, say=say) if isinstance(model, str | Path) else model
    if not isinstance(used, Translator | TaskModel):
        raise UsageError(
            f"expected a model, as regard.load gives it, or a folder; found {type(model).__name__}.",
            hint='Write regard.evaluate("runs/mine", data=...).',
        )
    if (asked.cache is not None or asked.window is not None) and not isinstance(used, LanguageModel):
        raise UsageError("cache and window are for language models, which are scored on running text.")
    if asked.features is not None and not isinstance(used, Sampler):
        raise UsageError("features are for models that make images, which are compared by them.")
    corpus = data if isinstance(data, Corpus) else _opened(used, data, asked)
    if isinstance(used, TaskModel):
        keep_features(used.model, used.source)
    rows = corpus.split(asked.split)
    writes = isinstance(used, Translator | Writer)
    if isinstance(used, LanguageModel):
        report, answers = _scored(used, rows, replace(asked, cache=_cache(used, corpus, asked)))
    elif isinstance(used, AutoEncoder):
        report, answers = _reconstructed(used, rows)
    elif isinstance(used, Encoder):
        report, answers = _neighbours(used, rows)
    elif isinstance(used, Sampler):
        report, answers = evaluate_samples(used, rows, corpus.name, asked.features)
    else:
        report, answers = _written(used, rows, asked) if writes else _answered(used, rows, asked)
    sides = f"{corpus.source} to {corpus.target}, {_counted(rows, corpus)}"
    if isinstance(used, LanguageModel):
        sides = f"{len(rows):,} lines"
    if isinstance(used, Translator):
        sides = f"{corpus.source}-{corpus.target}, {len(rows):,} pairs"
    what = f"{named}: {corpus.name} {asked.split}, {sides}"
    return replace(report, title=", ".join(filter(None, (what, report.title)))), answers


def _opened(model: Translator | TaskModel, data: str | Path, asked: EvaluateOptions) -> Corpus:
    """The corpus, as the model reads it: in its languages, or with the columns of its task.

    Where the corpus lacks splits, what the model's training held out is held out again, unless another cut is asked.
    """
    home, kind = model.folder, Kind()
    source, target = asked.source, asked.target
    if isinstance(model, TaskModel):
        kind = Kind(reads=model.reads, wants=model.wants)
    elif home is not None and not asked.any_language:
        source, target = asked_of(home, source, target)
    cut = asked.held_out or (recorded(home) if home is not None else USUAL)
    return Corpus.open(data, source=source, target=target, held_out=cut, **kind)


def _written(writer: Any, rows: Dataset, asked: EvaluateOptions) -> Measured:
    """BLEU and its like of what was written; how words align, or point, where gold links or places are known."""
    read = None if isinstance(writer, Translator) else writer.source
    sources, references = once_each(read, list(rows["source"]), list(rows["target"]))
    if isinstance(writer, SentenceAutoEncoder):
        sources, references = writer.questions(sources, references)
    translator = writer if isinstance(writer, Translator) else None
    reads_text = translator is not None or writer.reads == "text"
    known = _gold(rows, asked.gold, translator)
    metric = partial(count_bleu, tokenize=asked.tokenize)
    watch = Stopwatch()
    with watch:
        options = Options(beam=asked.beam, alpha=asked.alpha)
        found = [best[0] for best in writer.search(sources, options, record=False)]
    watch.add(len(found), sum(len(each.pieces) for each in found))
    outputs = [each.text for each in found]
    title = f"beam {asked.beam}, alpha {writer.alpha if asked.alpha is None else asked.alpha:g}"
    if isinstance(writer, FormulaReader):
        return _read_formulas(writer, outputs, list(references), asked, title, watch), Answers(outputs)
    counted = metric(outputs, references)
    report = Report(
        title=title,
        scores=(
            counted.score(),
            score_chrf(outputs, references),
            exact_match(outputs, references),
            *_pointed(writer, rows),
        ),
        words=words_for_word(counted),
        lengths=tuple(buckets(sources, outputs, references, metric=metric)) if asked.by_length and reads_text else (),
        alignment=_aligned(translator, list(sources), list(references), known) if known and translator else None,
        speed=watch.throughput(),
    )
    return report, Answers(outputs)


def _read_formulas(
    reader: FormulaReader,
    outputs: list[str],
    references: list[str],
    asked: EvaluateOptions,
    title: str,
    watch: Stopwatch,
) -> Report:
    """Formulas by their tokens and by what they look like; an image has no length, so that of the right one counts."""
    lengths = [normalise(each) for each in references] if asked.by_length else []
    return Report(
        title=title,
        scores=scores_of([name for name in reader.metrics if METRICS[name].count], outputs, references),
        lengths=tuple(buckets(lengths, outputs, references, metric="image_match")) if lengths else (),
        speed=watch.throughput(),
    )


def _answered(model: Any, rows: Dataset, asked: EvaluateOptions) -> Measured:
    """The metrics of the task; the first of them by length. Targets are never encoded: some may be unknown."""
    sources, references = model.questions(list(rows["source"]), list(rows["target"]))
    watch = Stopwatch()
    with watch:
        found = model.answer(sources, record=False)
    watch.add(len(found), 0)
    texts = [each.text for each in found]
    sure = [min(1.0, each.probability) for each in found]
    names = [name for name in model.metrics if METRICS[name].count or METRICS[name].count_sure]
    lengths = asked.by_length and model.reads == "text"
    report = Report(
        title="",
        scores=scores_of(names, texts, references, sure),
        lengths=tuple(buckets(sources, texts, references, metric=names[0], probabilities=sure)) if lengths else (),
        speed=watch.throughput(),
        **model.measured(found, references),
    )
    return report, Answers(texts, sure)


def _neighbours(model: Encoder, rows: Dataset) -> Measured:
    """How often the nearest other text of the split has the same label: what vectors are worth without training."""
    texts, labels = list(rows["source"]), [str(each) for each in rows["target"]]
    watch = Stopwatch()
    with watch:
        found = model.neighbours(texts, labels)
    watch.add(len(found), 0)
    names = [name for name in model.metrics if METRICS[name].count]
    report = Report("label of the nearest other text", scores_of(names, found, labels), speed=watch.throughput())
    return report, Answers(found)


def _reconstructed(model: AutoEncoder, rows: Dataset) -> Measured:
    """How far images that were made are from the right ones; and where labels are known, what codes know of them."""
    cells, labels = once_each(model.source, list(rows["source"]), [str(each) for each in rows["target"]])
    sources, references = model.questions(cells, labels)
    watch = Stopwatch()
    with watch:
        found = model.answer(sources, record=False)
    watch.add(len(found), 0)
    counts = [count for name in model.metrics if (count := METRICS[name].count_images)]
    scores = [count(found, references).score() for count in counts]
    notes: tuple[str, ...] = ()
    if len(set(labels)) > 1 and all(isinstance(each, str) and each for each in labels):
        likest = model.nearest(np.stack([each.code for each in found]))
        score = count_accuracy([str(labels[place]) for place in likest], [str(each) for each in labels]).score()
        scores.append(replace(score, name="nearest neighbour"))
        notes = ("nearest neighbour: how often the image with the nearest code has the same label",)
    report = Report("", tuple(scores), speed=watch.throughput(), notes=notes)
    return report, Answers([each.text for each in found])


def _cache(model: LanguageModel, corpus: Corpus, asked: EvaluateOptions) -> Cache | None:
    """The cache that was asked for; its theta and share chosen on validation text, where that was asked."""
    if asked.cache is None or not asked.tune:
        return asked.cache
    return model.tuned(asked.cache, list(corpus.split("val")["target"]), asked.window)


def _scored(model: LanguageModel, rows: Dataset, asked: EvaluateOptions) -> Measured:
    """How likely the text is to a language model; kept as answers are the log-likelihoods of the rows."""
    texts, cache = list(rows["target"]), asked.cache
    watch = Stopwatch()
    with watch:
        found = model.likelihoods(texts, cache, asked.window)
    watch.add(len(found), sum(each.pieces for each in found))
    unknown = model.unknown(texts)
    note = f"{unknown:.1%} of the pieces are unknown to the tokenizer, and any word may stand for them"
    title = f"windows of {model.longest(asked.window):,} pieces" if model.blocks else "each line by itself"
    if cache is not None:
        title += f", cache of {cache.size:,} pieces (theta {cache.theta:g}, share {cache.share:g})"
    report = Report(
        title=title,
        scores=tuple(counted.score() for counted in likely(model.metrics, found).values()),
        speed=watch.throughput(),
        notes=(note,) if unknown else (),
    )
    return report, Answers([f"{-each.nll:.4f}" for each in found])


def _counted(rows: Dataset, corpus: Corpus) -> str:
    """How many there are to read; of images with several captions, how many of each."""
    read = len(set(rows["source"])) if corpus.source == "image" else len(rows)
    if corpus.target == "image":
        return f"{len(rows):,} images"
    more = f" with {len(rows):,} captions" if read < len(rows) else ""
    return f"{read:,} {corpus.source}s{more}"


def _pointed(writer: Any, rows: Dataset) -> list[Score]:
    """How often the words of the right captions look at what they name, where its places are known."""
    if not isinstance(writer, Captioner) or "links" not in rows.column_names:
        return []
    counted = writer.count_pointing(list(rows["source"]), list(rows["target"]), list(rows["links"]))
    return [] if counted is None else [counted.score()]


def _gold(rows: Dataset, gold: str | Path | None, translator: Translator | None) -> Gold | None:
    """The gold links of the pairs, where any are known; those of a file must be of these pairs."""
    if translator is None:
        if gold is not None:
            raise UsageError("gold links are between the words of two texts; this model reads no text.")
        return None
    if gold is not None:
        known = read_gold_file(Path(gold))
        check_gold(known, list(rows["source"]), list(rows["target"]), str(gold))
        return known
    return read_links(list(rows["links"])) if "links" in rows.column_names else None


def _aligned(translator: Translator, sources: list[str], targets: list[str], known: Gold) -> AlignmentScore | None:
    """The error of the model's links for the right targets, between the words that gold links count."""
    forced: list[Translation] = translator.force(sources, targets, spaced=(known.spaced, known.spaced))
    if any(each.alignment is None for each in forced):
        return None
    return aer([each.alignment.links() for each in forced if each.alignment], known.sure, known.possible)
