"""No data: the source of a model that has none, or a target that the goal makes by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from regard.data.padding import pad
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Padded


@part("side", "nothing")
class Nothing:
    """No data; what a goal puts in its place is batched as ids."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role

    def spec(self) -> Spec:
        """Of no size."""
        return Spec(0)

    def fit(self, cells: Iterable[Any]) -> None:
        """There is nothing to learn."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """Nothing for each."""
        return [None] * len(cells)

    def positions(self, item: Any) -> int:
        """As many as the goal put there."""
        return 0 if item is None else len(item)

    def predictions(self, item: Any) -> int:
        """One, unless the goal says otherwise."""
        return 1

    def fits(self, item: Any) -> bool:
        """It does."""
        return True

    def collate(self, items: Sequence[Any]) -> Padded | None:
        """None, or the ids that the goal put there."""
        return None if all(item is None for item in items) else pad(items)

    def files(self) -> dict[str, str]:
        """None."""
        return {}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Nothing:
        """As any other."""
        return cls(role, **settings)
