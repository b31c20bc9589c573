"""An image of markup as a memory: convolutions down to a grid, then each row of the grid read both ways (Deng 2017).

Letters: B images, C channels, h rows and w columns of pixels, i rows and j columns of cells, D numbers of a cell.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.encode.norm import CellNorm
from regard.encode.recurrent import Layer
from regard.registry import part
from regard.types import Count, Grid, Memory, Modules, Widths

# The network of the paper: how wide each convolution is, as a part of the last; whether it is normalised; and by how
# much what follows it is pooled, downwards and to the right.
SHAPE = (
    (8, False, (2, 2)),
    (4, False, (2, 2)),
    (2, True, (1, 1)),
    (2, False, (2, 1)),
    (1, True, (1, 2)),
    (1, True, (1, 1)),
)


class Convolution(nn.Module):
    """A convolution of 3 x 3, normalised or not, cut at zero, and the largest of each `pool` cells."""

    def __init__(self, inputs: int, outputs: int, norm: bool, pool: tuple[int, int]) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, 3, padding=1, bias=not norm)
        self.norm = CellNorm(outputs) if norm else None
        self.pool = pool
        nn.init.kaiming_normal_(self.convolve.weight, nonlinearity="relu")

    def forward(self, data: Float[Tensor, "B C h w"], mask: Bool[Tensor, "B h w"]) -> tuple[Tensor, Tensor]:
        """The cells, and which of them are real: those with a real cell among the ones they come of."""
        data = self.convolve(data)
        data = data if self.norm is None else self.norm(data, mask)
        data = F.relu(data).contiguous(memory_format=torch.channels_last)  # of which the largest is found far sooner
        if not bool(mask.all()):  # nothing is below zero, so that padding is never the largest
            data = data * mask.unsqueeze(1).expand_as(data).to(data.dtype, memory_format=torch.channels_last)
        if self.pool == (1, 1):
            return data, mask
        down, right = self.pool
        return F.max_pool2d(data, self.pool, ceil_mode=True), mask[:, ::down, ::right]


class RowReader(nn.Module):
    """An LSTM that reads every row of a grid by itself, both ways, from a first state of the row's own."""

    def __init__(self, inputs: int, hidden: int, rows: int) -> None:
        super().__init__()
        self.layer = Layer(inputs, hidden, "lstm", "both")
        # What is shown and what is kept, of both directions, for each row.
        self.start = nn.Parameter(nn.init.normal_(torch.empty(2, 2, rows, hidden // 2), std=0.1))

    def forward(self, cells: Float[Tensor, "B i j D"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B i j W"]:
        """The state at each cell."""
        images, rows = cells.shape[:2]
        number = torch.arange(rows, device=cells.device).clamp(max=self.start.shape[2] - 1)
        shown, kept = self.start[:, :, number].unsqueeze(2).expand(-1, -1, images, -1, -1).flatten(2, 3)
        states, _ = self.layer(cells.flatten(0, 1), mask.flatten(0, 1), (shown.contiguous(), kept.contiguous()))
        return states.unflatten(0, (images, rows))


@part("encode", "rows")
class RowEncoder(nn.Module):
    """Convolutions and pools down to cells of 8 x 8 pixels; an LSTM reads each row of cells both ways.

    The first state of a row is learnt, and is its own: it says which row is read. The memory is the grid, row by row,
    and the summary the grid's mean.

    Settings:
        features: the width of the last convolution; the first has an eighth.
        hidden: the width of the states of a row; two directions share it.
        across: whether rows are read; without, the memory is what the convolutions found.
        skip: whether what the convolutions found stands in the memory beside the states of rows that are read: what a
            sign looks like need not go through an LSTM then, and is learnt sooner.
        rows: how many rows have a first state of their own; those below share the last one's.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        features: Count = 128,
        hidden: Count = 128,
        across: bool = True,
        skip: bool = False,
        rows: Count = 20,
    ) -> None:
        super().__init__()
        self.convolutions: Modules = nn.ModuleList()
        for share, norm, pool in SHAPE:
            outputs = max(1, features // share)
            self.convolutions.append(Convolution(width, outputs, norm, pool))
            width = outputs
        self.across, self.skip = RowReader(width, hidden, rows) if across else None, skip
        found = (hidden if across else 0) + (width if skip or not across else 0)
        self.widths = Widths(keys=found, values=found, summary=found)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images."""
        data, mask = source.data, source.mask
        for convolution in self.convolutions:
            data, mask = convolution(data, mask)
        cells = data.movedim(1, -1)
        if self.across is not None:
            states = self.across(cells, mask)
            cells = torch.cat((states, cells), -1) if self.skip else states
        grid = (cells.shape[1], cells.shape[2])
        found, real = cells.flatten(1, 2), mask.flatten(1)
        return Memory(found, found, real, masks.mean(found, real), grid=grid)
