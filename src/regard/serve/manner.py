"""How a model is asked over a line: whether its inputs can be sent at all, and what is to be told where they cannot.

New tasks come with sides and goals of their own. What reads texts or images is asked like any other model, and its
answers are told as far as they are known, in any case as text; what reads something else, or was made by parts that
are not there, is listed with the reason why it is not asked here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.errors import UnknownName
from regard.registry import find, names

TEXT, IMAGE, NOTHING = "text", "image", "nothing"


@dataclass(frozen=True)
class Manner:
    """What a model reads, as it is sent; why it cannot be asked, if it cannot; whether it can be looked into."""

    reads: str
    problem: str = ""
    looks: bool = True


def manner_of(goal: str, reads: str, verb: str) -> Manner:
    """From the parts that a model's recipe names."""
    made = f"It was made to {verb}"
    try:
        side, aim = find("side", reads), find("goal", goal)
    except UnknownName as error:
        return Manner(reads, f"{made}, with a {error.kind} '{error.name}' that this server does not have.", False)
    looks = bool(getattr(aim, "opens", ""))
    if getattr(side, "is_image", False):
        return Manner(IMAGE, looks=looks)
    if issubclass(side, Text):
        return Manner(reads, looks=looks)
    if issubclass(side, Nothing) and goal == "write":
        return Manner(NOTHING)
    told = "nothing that could be sent" if issubclass(side, Nothing) else f"'{reads}', neither texts nor images"
    return Manner(reads, f"{made} and reads {told}: it is asked on its own machine, by `regard.load`.", False)


def goal_opened_as(kind: type) -> str:
    """The goal whose models are used as objects of a class; of one that no goal names, writing."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    goals: dict[str, Any] = names("goal")
    return next((goal for goal, aim in goals.items() if name in _opened(aim)), "write")


def _opened(aim: Any) -> tuple[str, ...]:
    return (getattr(aim, "opens", ""), *getattr(aim, "opens_by", {}).values())
