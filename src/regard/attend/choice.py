"""Choices: how do scores become weights? Softly, or each key for itself. (Hard and gated have their own files.)"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.registry import part

Scores = Float[Tensor, "*B Q K"]
Allowed = Bool[Tensor, "*#B #Q K"]
Gates = Float[Tensor, "*#B #Q K"] | None


class Choice(nn.Module):
    """What every choice offers. A key that is not allowed gets weight zero, whatever its score.

    `soft` says that the weights are a plain softmax, so that a fused kernel can do it; `sequential` that a key
    is judged by its neighbours too, so that the past cannot be prepared without the future; `convex` that the
    weights of a query sum to one, so that the context lies among the values; `takes_gates` that the gates come with
    the memory, and not from the keys; `takes_queries` that `forward` is given the queries too, as `query`.
    """

    soft = False
    sequential = False
    convex = True
    takes_gates = False
    takes_queries = False

    def meet(self, query: int) -> None:
        """Hear how wide the queries are, while an attention is built."""

    def prepare(self, keys: Float[Tensor, "*B K D"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K"] | None:
        """What the choice wants to know of the keys, once per sentence; most want nothing."""
        return None

    def draw(self, logits: Float[Tensor, "*B K"], mask: Bool[Tensor, "*#B K"]) -> Float[Tensor, "*B K"]:
        """The gates of a memory that comes with their log odds, once per sentence."""
        raise TypeError(f"{type(self).__name__} has no gates")

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """The weight of each key for each query. `real` marks the queries that are not padding."""
        raise TypeError(f"{type(self).__name__} does not say how it chooses")


@part("choice", "soft")
class Soft(Choice):
    """softmax: a share of every allowed key; the shares of a query sum to one."""

    soft = True

    def __init__(self, key: int) -> None:
        super().__init__()

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """softmax over the allowed keys."""
        return masks.softmax(scores, allowed)


@part("choice", "sigmoid")
class Sigmoid(Choice):
    """sigmoid: each key is taken or left for itself; the weights of a query need not sum to one."""

    convex = False

    def __init__(self, key: int) -> None:
        super().__init__()

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """sigmoid of each allowed key's score."""
        return torch.sigmoid(scores.masked_fill(~allowed, 0.0)) * allowed
