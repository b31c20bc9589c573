"""Batch normalisation of grids some cells of which are padding.

Letters: B images, i rows and j columns of cells, D numbers of a cell.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F


class CellNorm(nn.Module):
    """Batch normalisation over the cells that are real: padding is in no mean, and stays zero."""

    def __init__(self, width: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))
        self.mean: Tensor
        self.variance: Tensor
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("variance", torch.ones(width))

    def forward(self, data: Float[Tensor, "B D i j"], mask: Bool[Tensor, "B i j"]) -> Float[Tensor, "B D i j"]:
        """Of one cell alone there is no variance: it is normalised as in use."""
        if bool(mask.all()):
            return self._normed(data, mask.numel())
        cells = data.movedim(1, -1)
        rows = cells.reshape(-1, cells.shape[-1])
        places = mask.flatten().nonzero().squeeze(1)  # whole rows by their number: twice as fast as by the mask
        real = self._normed(rows.index_select(0, places), len(places))
        return torch.zeros_like(rows, dtype=real.dtype).index_copy(0, places, real).view(cells.shape).movedim(-1, 1)

    def _normed(self, cells: Tensor, count: int) -> Tensor:
        training = self.training and count > 1
        return F.batch_norm(cells, self.mean, self.variance, self.weight, self.bias, training, self.momentum)
