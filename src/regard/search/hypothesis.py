"""What a search finds, whatever engine made it; nothing here needs PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.search.options import Number

if TYPE_CHECKING:
    from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One output: its pieces, without start and end.

    `score` is what outputs are ranked by; `likelihood` is the model's log-likelihood of the pieces and the end.
    `weights` has one array (heads, pieces and the end, source positions) for each of the decoder's attentions over the
    source, bottom first: a tensor, or a NumPy array of an engine that has no tensors. It is empty if nobody asked for
    it, or if the decoder does not attend.
    """

    ids: tuple[int, ...]
    score: float
    likelihood: float
    weights: tuple[Float[Any, "H T S"], ...] = ()


def penalty_of(length: int, alpha: Number) -> float:
    """lp (see `penalty`) of one output: a tensor of one number would cost fifty times as much."""
    return float(((5 + length) / 6) ** alpha)
