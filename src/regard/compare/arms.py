"""The arms of a comparison: what each is called, which recipe it trains and what it changes in it.

An arm is written as one text: `luong`, `luong attend.score=dot`, `dot: luong attend.score=dot`, or the folder of
a finished model, `mine: runs/de-en`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.engine.home import named_folder
from regard.errors import UsageError
from regard.model import check_text, recipe_of
from regard.recipe import resolve


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: a recipe with its settings, or the folder of a finished model."""

    label: str
    recipe: str
    settings: tuple[str, ...] = ()
    finished: bool = False

    @property
    def folder(self) -> str:
        """The label as a folder's name; of a finished model its path, since its label may be that of another too."""
        return re.sub(r"[^\w.=+-]+", "-", self.recipe if self.finished else self.label).strip("-.") or "arm"


def read_arms(texts: Sequence[str], shared: Sequence[str] = ()) -> list[Arm]:
    """The arms as they were written; every recipe is resolved, so that its mistakes are told before any training.

    `shared` are settings that every arm gets below its own.
    """
    arms = _told_apart([_read(text) for text in texts])
    if not arms:
        raise UsageError(
            "expected at least one recipe to compare.", hint="Write, say: regard compare rnnsearch seq2seq"
        )
    names = [arm.label for arm in arms], [arm.folder for arm in arms]
    twice = [name for each in names for name, count in Counter(each).items() if count > 1]
    if twice:
        raise UsageError(
            f"two arms are called '{twice[0]}'.",
            hint='Give each a label of its own, as in "dot: luong attend.score=dot".',
        )
    for arm in arms:
        found = recipe_of(_home(Path(arm.recipe))) if arm.finished else resolve(arm.recipe, [*shared, *arm.settings])
        check_text(found, arm.recipe)
    return arms


def _read(text: str) -> Arm:
    label, found, rest = text.partition(": ")
    words = (rest if found else text).split()
    if not words:
        raise UsageError(f"expected a recipe or a model folder; found '{text}'.")
    recipe, settings = words[0], tuple(words[1:])
    finished = _is_model(Path(recipe))
    if finished and settings:
        raise UsageError(
            f"{recipe} is a finished model; '{settings[0]}' cannot change it.", hint="Name a recipe instead."
        )
    return Arm(label.strip() if found else "" if finished else " ".join(words), recipe, settings, finished)


def _told_apart(arms: Sequence[Arm]) -> list[Arm]:
    """Finished models that nobody named, by their folder and as many above it as tell them apart."""
    places = {arm.recipe: named_folder(arm.recipe).parts for arm in arms if not arm.label}
    taken = [arm.label for arm in arms if arm.label]
    labels = {recipe: recipe for recipe in places}  # where all that they have in common is their folder
    for depth in range(1, max(map(len, places.values()), default=0)):
        tails = {recipe: "/".join(parts[-depth:]) for recipe, parts in places.items()}
        if len({*tails.values(), *taken}) == len(tails) + len(taken):
            labels = tails
            break
    return [arm if arm.label else replace(arm, label=labels[arm.recipe]) for arm in arms]


def _is_model(folder: Path) -> bool:
    """Whether this is a model folder or a run folder."""
    return (_home(folder) / "weights.safetensors").is_file()


def _home(folder: Path) -> Path:
    """The model folder itself: of a run, its best."""
    return folder if (folder / "weights.safetensors").is_file() else folder / "best"
