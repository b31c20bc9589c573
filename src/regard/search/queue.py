"""The sentences that wait for a place in a search: longest first, as many at a time as there is room for.

A search of many sentences ends with a few long ones, and a step for three rows costs nearly as much as one for fifty.
So there is room for so many positions, and when half of it stands empty, those who wait enter beside those who are
still at it. Nothing that happens to a sentence depends on when it entered.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from regard.search.options import Options
from regard.types import Grid, Padded

EMPTY = 0.5  # share of the places that stand empty before others enter: to let them in costs about a step


class Queue:
    """Sources that wait. Images, and all without a limit (`tokens`, padded positions), enter at once as they stand."""

    def __init__(self, source: Padded | Grid, options: Options, tokens: int | None = None) -> None:
        self.source, self.options, self.tokens = source, options, tokens
        self.entered = 0
        self.order = torch.arange(len(source.mask), device=source.mask.device)
        self.lengths = [1] * len(self.order)
        if isinstance(source, Padded) and tokens is not None:
            lengths, self.order = source.lengths.sort(descending=True, stable=True)
            self.lengths = lengths.clamp(min=1).tolist()

    def __len__(self) -> int:
        return len(self.order) - self.entered

    def places(self, longest: int | None = None) -> int:
        """How many sentences there is room for, if the longest is that one (by its number in the queue) or the next."""
        if self.tokens is None:
            return len(self.order)
        return max(1, self.tokens // self.lengths[self.entered if longest is None else longest])

    def wanted(self, longest: int, inside: int) -> int:
        """How many may enter beside so many others now; none while too few places stand empty."""
        free = self.places(longest) - inside
        return min(free, len(self)) if free >= EMPTY * self.places(longest) else 0

    def take(self, count: int) -> tuple[Padded | Grid, Options]:
        """The next so many, and what is asked of them."""
        rows = self.order[self.entered : self.entered + count]
        width = max(self.lengths[self.entered : self.entered + count], default=1)
        self.entered += len(rows)
        options = self.options
        if options.prefix and len(options.prefix) == len(self.order):
            options = replace(options, prefix=[options.prefix[row] for row in rows.tolist()])
        if isinstance(self.source, Grid) or self.tokens is None:
            return self.source, options
        return Padded(self.source.data[rows, :width], self.source.mask[rows, :width]), options
