"""What a person calls: train, load, evaluate. `regard train` and `regard evaluate` are these functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.data.corpus import Corpus
from regard.data.held_out import Amount, HeldOut
from regard.evaluate import Report
from regard.learn.events import Tell, quiet
from regard.tasks.cache import Cache
from regard.tasks.evaluation import EvaluateOptions
from regard.tasks.evaluation import evaluate as measure
from regard.tasks.job import TrainJob, silent
from regard.tasks.objects import load
from regard.tasks.setup import Say, Tokenizers

__all__ = ["evaluate", "load", "train"]


def train(
    recipe: str | Path,
    *,
    data: str | Path,
    out: str | Path,
    source: str | None = None,
    target: str | None = None,
    minutes: float | None = None,
    steps: int | None = None,
    seed: int = 0,
    resume: bool = False,
    settings: Sequence[str] = (),
    size: int | None = None,
    validation: Amount | None = None,
    test: Amount | None = None,
    tokenizers: Tokenizers | None = None,
    tell: Tell = quiet,
    say: Say = silent,
) -> Any:
    """Train a recipe on a corpus in the run folder `out`; the best model comes back, ready for use.

    Args:
        recipe: a name that `regard systems` shows, or a file.
        data: a corpus, as `regard data` understands it; `source` and `target` pick its languages.
        minutes: how long to train, or `steps`: how many updates.
        resume: go on with the run in `out`.
        settings: changes of the recipe, as `-s` takes them: `["train.rate=0.002"]`.
        size: how many pairs a built-in corpus shall draw.
        validation: how many pairs (1000), or which share of them (0.05), are cut off from train where the corpus has
            no validation split; `test` likewise. The usual are about 2,000, at most a tenth.
        tokenizers: those of source and target, if they shall not be learnt from the corpus.
        tell: hears every step, validation and save; `say` hears notes in words.

    Many processes that a launcher started call this alike, train as one, and all have the model.
    """
    held_out = HeldOut(validation, test)
    asked = TrainJob(
        recipe, data, out, source, target, minutes, steps, seed, resume, settings, size, tokenizers, held_out
    )
    return asked.train(tell, say)


def evaluate(
    model: Any,
    data: str | Path | Corpus,
    *,
    split: str = "test",
    source: str | None = None,
    target: str | None = None,
    by_length: bool = False,
    gold: str | Path | None = None,
    beam: int = 5,
    alpha: float | int | None = None,
    tokenize: str = "13a",
    validation: Amount | None = None,
    test: Amount | None = None,
    any_language: bool = False,
    engine: str | None = None,
    outputs: str | Path | None = None,
    probabilities: str | Path | None = None,
    window: int | None = None,
    cache: Cache | None = None,
    tune: bool = False,
    features: str | Path | None = None,
    say: Say = silent,
) -> Report:
    """Measure a model on a split of a corpus by the metrics of its task, each with its 95 % interval.

    Args:
        model: what `regard.load` gave, or a folder.
        data: a corpus, as `regard data` understands it, or an open one; `source` and `target` pick its languages, or
            the columns of a table.
        by_length: the main metric by the length of the source too, where that is text.
        gold: a file of gold links, a line a pair, for the alignment error; else those of the corpus.
        beam: how many outputs a writer follows; `alpha` is its length penalty, `tokenize` how sacreBLEU cuts words.
        validation: what was cut off from train where the corpus lacks splits, if not what the model's training did;
            `test` likewise.
        any_language: take both languages even where the model was trained for others. engine: what runs a folder.
        outputs: a file that keeps the answers, a line each; `probabilities` one that keeps how sure the model was of
            each, where it tells.
        window: pieces that a language model predicts at once; `cache` is what it looks back at, `tune` chooses how.
        features: a classifier by whose features images that were made are compared with others.
        say: hears notes in words.
    """
    cut, scored = HeldOut(validation, test), (window, cache, tune, features)
    asked = EvaluateOptions(split, source, target, any_language, cut, by_length, gold, beam, alpha, tokenize, *scored)
    report, answers = measure(model, data, asked, engine=engine, say=say)
    if outputs is not None:
        answers.keep(Path(outputs))
    if probabilities is not None:
        answers.keep_probabilities(Path(probabilities))
    return report
