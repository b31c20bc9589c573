"""A vector for the whole source: what texts are compared and searched by. Nothing is learnt here."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.predict.pool import Pooling, pooled
from regard.predict.recurrent import no_gates, refused
from regard.registry import Maker, part
from regard.types import Encoded, Memory, Widths


@part("predict", "vector")
class Vector(nn.Module):
    """The states of the encoder as one vector.

    Settings:
        pool: how states become one vector: their "mean", the "first" of them, or the "max" of each number.
        normalise: divide the vector by its length, so that the product of two is the cosine of their angle.
    """

    attends: ClassVar[bool] = False

    def __init__(
        self, size: int, memory: Widths, attend: Maker | None, *, pool: Pooling = "mean", normalise: bool = False
    ) -> None:
        super().__init__()
        refused(attend, "'vector'")
        no_gates(memory, "'vector'")
        self.pool, self.normalise, self.width = pool, normalise, memory.values

    def vector(self, memory: Memory) -> Encoded:
        """The vector of each source, by the name that goals ask for."""
        return self(memory)

    def forward(self, memory: Memory) -> Encoded:
        """The vector of each source."""
        return Encoded(vector_of(memory, self.pool, self.normalise))


def vector_of(memory: Memory, pool: str, normalise: bool) -> Float[Tensor, "B E"]:
    """One vector for each source, of length one if asked."""
    found = pooled(memory, pool)
    return F.normalize(found, dim=-1) if normalise else found
