"""Tags as one side of a task: a class for each word, the words being what stands between spaces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from regard.data.padding import pad
from regard.data.sides.label import Classes
from regard.errors import BrokenData
from regard.registry import part
from regard.task import Role
from regard.types import Padded

NONE = -1  # the tag of a position that has none: the end, or a piece inside a word


@part("side", "tags")
class Tags(Classes):
    """One class for each word, written with spaces between them."""

    def __init__(self, role: Role) -> None:
        super().__init__(role)

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn which tags there are."""
        found = sorted({tag for cell in cells for tag in str(cell).split()})
        if len(found) < 2:
            raise BrokenData(f"expected at least two different tags; found {', '.join(found) or 'none'}.")
        self.names = found

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The numbers of each line's tags."""
        return [[self.number(tag) for tag in str(cell).split()] for cell in cells]

    def positions(self, item: Any) -> int:
        """None beside those of its words."""
        return 0

    def predictions(self, item: Any) -> int:
        """One for each tag."""
        return sum(tag != NONE for tag in item)

    def collate(self, items: Sequence[Any]) -> Padded:
        """Tags side by side."""
        return pad(items, NONE)
