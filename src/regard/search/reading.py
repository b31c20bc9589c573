"""Reading the sources of a search: those of like length together, so that little padding is read.

A search likes many sentences at once, however long each is; an encoder reads them all at the width of the longest, and
of a few large batches a good part is padding. So rows are read in groups of like length, and their memories put side
by side: padding changes nothing, in any encoder.

Letters: B rows, S positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from regard.fast import shortcuts
from regard.model import Model
from regard.types import Grid, Memory, Padded

FEWEST = 16  # rows of a group: fewer make its products slow
SHARE = 0.8  # of its longest row every other one of a larger group has at least


def read_by_length(model: Model, source: Padded | Grid) -> Memory:
    """The memory of all rows, in their order. A watcher sees them read as they stand."""
    if not isinstance(source, Padded) or len(source.mask) <= FEWEST or not shortcuts():
        return model.read(source)
    lengths, order = source.lengths.sort(descending=True, stable=True)
    groups = list(_groups(lengths.tolist()))
    if len(groups) == 1:
        return model.read(source)
    parts = [model.read(_some(source, order[rows], int(lengths[rows][0]))) for rows in groups]
    return parts[0].concatenate(*parts[1:]).reorder(order.argsort())


def _groups(lengths: Sequence[int]) -> Iterator[slice]:
    """Places of rows, longest first, that are read together."""
    first = 0
    for place, length in enumerate(lengths):
        if place - first >= FEWEST and length < SHARE * lengths[first]:
            yield slice(first, place)
            first = place
    yield slice(first, len(lengths))


def _some(source: Padded, rows: Tensor, longest: int) -> Padded:
    width = max(1, longest)
    return Padded(source.data[rows, :width], source.mask[rows, :width])
