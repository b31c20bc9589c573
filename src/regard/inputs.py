"""What a model is fed: one step's worth of examples, each side as tensors. Letters and masks are those of `types`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Padded:
    """Sequences of unequal length in one tensor: ids (B S) or vectors (B S D); padding follows what is real."""

    data: Int[Tensor, "B S"] | Float[Tensor, "B S D"]
    mask: Bool[Tensor, "B S"]

    @cached_property
    def lengths(self) -> Int[Tensor, " B"]:
        """How many positions of each row are real."""
        return self.mask.sum(-1)

    def take(self, rows: slice) -> Padded:
        """Some rows, without the padding that only the others needed."""
        data, mask = self.data[rows], self.mask[rows]
        width = int(mask.sum(-1).max())
        return Padded(data[:, :width].contiguous(), mask[:, :width].contiguous())


def nothing(rows: int) -> Padded:
    """A source of so many rows in which there is nothing to read: that of a model without one."""
    return Padded(torch.zeros(rows, 0, dtype=torch.long), torch.zeros(rows, 0, dtype=torch.bool))


@dataclass(frozen=True)
class Segmented(Padded):
    """Pieces of one text or of two, and which of the two each belongs to: 0 or 1."""

    segments: Int[Tensor, "B S"]

    def take(self, rows: slice) -> Segmented:
        """Some rows, without the padding that only the others needed."""
        some = super().take(rows)
        return Segmented(some.data, some.mask, self.segments[rows, : some.mask.shape[1]].contiguous())


@dataclass(frozen=True)
class Branched(Padded):
    """Sequences whose last positions, `ends` of them, stand side by side at the last step: none follows another.

    It is as many sequences as there are ends, which have all but their last position in common.
    """

    ends: int


@dataclass(frozen=True)
class Codes(Padded):
    """A vector for each row, which an encoder made before or nobody did: read, it is the memory as it stands."""

    @classmethod
    def of(cls, vectors: Float[Tensor, "B D"]) -> Codes:
        """As one position each."""
        return cls(vectors.unsqueeze(1), torch.ones(len(vectors), 1, dtype=torch.bool, device=vectors.device))

    def take(self, rows: slice) -> Codes:
        """Some rows."""
        return Codes(self.data[rows], self.mask[rows])


@dataclass(frozen=True)
class Grid:
    """Images of unequal size in one tensor; what is real lies in the upper left corner."""

    data: Float[Tensor, "B C h w"]
    mask: Bool[Tensor, "B h w"]

    def take(self, rows: slice) -> Grid:
        """Some rows; images keep their frame."""
        return Grid(self.data[rows], self.mask[rows])


@dataclass(frozen=True)
class Features(Grid):
    """What a frozen network made of images, computed before: D numbers for each cell in the place of C channels."""

    def take(self, rows: slice) -> Features:
        """Some rows; images keep their frame."""
        return Features(self.data[rows], self.mask[rows])


@dataclass(frozen=True)
class Labels:
    """One class for each row, by its number."""

    data: Int[Tensor, " B"]

    @property
    def mask(self) -> Bool[Tensor, "B 0"]:
        """Labels take no positions of a batch."""
        return torch.ones(len(self.data), 0, dtype=torch.bool, device=self.data.device)

    def take(self, rows: slice) -> Labels:
        """Some rows."""
        return Labels(self.data[rows])


@dataclass(frozen=True)
class Values:
    """Numbers for each row: one to be found, or a vector."""

    data: Float[Tensor, "B *N"]

    @property
    def mask(self) -> Bool[Tensor, "B 0"]:
        """They take no positions of a batch."""
        return torch.ones(len(self.data), 0, dtype=torch.bool, device=self.data.device)

    def take(self, rows: slice) -> Values:
        """Some rows."""
        return Values(self.data[rows])


@dataclass(frozen=True)
class Masks:
    """The class of every pixel, by its number; `UNLABELLED` where none is told."""

    data: Int[Tensor, "B h w"]

    @property
    def mask(self) -> Bool[Tensor, "B 0"]:
        """They take no positions of a batch: their images have taken them."""
        return torch.ones(len(self.data), 0, dtype=torch.bool, device=self.data.device)

    def take(self, rows: slice) -> Masks:
        """Some rows; masks keep their frame."""
        return Masks(self.data[rows])


@dataclass(frozen=True)
class Episodes:
    """Images of which the class is told (S of each episode, its number in `classes`), then Q that are asked about."""

    data: Float[Tensor, "B I C h w"]
    classes: Int[Tensor, "B S"]

    @property
    def queries(self) -> int:
        """How many images of an episode are asked about."""
        return self.data.shape[1] - self.classes.shape[1]

    @property
    def mask(self) -> Bool[Tensor, "B I"]:
        """All images are real."""
        return torch.ones(self.data.shape[:2], dtype=torch.bool, device=self.data.device)

    def take(self, rows: slice) -> Episodes:
        """Some rows."""
        return Episodes(self.data[rows], self.classes[rows])


@dataclass(frozen=True)
class Choices:
    """Some classes for each row, one for each question that it asks."""

    data: Int[Tensor, "B Q"]

    @property
    def mask(self) -> Bool[Tensor, "B 0"]:
        """They take no positions of a batch."""
        return torch.ones(len(self.data), 0, dtype=torch.bool, device=self.data.device)

    def take(self, rows: slice) -> Choices:
        """Some rows."""
        return Choices(self.data[rows])


UNLABELLED = -100  # the class of pixels that are neither learnt nor measured, as PyTorch's losses have it

# One side of a batch: each has a mask of its positions, and gives some of its rows.
Input = Padded | Grid | Labels | Values | Masks | Episodes | Choices


@dataclass(frozen=True)
class Batch:
    """One step's worth of examples; `rows` are their places in the corpus. A side of a task that has none is None.

    Text that is to be written is framed by start and end. `weights` are how many predictions each example asks for; of
    text that nobody counted it is every piece but the start. `links`, where they are known and asked for, say how each
    piece to predict shares its look among the source pieces that it is linked to: a row sums to one, or to zero where
    there is no link. `extra` is what else a goal wants to know of the examples, each with the batch as first axis.
    """

    source: Any
    target: Any
    rows: tuple[int, ...] = ()
    links: Float[Tensor, "B T S"] | None = None
    weights: tuple[int, ...] = ()
    extra: Mapping[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        side = self.source if self.target is None else self.target
        return len(side.data)

    @property
    def count(self) -> int:
        """How many predictions it asks for."""
        return sum(self.weights) if self.weights else int(self.target.mask[:, 1:].sum())

    def share(self, place: int, count: int) -> Batch | None:
        """One of `count` shares: every count-th example from `place` on, padded no further than it needs.

        The examples of a batch stand by length, so all shares are about the same work. None where there is none left.
        """
        if count == 1:
            return self
        if place >= len(self):
            return None
        some = slice(place, None, count)
        source, target = (None if side is None else side.take(some) for side in (self.source, self.target))
        links = self.links
        if links is not None and source is not None and target is not None:
            links = links[some, : target.mask.shape[1] - 1, : source.mask.shape[1]]
        extra = {name: each[some] for name, each in self.extra.items()}
        return Batch(source, target, self.rows[some], links, self.weights[some], extra)

    def to(self, device: torch.device) -> Batch:
        """The same on a device."""
        if device.type == "cpu":
            return self
        moved = {name: _moved(getattr(self, name), device) for name in ("source", "target", "links")}
        return replace(self, **moved, extra={name: each.to(device) for name, each in self.extra.items()})


def _moved(value: Any, device: torch.device) -> Any:
    """A tensor, or the tensors of a side, on a device."""
    if value is None or isinstance(value, Tensor):
        return value if value is None else value.to(device)
    return replace(value, **{each.name: getattr(value, each.name).to(device) for each in fields(value)})
