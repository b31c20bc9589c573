"""The Transformer's encoder: layers of self-attention and feed-forward. The attention is given."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.registry import Maker, maker, part
from regard.sublayers import FeedForward, Norm, Residual
from regard.types import Count, Memory, Padded, Share, Widths


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with its skip and norm."""

    def __init__(self, width: int, feed: int, norm: Norm, dropout: float, attend: Maker) -> None:
        super().__init__()
        self.attend = attend(width, width, width)
        self.feed = FeedForward(width, feed)
        self.around_attend, self.around_feed = Residual(width, norm, dropout), Residual(width, norm, dropout)

    def forward(self, states: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B S D"]:
        """Look at one another, then each think for itself."""

        def look(rows: Tensor) -> Tensor:
            return self.attend(rows, self.attend.prepare(rows, rows, mask), start=0, real=mask).context

        return self.around_feed(self.around_attend(states, look), self.feed)


@part("encode", "transformer")
class TransformerEncoder(nn.Module):
    """A stack of self-attention layers (Vaswani 2017); the summary is the mean of the last states.

    Settings:
        layers: how many stand on one another.
        feed: the width inside the feed-forward sublayers.
        norm: "after" a sublayer as in the paper, or "before" it, which trains without a warm-up.
        dropout: share of the numbers dropped in training, in each sublayer's output.
        attend: the attention of every layer.
    """

    def __init__(
        self,
        width: int,
        *,
        layers: Count = 3,
        feed: Count = 1024,
        norm: Norm = "before",
        dropout: Share = 0.1,
        attend: Maker = maker("attend", "heads"),
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(width, feed, norm, dropout, attend) for _ in range(layers))
        self.last = nn.LayerNorm(width) if norm == "before" else nn.Identity()
        self.widths = Widths(keys=width, values=width, summary=width)

    def forward(self, source: Padded) -> Memory:
        """Encode a batch."""
        states = source.data
        for layer in self.layers:
            states = layer(states, source.mask)
        states = self.last(states)
        return Memory(states, states, source.mask, masks.mean(states, source.mask))
