"""Many heads: the same query asked in several learned ways at once (Vaswani 2017, section 3.2.2)."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.registry import Maker, maker, part
from regard.types import Attended, Count, Prepared, Whole


@part("attend", "heads")
class Heads(nn.Module):
    """Several heads: each projects query, keys and values in its own way and runs the attention inside.

    The heads differ by their projections; what the inner attention itself learns (an additive score, say) they
    share.

    Settings:
        heads: how many.
        width: of all heads together, and of the result; 0 takes the query's width.
        attend: the attention inside each head.
        bias: whether the projections have a bias.
    """

    def __init__(
        self,
        query: int,
        key: int,
        value: int,
        *,
        heads: Count = 8,
        width: Whole = 0,
        attend: Maker = maker("attend", "attention", score=maker("score", "scaled_dot")),
        bias: bool = True,
    ) -> None:
        super().__init__()
        width = width or query
        if width % heads:
            raise ShapeError(
                f"{heads} heads cannot share a width of {width}: it is no multiple of {heads}.",
                hint=f"Write heads = {_divisor(width, heads)}, or a width that {heads} divides.",
            )
        self.heads, self.width = heads, width
        self.of_query = nn.Linear(query, width, bias=bias)
        self.of_key = nn.Linear(key, width, bias=bias)
        self.of_value = nn.Linear(value, width, bias=bias)
        self.attend = attend(width // heads, width // heads, width // heads)
        self.join = nn.Linear(width, width, bias=bias)
        for projection in (self.of_query, self.of_key, self.of_value):
            nn.init.xavier_uniform_(projection.weight)

    @property
    def simple(self) -> bool:
        """Are scores dot products with the prepared keys, over every key, and softly shared out?"""
        return bool(getattr(self.attend, "fusible", False))

    def _split(self, rows: Float[Tensor, "B N D"]) -> Float[Tensor, "B H N d"]:
        return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def prepare(
        self,
        keys: Float[Tensor, "B K C"],
        values: Float[Tensor, "B K E"],
        mask: Bool[Tensor, "B K"] | Bool[Tensor, "#B Q K"] | None = None,
        start: int = 0,
        gates: Float[Tensor, "B K"] | None = None,
    ) -> Prepared:
        """Project keys and values for every head, once. A memory's gates are drawn once, for all heads."""
        for_heads = None
        if mask is not None:
            for_heads = (mask if mask.dim() == 3 else mask.unsqueeze(1)).unsqueeze(1)
        split = [self._split(self.of_key(keys)), self._split(self.of_value(values))]
        if not torch.is_grad_enabled():  # every step of a search asks them, and would bring them together anew
            split = [each.contiguous() for each in split]
        if gates is None:
            return self.attend.prepare(*split, for_heads, start)
        return self.attend.prepare(*split, for_heads, start, gates.unsqueeze(1))

    def forward(
        self,
        query: Float[Tensor, "B Q D"],
        prepared: Prepared,
        *,
        start: int | None = None,
        real: Bool[Tensor, "B Q"] | None = None,
    ) -> Attended:
        """Look with every head and join what they bring; the weights keep an axis for heads (B H Q K)."""
        asked = self._split(self.of_query(query))
        seen = self.attend(asked, prepared, start=start, real=None if real is None else real.unsqueeze(1))
        joined = self.join(seen.context.transpose(1, 2).flatten(2))
        return Attended(joined, lambda: seen.weights, gates=seen.gates)


def _divisor(width: int, near: int) -> int:
    """The divisor of `width` nearest to `near`: what a person probably wants instead."""
    return min((d for d in range(1, width + 1) if width % d == 0), key=lambda d: abs(d - near))
