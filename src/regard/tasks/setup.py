"""What a training needs before its first update: sides that know their data, the model, batches, a validator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from datasets import Dataset

from regard.align.corpus_links import training_links
from regard.data.batches import POOL, Batches
from regard.data.corpus import Corpus, column
from regard.data.languages import ANONYMOUS, languages_text
from regard.data.languages import FILE as LANGUAGES_FILE
from regard.data.noise import NoisyLabels, with_noise
from regard.data.sides.image import keep_decoded
from regard.data.sides.text import Text, fit_texts
from regard.data.tokenizer import Tokenizer
from regard.errors import ModelError, UsageError
from regard.learn.folder import RunFolder
from regard.learn.processes import Processes
from regard.learn.run import Aims
from regard.learn.settings import TrainSettings
from regard.model import OURS, Model, old_of, parameters
from regard.recipe import Recipe
from regard.registry import find
from regard.task import Side, Task, TaskParts
from regard.tasks.frozen import compute_features, fetch_frozen, keep_features
from regard.tasks.memory_check import check_memory
from regard.tasks.pretrained import Pretrained, rest
from regard.tasks.validate import Validator

Say = Callable[[str], None]
Tokenizers = tuple[Tokenizer, Tokenizer]  # of source and target


@dataclass(frozen=True)
class Setup:
    """All that a training needs for its first update."""

    settings: TrainSettings
    parts: TaskParts
    model: Model
    batches: Batches
    validator: Validator | None
    languages: tuple[str, str] = ANONYMOUS

    @property
    def aims(self) -> Aims:
        """What is minimised, and what measures the model."""
        return Aims(self.parts.goal.objectives(self.model), self.validator)

    @property
    def files(self) -> dict[str, str]:
        """What goes into a model folder beside the model."""
        files = self.parts.files()
        if self.languages != ANONYMOUS:
            files[LANGUAGES_FILE] = languages_text(*self.languages)
        return files

    @property
    def tokenizers(self) -> Tokenizers | None:
        """Those of both sides, where both are text."""
        sides = self.parts.source, self.parts.target
        found = [side.tokenizer for side in sides if isinstance(side, Text)]
        return (found[0], found[1]) if len(found) == len(sides) else None


def set_up(recipe: Recipe, corpus: Corpus, given: TaskParts | None, seed: int, say: Say) -> Setup:
    """Make everything ready, with sides that are given or new ones."""
    processes, settings = Processes(), recipe.train()
    task: Task = recipe.task()
    _check_share(recipe, task)
    start = processes.each(lambda: None if given else Pretrained.open(task))
    parts = processes.alone(lambda: given or _fitted(task, corpus, start))
    specs = parts.specs
    processes.each(lambda: check_memory(recipe, *specs, settings))
    torch.manual_seed(seed)
    model = processes.each(lambda: _built(recipe, parts, start, say))
    if given is None:  # else a run goes on, and has its weights from its state
        processes.each(lambda: fetch_frozen(model))
    keep_features(model, parts.source, say)
    for side in (parts.source, parts.target):
        keep_decoded(side)
    say(f"{parameters(model):,} parameters, {_told(parts)}")
    rows = processes.first(lambda: _training_rows(corpus, parts, say))
    if given is None:
        processes.first(lambda: compute_features(parts.source, rows))
    pool = min(POOL, getattr(parts.source, "pool", POOL))
    if getattr(parts.examples, "whole", False):
        pool = len(rows)
    cut = {"tokens": settings.tokens, "mixed": settings.mixed, "pool": pool}
    learnt = with_noise(rows, parts.target, seed)
    if isinstance(learnt, NoisyLabels):
        say(f"noise: {learnt.wrong():,} of {len(learnt):,} training labels are replaced by another class")
    batches = Batches(learnt, parts.goal, **cut, seed=seed, examples=parts.examples)
    validator = Validator(corpus, parts, settings.tokens, settings.looks) if "val" in corpus.splits else None
    languages = (corpus.source, corpus.target) if _is_text(parts) else ANONYMOUS
    return Setup(settings, parts, model, batches, validator, languages)


def _fitted(task: Task, corpus: Corpus, start: Pretrained | None) -> TaskParts:
    """Parts that have learnt what they must know from the corpus, and from what was pretrained."""
    return fit_parts(task, corpus) if start is None else start.fit_parts(task, corpus)


def _built(recipe: Recipe, parts: TaskParts, start: Pretrained | None, say: Say) -> Model:
    """The model, with what was pretrained, and what of it shall rest."""
    settings, model = recipe.train(), recipe.build(*parts.specs)
    if start is not None:
        taken = start.start(model, parts.target)
        say(f"started from {start.folder}: {taken:,} numbers of its {start.told}")
    elif settings.freeze and not parts.task.pretrained:
        raise UsageError(
            "train.freeze keeps layers as they were pretrained, and task.from names no model.",
            hint='Write from = "runs/bert" in [task], or freeze = 0.',
        )
    rest(model, settings.freeze)
    return model


def _is_text(parts: TaskParts) -> bool:
    return isinstance(parts.source, Text) and isinstance(parts.target, Text)


def _told(parts: TaskParts) -> str:
    """How large the sides are, in words."""
    counted = {
        "text": "pieces",
        "segments": "pieces",
        "label": "classes",
        "tags": "tags",
        "image": "channels",
        "mask": "classes",
    }
    counted |= {"formula": "channels", "latex": "tokens"}
    named = (("source", parts.source, parts.task.source), ("target", parts.target, parts.task.target))
    sizes = [f"{side.spec().size:,} {role} {counted.get(made.name, made.name)}" for role, side, made in named]
    return " and ".join(each for each in sizes if not each.startswith("0 "))


def _check_share(recipe: Recipe, task: Task) -> None:
    """One table of vectors for both sides means nothing where a number is another piece on each side."""
    both = all(issubclass(find("side", made.name), Text) for made in (task.source, task.target))
    if both and recipe.model.settings.get("share") and task.joint != "yes":
        raise UsageError(
            f'share = true needs one tokenizer for both sides; found task.joint = "{task.joint}".',
            hint='Write task.joint = "yes", or share = false.',
        )


def fit_parts(task: Task, corpus: Corpus) -> TaskParts:
    """The parts of a task, whose sides have learnt from the training rows what they must know."""
    parts, rows = TaskParts.build(task), corpus.split("train")
    if isinstance(parts.source, Text) and isinstance(parts.target, Text):
        lines = column(rows, "source"), column(rows, "target")
        fit_texts(parts.source, parts.target, lines, task.joint)
        return parts
    for name, side in (("source", parts.source), ("target", parts.target)):
        side.fit(column(rows, name) if name in rows.column_names else ())
    return parts


def parts_with(task: Task, tokenizers: Tokenizers) -> TaskParts:
    """The parts of a task from text to text, with tokenizers that are given."""
    parts = TaskParts.build(task)
    for side, tokenizer in zip((parts.source, parts.target), tokenizers, strict=True):
        if not isinstance(side, Text):
            raise UsageError("tokenizers are for text on both sides.", hint="Leave them out.")
        side.tokenizer = tokenizer
    return parts


def _training_rows(corpus: Corpus, parts: TaskParts, say: Say) -> Dataset:
    """The training rows, with the links of a statistical aligner where these are to guide."""
    split = corpus.split("train")
    if getattr(parts.goal, "guide", "none") != "reference":
        return split
    say("aligning the training pairs with a statistical aligner, to guide the attention (once: the links are kept)")
    links = training_links(corpus, _tokenizers(parts.source, parts.target))
    known = split.remove_columns("links") if "links" in split.column_names else split
    return known.add_column("links", links)


def _tokenizers(source: Side, target: Side) -> Tokenizers:
    if not isinstance(source, Text) or not isinstance(target, Text):
        raise UsageError("only text on both sides can be aligned.", hint='Write guide = "none" in [task.goal].')
    return source.tokenizer, target.tokenizer


def kept_parts(run: RunFolder, task: Task) -> TaskParts | None:
    """Those of a run that goes on; None where it was killed before it had any to keep, and begins anew."""
    for folder in (run.last, run.best, old_of(run.last), old_of(run.best)):
        if all((folder / name).is_file() for name in OURS):
            return TaskParts.load(task, folder)
    if run.state.exists():
        raise ModelError(
            f"{run.folder} holds the state of a run, but no model: neither last/ nor best/ is there.",
            hint="Put one of them back, or begin another run: leave out --resume (in Python resume=False).",
        )
    return None
