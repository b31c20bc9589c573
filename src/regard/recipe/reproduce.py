"""The [reproduce] table of a recipe: the paper's claim as something that a few minutes of training can check.

    [reproduce]
    data = "phrasebook"
    minutes = 4
    claim = "attention keeps long sentences, which a fixed vector loses"
    measure = "bleu"
    on = "long"
    against = "no attention: seq2seq encode.hidden=256"
    at_least = 10.0

says: on the long test sentences, the BLEU of this recipe less the BLEU of the other arm is at least 10. Without
`against` it is the value itself that `at_least` or `at_most` bounds. A recipe does not inherit the table of the one it
extends: the claim is that of one system.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from annotated_types import Gt

from regard.errors import Problem, RecipeError, did_you_mean
from regard.recipe.check import plain
from regard.recipe.read import NAMED, read
from regard.recipe.tree import Leaf, Table
from regard.registry import REQUIRED, settings

Count = Annotated[int, Gt(0)]
Minutes = Annotated[float, Gt(0)]
KEY = "reproduce"


@dataclass(frozen=True, kw_only=True)
class Reproduce:
    """What a system's trial draws, trains and measures, and what must come out for its claim to hold.

    Settings:
        data: a built-in corpus.
        minutes: of the whole command on two cores, drawing data and measuring included.
        claim: what the paper says, in words.
        measure: a metric that answers are measured by, "aer" for the error of word links, or "pointing" for how often
            the words of a caption look at what they name; of images that are made "mse" and its like.
        at_least: what the measure must reach; with `against`, what it must be more than that of the other arm.
        at_most: likewise, from above.
        on: "all" test examples, or the "long" ones, whose source (of images: caption) is among the longest third.
        against: an arm to train beside it, as `regard compare` writes arms: "label: recipe key=value ...".
        settings: changes of every arm.
        changes: changes of the system's own arm.
        source: the language to read, where the corpus has several.
        target: the language to write.
        size: training examples to draw; none for as many as the corpus usually has.
        tested: test examples to measure on.
    """

    data: str
    minutes: Minutes
    claim: str
    measure: str
    at_least: float | None = None
    at_most: float | None = None
    on: Literal["all", "long"] = "all"
    against: str = ""
    settings: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    source: str | None = None
    target: str | None = None
    size: Count | None = None
    tested: Count = 500

    @property
    def bound(self) -> float:
        """What must be reached, from below or from above."""
        return self.at_least if self.at_least is not None else self.at_most or 0.0

    def holds(self, value: float) -> bool:
        """Whether what came out is what was claimed."""
        return value >= self.bound if self.at_least is not None else value <= self.bound


def read_reproduce(recipe: str | Path) -> Reproduce | None:
    """The [reproduce] table of a recipe, checked; None where it has none."""
    problems: list[Problem] = []
    found = check_reproduce(read(recipe).entries.get(KEY), problems)
    if problems:
        raise RecipeError(problems)
    return found


def systems() -> dict[str, Reproduce]:
    """Every recipe that comes with Regard and has a [reproduce] table, by name."""
    found = {name: read_reproduce(name) for name in NAMED}
    return {name: table for name, table in found.items() if table is not None}


def check_reproduce(entry: Leaf | Table | None, problems: list[Problem]) -> Reproduce | None:
    """The table as a record; mistakes go to `problems`, all of them."""
    if entry is None:
        return None
    if isinstance(entry, Leaf):
        problems.append(Problem(entry.where, KEY, "expected a table.", f'Write [{KEY}] above data = "...".'))
        return None
    wanted, found, before = settings(Reproduce), dict[str, Any](), len(problems)
    for key, leaf in entry.entries.items():
        if key not in wanted:
            known = ", ".join(wanted)
            told = Problem(leaf.where, f"{KEY}.{key}", f"no such entry; there are {known}.", did_you_mean(key, wanted))
            problems.append(told)
        else:
            found[key] = plain(wanted[key], leaf, f"{KEY}.{key}", problems)
    for name, setting in wanted.items():
        if setting.default is REQUIRED and name not in entry.entries:
            problems.append(Problem(entry.where, f"{KEY}.{name}", "missing.", f"{name}: {setting.about}"))
    if ("at_least" in entry.entries) == ("at_most" in entry.entries):
        problems.append(
            Problem(entry.where, f"{KEY}.at_least", "expected either at_least or at_most.", "Write at_least = 90.0.")
        )
    return Reproduce(**found) if len(problems) == before else None
