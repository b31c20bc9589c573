"""Reading the sources of a search: those of like length together, so that little padding is read.

A search likes many sentences at once, however long each is; an encoder reads them all at the width of the longest, and
of a few large batches a good part is padding. So rows are read in groups of like length, and their memories put side
by side: padding changes nothing, in any encoder.

Letters: B rows, S positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.listen import Looked, heard
from regard.model import Model
from regard.types import Grid, Memory, Padded, Recurrent

FEWEST = 16  # rows of a group: fewer make its products slow
SHARE = 0.8  # of its longest row every other one of a larger group has at least


def read_by_length(model: Model, source: Padded | Grid) -> Memory:
    """The memory of all rows, in their order. A watcher sees them read as they stand."""
    if not isinstance(source, Padded) or len(source.mask) <= FEWEST or heard(Looked):
        return model.read(source)
    lengths, order = source.lengths.sort(descending=True, stable=True)
    groups = list(_groups(lengths.tolist()))
    if len(groups) == 1:
        return model.read(source)
    parts = [model.read(_some(source, order[rows], int(lengths[rows][0]))) for rows in groups]
    return _side_by_side(parts).reorder(order.argsort())


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


def _side_by_side(parts: Sequence[Memory]) -> Memory:
    """The rows of all, as wide as the widest."""
    width = max(part.mask.shape[1] for part in parts)

    def joined(each: Sequence[Tensor]) -> Tensor:
        return torch.cat([F.pad(rows, (0, 0) * (rows.dim() - 2) + (0, width - rows.shape[1])) for rows in each])

    return Memory(
        keys=joined([part.keys for part in parts]),
        values=joined([part.values for part in parts]),
        mask=joined([part.mask for part in parts]),
        summary=torch.cat([part.summary for part in parts]),
        final=tuple(map(_states, zip(*(part.final for part in parts), strict=True))),
    )


def _states(layer: Sequence[Recurrent]) -> Recurrent:
    """The last states of one recurrent layer, of all parts."""
    cells = [part.cell for part in layer if part.cell is not None]
    return Recurrent(torch.cat([part.hidden for part in layer]), torch.cat(cells) if cells else None)
