"""A recipe resolved: what it is about, and the maker of its model with every default filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from regard.errors import Problem, RecipeError, did_you_mean
from regard.recipe.check import check
from regard.recipe.read import read
from regard.recipe.tree import Leaf, Table
from regard.registry import Maker, names


@dataclass(frozen=True)
class About:
    """What a recipe is: its title, the paper, the task, and what it shows."""

    title: str = ""
    paper: str = ""
    task: str = "translate"
    shows: str = ""


@dataclass(frozen=True)
class Recipe:
    """A recipe that fits its parts. `build` makes the model for given sizes of source and target."""

    about: About
    model: Maker
    train: Maker

    def build(self, source: int, target: int) -> Any:
        """The model for `source` and `target` pieces (or channels, or labels)."""
        model = self.model(source, target)
        model.recipe = self
        return model


def resolve(recipe: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or file, check all of it, and fill in every default."""
    problems: list[Problem] = []
    tree = read(recipe, overrides, problems)
    about = describe(tree.entries.pop("about", None), problems)
    lessons = _table(tree.entries.pop("train", None), "standard", tree.where, problems)
    train = check("train", lessons, "train", problems)
    model = check("model", _table(tree, "flow", tree.where, problems), "", problems)
    problems += _idle(model, train, lessons)
    if problems:
        raise RecipeError(problems)
    return Recipe(about, model, train)


def asks_unread(model: Maker) -> bool:
    """Does the decoder ask in each step before it has read the word that it is fed?"""
    predict = model.settings.get("predict")
    if not isinstance(predict, Maker):
        return False
    asks = getattr(names("predict").get(predict.name), "asks_unread", None)
    return asks is not None and asks(predict.settings)


def _idle(model: Maker, train: Maker, lessons: Table) -> list[Problem]:
    """What is written in [train] and means nothing for the decoder."""
    written = lessons.entries.get("guide_step")
    if written is None or train.settings.get("guide_step") != "after" or not asks_unread(model):
        return []
    named = model.settings["predict"].name
    problem = Problem(
        written.where,
        "train.guide_step",
        f"\"after\" draws the look of the step that has read a piece; the decoder '{named}' asks before it reads.",
        'Write guide_step = "writing".',
    )
    return [problem]


def _table(entry: Leaf | Table | None, part: str, where: str, problems: list[Problem]) -> Table:
    """A table that need not say which part it is: there is one that goes without saying."""
    if isinstance(entry, Leaf):
        problems.append(Problem(entry.where, "train", "expected a table.", "Write [train] above its settings."))
    found = entry if isinstance(entry, Table) else Table(where)
    return Table(found.where, {"part": Leaf(part, found.where), **found.entries})


def describe(entry: Leaf | Table | None, problems: list[Problem]) -> About:
    """The [about] table, checked."""
    known = [field.name for field in fields(About)]
    if entry is None:
        return About()
    if isinstance(entry, Leaf):
        problems.append(Problem(entry.where, "about", "expected a table.", 'Write [about] above title = "...".'))
        return About()
    texts: dict[str, str] = {}
    for key, leaf in entry.entries.items():
        if key not in known:
            problems.append(
                Problem(
                    leaf.where,
                    f"about.{key}",
                    f"no such entry; there are {', '.join(known)}.",
                    did_you_mean(key, known),
                )
            )
        elif not isinstance(leaf, Leaf) or not isinstance(leaf.value, str):
            problems.append(Problem(leaf.where, f"about.{key}", "expected a text.", f'Write {key} = "...".'))
        else:
            texts[key] = leaf.value
    return About(**texts)
