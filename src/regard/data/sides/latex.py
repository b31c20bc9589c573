"""Formulas in LaTeX as one side of a task: tokens of their one form, so that what looks alike is written alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from regard.data.latex import normalise
from regard.data.sides.text import Text
from regard.data.tokenizer import Tokenizer
from regard.registry import part
from regard.task import Role
from regard.types import Whole


@part("side", "latex")
class Latex(Text):
    """LaTeX, cut into commands, signs and letters after it was brought to one form.

    Settings:
        vocabulary: how many kinds of tokens there are; 0 for all that are seen often enough.
        longest: examples with more tokens than this are left out; 0 for no limit.
    """

    def __init__(self, role: Role, *, vocabulary: Whole = 0, longest: Whole = 0) -> None:
        super().__init__(role, pieces="words", vocabulary=vocabulary, longest=longest)

    def fit(self, cells: Iterable[Any]) -> None:
        """Learn the tokens there are."""
        self.tokenizer = Tokenizer.train(map(normalise, cells), kind="spaced", size=self.vocabulary or "auto")

    def encode(
        self, cells: Sequence[Any], random: Random | None = None, given: Sequence[Any] | None = None
    ) -> list[Any]:
        """The tokens of each formula."""
        return super().encode([normalise(cell) for cell in cells], random, given)
