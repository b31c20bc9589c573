"""The Transformer's encoder: layers of self-attention and feed-forward. The attention is given."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.registry import Maker, maker, part
from regard.sublayers import Activation, FeedForward, Norm, Residual
from regard.types import Count, Memory, Modules, Padded, Positive, Share, Widths


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with its skip and norm."""

    def __init__(
        self,
        width: int,
        feed: int,
        norm: Norm,
        dropout: float,
        attend: Maker,
        activation: Activation = "relu",
        epsilon: float = 1e-5,
    ) -> None:
        super().__init__()
        self.attend = attend(width, width, width)
        self.feed = FeedForward(width, feed, activation)
        self.around_attend = Residual(width, norm, dropout, epsilon)
        self.around_feed = Residual(width, norm, dropout, epsilon)

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
        activation: between the two matrices of a feed-forward: "relu", "gelu", "gelu_tanh", its approximation, or
            "silu", also called swish.
        epsilon: what the layers' norms add to a variance.
        share_layers: one layer's weights for all of them (ALBERT): as much work, a fraction of the numbers.
        summary: the vector of the whole source: the "mean" of the last states, the "first" of them, or that one through
            a linear layer and tanh ("pooled", BERT).
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
        activation: Activation = "relu",
        epsilon: Positive = 1e-5,
        share_layers: bool = False,
        summary: Literal["mean", "first", "pooled"] = "mean",
    ) -> None:
        super().__init__()
        self.repeats, self.summary = layers if share_layers else 1, summary
        self.layers: Modules = nn.ModuleList(
            EncoderLayer(width, feed, norm, dropout, attend, activation, epsilon)
            for _ in range(1 if share_layers else layers)
        )
        self.last = nn.LayerNorm(width, eps=epsilon) if norm == "before" else nn.Identity()
        self.pool = nn.Linear(width, width) if summary == "pooled" else None
        self.widths = Widths(keys=width, values=width, summary=width)

    def forward(self, source: Padded) -> Memory:
        """Encode a batch."""
        states = source.data
        for _ in range(self.repeats):
            for layer in self.layers:
                states = layer(states, source.mask)
        states = self.last(states)
        return Memory(states, states, source.mask, self._summary(states, source.mask))

    def _summary(self, states: Float[Tensor, "B S D"], mask: Bool[Tensor, "B S"]) -> Float[Tensor, "B D"]:
        if self.summary == "mean":
            return masks.mean(states, mask)
        return states[:, 0] if self.pool is None else torch.tanh(self.pool(states[:, 0]))
