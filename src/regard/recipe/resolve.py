"""A recipe resolved: what it is about, and the maker of its model with every default filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from regard.errors import Problem, RecipeError, did_you_mean
from regard.recipe.check import check
from regard.recipe.read import read
from regard.recipe.reproduce import KEY, Reproduce, check_reproduce
from regard.recipe.tree import Leaf, Table
from regard.registry import Maker, find, names


@dataclass(frozen=True)
class About:
    """What a recipe is: its title, the paper, and what it shows."""

    title: str = ""
    paper: str = ""
    shows: str = ""


@dataclass(frozen=True)
class Recipe:
    """A recipe that fits its parts. `build` makes the model for what is known of source and target."""

    about: About
    model: Maker
    train: Maker
    task: Maker
    reproduce: Reproduce | None = field(default=None, compare=False)  # its trial makes it no other recipe

    def build(self, source: Any, target: Any) -> Any:
        """The model for `source` and `target`: how many pieces, channels or classes, or a `Spec` of each."""
        model = self.model(source, target)
        model.recipe = self
        return model


def resolve(recipe: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe by name or file, check all of it, and fill in every default."""
    problems: list[Problem] = []
    tree = read(recipe, overrides, problems)
    about = describe(tree.entries.pop("about", None), problems)
    reproduce = check_reproduce(tree.entries.pop(KEY, None), problems)
    train, task = (
        check(kind, _table(kind, tree.entries.pop(kind, None), "standard", tree.where, problems), kind, problems)
        for kind in ("train", "task")
    )
    model = check("model", _table("model", tree, "flow", tree.where, problems), "", problems)
    if not problems:
        problems += _unfit(model, task, tree)
    if problems:
        raise RecipeError(problems)
    return Recipe(about, model, train, task, reproduce)


def asks_unread(model: Maker) -> bool:
    """Does the decoder ask in each step before it has read the word that it is fed?"""
    predict = model.settings.get("predict")
    if not isinstance(predict, Maker):
        return False
    asks = getattr(names("predict").get(predict.name), "asks_unread", None)
    return asks is not None and asks(predict.settings)


def _unfit(model: Maker, task: Maker, tree: Table) -> list[Problem]:
    """Where the parts of a model and of its task do not go together."""
    return [*_wrong_predictor(model, task, tree), *_wrong_reader(model, task, tree), *_idle(model, task, tree)]


def _wrong_predictor(model: Maker, task: Maker, tree: Table) -> list[Problem]:
    """The goal learns from what one method of the predicting part gives."""
    goal, predict = task.settings["goal"], model.settings.get("predict")
    goals: dict[str, Any] = {**names("goal")}
    reads = task.settings["source"].name
    wanted = goals[goal.name].predicts_by.get(reads, goals[goal.name].predicts)
    if not isinstance(predict, Maker) or hasattr(find("predict", predict.name), wanted):
        return []
    able = [name for name, cls in names("predict").items() if hasattr(cls, wanted)]
    fitting = [
        name
        for name, cls in goals.items()
        if hasattr(find("predict", predict.name), cls.predicts_by.get(reads, cls.predicts))
    ]
    others = f", or goal = {' or '.join(map(repr, fitting))} in [task]" if fitting else ""
    return [
        Problem(
            _where(tree, "predict"),
            "predict.part",
            f"the goal '{goal.name}' does not go with '{predict.name}'; it goes with {', '.join(able)}.",
            f"Take one of these{others}.".replace("'", '"'),
        )
    ]


def _wrong_reader(model: Maker, task: Maker, tree: Table) -> list[Problem]:
    """An encoder of images reads no text, and the other way round."""
    source = task.settings["source"]
    if model.name != "flow":
        return []
    reads = [stage for stage in ("embed", "encode") if (model.settings[stage] is None) != (source.name == "nothing")]
    if source.name == "nothing" and model.settings["attend"] is not None:
        reads.append("attend")
    if reads:
        found = "there is nothing to read" if source.name == "nothing" else f"'{source.name}' is there to be read"
        advice = 'Write "none".' if source.name == "nothing" else 'Name a part, or write source = "nothing" in [task].'
        return [Problem(_where(tree, stage), stage, f"{found}.", advice) for stage in reads]
    encode = model.settings["encode"]
    if encode is None:
        return []
    sees = bool(getattr(find("encode", encode.name), "sees_images", False))
    given = bool(getattr(find("side", source.name), "is_image", False))
    episode = bool(getattr(find("side", source.name), "is_episode", False))
    embed = model.settings["embed"]
    if embed is not None and episode != bool(getattr(find("embed", embed.name), "reads_episodes", False)):
        advice = 'Write part = "episode" in [embed].' if episode else 'Write source = "episode" in [task], or another.'
        told = f"'{embed.name}' does not read what the source of the task is, '{source.name}'."
        return [Problem(_where(tree, "embed"), "embed.part", told, advice)]
    given = given and not episode  # whose images the embedding makes vectors of
    if sees == given:
        return []
    kind = "images" if sees else "text"
    return [
        Problem(
            _where(tree, "encode"),
            "encode.part",
            f"'{encode.name}' reads {kind}; the source of the task is '{source.name}'.",
            f'Write source = "{"image" if sees else "text"}" in [task], or take another encoder.',
        )
    ]


def _where(tree: Table, key: str) -> str:
    entry = tree.entries.get(key)
    return tree.where if entry is None else entry.where


def _idle(model: Maker, task: Maker, tree: Table) -> list[Problem]:
    """What is written of the goal and means nothing for the decoder."""
    goal = task.settings["goal"]
    if goal.settings.get("guide_step") != "after" or not asks_unread(model):
        return []
    named = model.settings["predict"].name
    problem = Problem(
        _where(tree, "predict"),
        "task.goal.guide_step",
        f"\"after\" draws the look of the step that has read a piece; the decoder '{named}' asks before it reads.",
        'Write guide_step = "writing".',
    )
    return [problem]


def _table(kind: str, entry: Leaf | Table | None, part: str, where: str, problems: list[Problem]) -> Table:
    """A table that need not say which part it is: there is one that goes without saying."""
    if isinstance(entry, Leaf):
        problems.append(Problem(entry.where, kind, "expected a table.", f"Write [{kind}] above its settings."))
    found = entry if isinstance(entry, Table) else Table(where)
    return Table(found.where, {"part": Leaf(part, found.where), **found.entries})


def describe(entry: Leaf | Table | None, problems: list[Problem]) -> About:
    """The [about] table, checked."""
    known = [each.name for each in fields(About)]
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
