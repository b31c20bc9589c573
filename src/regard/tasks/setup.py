"""What a training needs before its first update: tokenizers, the model, batches, a validator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from datasets import Dataset

from regard.align.corpus_links import training_links
from regard.data.batches import Batches
from regard.data.corpus import Corpus, column
from regard.data.languages import ANONYMOUS, languages_text
from regard.data.languages import FILE as LANGUAGES_FILE
from regard.data.tokenizer import Tokenizer, train_pair
from regard.errors import ModelError, UsageError
from regard.learn.folder import RunFolder
from regard.learn.processes import Processes
from regard.learn.settings import TrainSettings
from regard.model import Model, old_of, parameters
from regard.recipe import Recipe
from regard.tasks.memory_check import check_memory
from regard.tasks.validate import Validator
from regard.translator import SOURCE_FILE, TARGET_FILE

SIDES = ("source", "target")
Say = Callable[[str], None]
Tokenizers = tuple[Tokenizer, Tokenizer]  # of source and target


@dataclass(frozen=True)
class Setup:
    """All that a training needs for its first update."""

    settings: TrainSettings
    tokenizers: Tokenizers
    model: Model
    batches: Batches
    validator: Validator | None
    languages: tuple[str, str] = ANONYMOUS

    @property
    def files(self) -> dict[str, str]:
        """What goes into a model folder beside the model."""
        source, target = self.tokenizers
        files = {SOURCE_FILE: source.backend.to_str(), TARGET_FILE: target.backend.to_str()}
        if self.languages != ANONYMOUS:
            files[LANGUAGES_FILE] = languages_text(*self.languages)
        return files


def set_up(recipe: Recipe, corpus: Corpus, given: Tokenizers | None, seed: int, say: Say) -> Setup:
    """Make everything ready, with tokenizers that are given or new ones."""
    processes, settings = Processes(), recipe.train()
    _check_share(recipe, settings)
    pair = processes.alone(lambda: given or learn_tokenizers(corpus, settings))
    processes.each(lambda: check_memory(recipe, len(pair[0]), len(pair[1]), settings))
    torch.manual_seed(seed)
    model = processes.each(lambda: recipe.build(len(pair[0]), len(pair[1])))
    say(f"{parameters(model):,} parameters, {len(pair[0]):,} source and {len(pair[1]):,} target pieces")
    batches = _batches(processes.first(lambda: _training_pairs(corpus, pair, settings, say)), pair, settings, seed)
    validator = Validator(corpus, *pair) if "val" in corpus.splits else None
    return Setup(settings, pair, model, batches, validator, (corpus.source, corpus.target))


def _check_share(recipe: Recipe, settings: TrainSettings) -> None:
    """One table of vectors for both sides means nothing where a number is another piece on each side."""
    if recipe.model.settings["share"] and settings.joint != "yes":
        raise UsageError(
            f'share = true needs one tokenizer for both sides; found train.joint = "{settings.joint}".',
            hint='Write train.joint = "yes", or share = false.',
        )


def learn_tokenizers(corpus: Corpus, settings: TrainSettings) -> Tokenizers:
    """Those of the training pairs, as the lessons want them."""
    columns = (column(corpus.split("train"), side) for side in SIDES)
    joint: bool | Literal["auto"] = "auto" if settings.joint == "auto" else settings.joint == "yes"
    return train_pair(
        *columns,
        joint=joint,
        kind=settings.pieces,
        size=settings.vocabulary or "auto",
        target_size=settings.target_vocabulary or None,
    )


def _batches(split: Dataset, pair: Tokenizers, settings: TrainSettings, seed: int) -> Batches:
    longest = settings.longest or None
    linked = settings.guide != "none"
    spaced = True if settings.guide == "links" else None  # so people write links; the aligner counts as tokenizers do
    return Batches(
        split,
        *pair,
        tokens=settings.tokens,
        seed=seed,
        longest=longest,
        sample=settings.sample,
        linked=linked,
        spaced=spaced,
    )


def _training_pairs(corpus: Corpus, pair: Tokenizers, settings: TrainSettings, say: Say) -> Dataset:
    """The training pairs, with the links of a statistical aligner where these are to guide."""
    split = corpus.split("train")
    if settings.guide != "reference":
        return split
    say("aligning the training pairs with a statistical aligner, to guide the attention (once: the links are kept)")
    links = training_links(corpus, pair)
    known = split.remove_columns("links") if "links" in split.column_names else split
    return known.add_column("links", links)


def kept_tokenizers(run: RunFolder) -> Tokenizers | None:
    """Those of a run that goes on; None where it was killed before it had any to keep, and begins anew."""
    for folder in (run.last, run.best, old_of(run.last), old_of(run.best)):
        if (folder / SOURCE_FILE).is_file():
            return Tokenizer.load(folder / SOURCE_FILE), Tokenizer.load(folder / TARGET_FILE)
    if run.state.exists():
        raise ModelError(
            f"{run.folder} holds the state of a run, but no tokenizers: neither last/ nor best/ is there.",
            hint="Put one of them back, or begin another run: leave out --resume (in Python resume=False).",
        )
    return None
