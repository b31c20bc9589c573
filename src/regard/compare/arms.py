"""The arms of a comparison: what each is called, which recipe it trains and what it changes in it.

An arm is written as one text: `luong`, `luong attend.score=dot`, `dot: luong attend.score=dot`, or the folder of
a finished model, `mine: runs/de-en`. Several folders after one label, `mine: runs/a runs/b runs/c`, are one arm that
was trained several times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from regard.engine.home import named_folder
from regard.errors import UsageError
from regard.model import recipe_of
from regard.recipe import resolve
from regard.tasks.job import columns_of_sides


@dataclass(frozen=True)
class Arm:
    """One side of a comparison: a recipe with its settings, or the folder of a finished model.

    `others` are further folders of the same: what other seeds made of it. `task` is what its recipe is for, `sides` are
    what it reads and wants.
    """

    label: str
    recipe: str
    settings: tuple[str, ...] = ()
    finished: bool = False
    others: tuple[str, ...] = ()
    task: str = "translate"
    sides: tuple[str, str] = ("text", "text")

    @property
    def models(self) -> tuple[str, ...]:
        """The folders of its finished models; none where it is still to be trained."""
        return (self.recipe, *self.others) if self.finished else ()

    @property
    def folder(self) -> str:
        """The label as a folder's name; of a finished model its path, since its label may be that of another too."""
        return folder_name(self.recipe if self.finished else self.label)


def folder_name(text: str) -> str:
    """A text as the name of one folder, which never leads out of the folder it is in."""
    return re.sub(r"[^\w.=+-]+", "-", text).strip("-.") or "arm"


def read_arms(texts: Sequence[str], shared: Sequence[str] = ()) -> list[Arm]:
    """The arms as they were written; every recipe is resolved, so that its mistakes are told before any training.

    `shared` are settings that every arm gets below its own.
    """
    arms = _told_apart([_read(text) for text in texts])
    if not arms:
        raise UsageError(
            "expected at least one recipe to compare.", hint="Write, say: regard compare rnnsearch seq2seq"
        )
    folders = [name for arm in arms for name in map(folder_name, arm.models or (arm.label,))]
    names = [arm.label for arm in arms], folders
    twice = [name for each in names for name, count in Counter(each).items() if count > 1]
    if twice:
        raise UsageError(
            f"two arms are called '{twice[0]}'.",
            hint='Give each a label of its own, as in "dot: luong attend.score=dot".',
        )
    arms = [_with_task(arm, shared) for arm in arms]
    _check_tasks(arms)
    return arms


def _with_task(arm: Arm, shared: Sequence[str]) -> Arm:
    """The arm with the task that its recipe names, or the recipes of its finished models."""
    homes = [_home(Path(model)) for model in arm.models]
    recipes = [recipe_of(home) for home in homes] or [resolve(arm.recipe, [*shared, *arm.settings])]
    tasks = [recipe.task.settings["verb"] for recipe in recipes]
    if len(set(tasks)) > 1:
        told = ", ".join(f"{model} is for {task}" for model, task in zip(arm.models, tasks, strict=True))
        raise UsageError(
            f"'{arm.label}': expected models of one task; {told}.",
            hint="Write them as arms of comparisons of their own.",
        )
    return replace(arm, task=tasks[0], sides=columns_of_sides(recipes[0]))


def _check_tasks(arms: Sequence[Arm]) -> None:
    """What solves different tasks is measured by different metrics on different data: no condition would be equal."""
    if len({arm.task for arm in arms}) > 1:
        told = ", ".join(f"'{arm.label}' is for {arm.task}" for arm in arms)
        raise UsageError(
            f"expected arms of one task; {told}.",
            hint="Compare those of each task by themselves; `regard systems` lists the task of every recipe.",
        )


def _read(text: str) -> Arm:
    label, found, rest = text.partition(": ")
    words = (rest if found else text).split()
    if not words:
        raise UsageError(f"expected a recipe or a model folder; found '{text}'.")
    recipe, settings = words[0], tuple(words[1:])
    if _is_model(Path(recipe)):
        return _read_finished(label.strip() if found else "", words)
    return Arm(label.strip() if found else " ".join(words), recipe, settings)


def _read_finished(label: str, models: Sequence[str]) -> Arm:
    first, *others = models
    for other in others:
        if not _is_model(Path(other)):
            raise UsageError(
                f"{first} is a finished model; '{other}' cannot change it, and is no model folder either.",
                hint="Name a recipe instead, or folders of further seeds of this model.",
            )
    if others and not label:
        raise UsageError(
            f"{len(models)} finished models are one arm, which needs a label.",
            hint=f'Write "mine: {" ".join(models)}", or each in quotes of its own if they are arms by themselves.',
        )
    return Arm(label, first, finished=True, others=tuple(others))


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
