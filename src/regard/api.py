"""From a recipe and data to a model folder: the whole way, in one call. `regard train` is this function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.data.held_out import Amount, HeldOut
from regard.learn.events import Tell, quiet
from regard.tasks.job import TrainJob, silent
from regard.tasks.setup import Say, Tokenizers
from regard.translator import Translator, load

__all__ = ["load", "train"]


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
) -> Translator:
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
