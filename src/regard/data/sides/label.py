"""A label as one side of a task: one class out of those that the training data has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

import torch

from regard.errors import BrokenData, ModelError, UsageError, did_you_mean
from regard.registry import part
from regard.task import Role, Spec
from regard.types import Labels, Share


class Classes:
    """Names of classes and their numbers, as label and tags both have them."""

    def __init__(self, role: Role) -> None:
        self.role, self._names = role, ()

    _names: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The classes, in order."""
        if not self._names:
            raise UsageError(f"the {self.role}'s classes are not known yet.", hint="Call fit with its labels first.")
        return self._names

    @names.setter
    def names(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        vars(self).pop("numbers", None)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each class."""
        return {name: number for number, name in enumerate(self.names)}

    def spec(self) -> Spec:
        """How many classes there are."""
        return Spec(len(self.names))

    def number(self, name: str) -> int:
        """The number of a class."""
        if name not in self.numbers:
            raise BrokenData(
                f"no class is called '{name}'; the training data has {_told(self.names)}.",
                hint=did_you_mean(name, self.names)
                or "Take the row out, or add some of its class to the training data.",
            )
        return self.numbers[name]

    def fits(self, item: Any) -> bool:
        """Every label does."""
        return True

    def files(self) -> dict[str, str]:
        """The names of the classes."""
        return {_file(self.role): json.dumps(list(self.names), ensure_ascii=False, indent=1) + "\n"}

    @classmethod
    def load(cls, folder: Path, role: Role, **settings: Any) -> Any:
        """With the classes of a model folder."""
        path, side = folder / _file(role), cls(role, **settings)
        try:
            names = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(names, list) or not all(isinstance(each, str) for each in names) or not names:
                raise ValueError("expected a list of names")
        except (OSError, ValueError) as error:
            raise ModelError(
                f"{path} does not hold the classes of the model: {error}.",
                hint="Copy the folder again, whole: its files belong together.",
            ) from error
        side.names = names
        return side


def _file(role: Role) -> str:
    return f"{role}.classes.json"


def _told(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


@part("side", "label")
class Label(Classes):
    """One class, out of those that the training data has.

    Settings:
        noise: share of the training labels that are replaced by another class: how much a model stands of them. Which,
            and by what, is drawn once for each row; validation and test keep theirs.
    """

    def __init__(self, role: Role, *, noise: Share = 0.0) -> None:
        super().__init__(role)
        self.noise = noise

    def replaced(self, cell: Any, row: int, seed: int) -> str:
        """The label of a training row, or a wrong one in its place: the same whenever it is asked for."""
        label = str(cell)
        random = Random(f"{seed} label {row}")
        if random.random() >= self.noise:
            return label
        return random.choice([name for name in self.names if name != label])

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn which classes there are."""
        found = sorted({str(cell) for cell in cells}, key=_order)
        if len(found) < 2:
            raise BrokenData(
                f"expected labels of at least two classes; found {'only ' + repr(found[0]) if found else 'none'}.",
                hint="A classifier has something to learn where there are two classes.",
            )
        self.names = found

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The number of each label's class."""
        return [self.number(str(cell)) for cell in cells]

    def positions(self, item: Any) -> int:
        """None."""
        return 0

    def predictions(self, item: Any) -> int:
        """One."""
        return 1

    def collate(self, items: Sequence[Any]) -> Labels:
        """A number each."""
        return Labels(torch.tensor(list(items)))


def _order(name: str) -> tuple[int, float, str]:
    """Numbers by their size, then names by the alphabet."""
    try:
        return 0, float(name), name
    except ValueError:
        return 1, 0.0, name
