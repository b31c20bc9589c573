"""A convolution stack over a sequence: each layer sees a little further (Gehring 2017, without its decoder)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.errors import ShapeError
from regard.fast.dropout import drop
from regard.registry import part
from regard.types import Count, Memory, Padded, Share, Whole, Widths


class GatedConvolution(nn.Module):
    """A convolution whose second half gates the first, with a skip and a norm."""

    def __init__(self, width: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.convolve = nn.Conv1d(width, 2 * width, kernel, padding=kernel // 2)
        self.norm, self.dropout = nn.LayerNorm(width), dropout

    def forward(self, states: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S D"]:
        """Padding is set to zero before every layer, so that it looks like the end of the sentence."""
        rows = drop(self.norm(states), self.dropout, self.training) * mask.unsqueeze(-1)
        return states + F.glu(self.convolve(rows.mT).mT)


@part("encode", "convolve")
class ConvolutionEncoder(nn.Module):
    """Gated convolutions, one on another; the summary is the mean of the last states.

    Settings:
        hidden: the width of the states; 0 takes the width of what is embedded.
        layers: how many stand on one another.
        kernel: how many neighbours a layer sees at once; odd.
        dropout: share of the numbers dropped in training.
    """

    def __init__(
        self, width: int, *, hidden: Whole = 0, layers: Count = 3, kernel: Count = 3, dropout: Share = 0.0
    ) -> None:
        super().__init__()
        if kernel % 2 == 0:
            raise ShapeError(
                f"a convolution needs an odd kernel, to stay centred on its word; this one is {kernel}.",
                hint=f"Write kernel = {kernel + 1}.",
            )
        hidden = hidden or width
        self.enter = nn.Linear(width, hidden)
        self.layers = nn.ModuleList(GatedConvolution(hidden, kernel, dropout) for _ in range(layers))
        self.widths = Widths(keys=hidden, values=hidden, summary=hidden)

    def forward(self, source: Padded) -> Memory:
        """Encode a batch."""
        states = self.enter(source.data)
        for layer in self.layers:
            states = layer(states, source.mask)
        states = states * source.mask.unsqueeze(-1)
        return Memory(states, states, source.mask, masks.mean(states, source.mask))
