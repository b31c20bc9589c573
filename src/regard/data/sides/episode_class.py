"""The class of an image of an episode: one of those of which the episode shows examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import torch

from regard.data.episodes import EpisodeItem
from regard.errors import UsageError
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Choices


@part("side", "class")
class EpisodeClass:
    """One of the classes of an episode, which nobody knows beforehand: what is asked about is of classes never seen.

    In a corpus, no class of one split stands in another; where there is no validation or test split, whole classes are
    cut off.
    """

    def __init__(self, role: Role) -> None:
        self.role = role

    def spec(self) -> Spec:
        """Nothing by itself: how many classes there are, the episode says."""
        return Spec(0)

    def fit(self, cells: Iterable[Any]) -> None:
        """There is nothing to learn."""

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The name of each row's class; beside an episode, its number there. Numbers stay what they are."""
        items = given or [None] * len(cells)
        return [
            cell if isinstance(cell, tuple) else _numbered(str(cell), item)
            for cell, item in zip(cells, items, strict=True)
        ]

    def positions(self, item: Any) -> int:
        """None."""
        return 0

    def predictions(self, item: Any) -> int:
        """One for each image that is asked about."""
        return len(item) if isinstance(item, tuple) else 1

    def fits(self, item: Any) -> bool:
        """Every class does."""
        return True

    def collate(self, items: Sequence[tuple[int, ...]]) -> Choices:
        """The numbers of each episode."""
        return Choices(torch.tensor(list(items)))

    def files(self) -> dict[str, str]:
        """None."""
        return {}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> EpisodeClass:
        """As it is."""
        return cls(role, **settings)


def _numbered(name: str, item: Any) -> Any:
    if not isinstance(item, EpisodeItem):
        return name
    if name not in item.names:
        raise UsageError(f"'{name}' is none of the classes of its episode: {', '.join(item.names)}.")
    return (item.names.index(name),)
