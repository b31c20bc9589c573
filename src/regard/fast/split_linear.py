"""A linear layer that reads several things side by side, as one layer for each: W [a; b] + c = (W_a a + c) + W_b b.

So that what is known of one of them beforehand can be multiplied beforehand (see `share_memory`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


@dataclass(frozen=True)
class InputLinear:
    """What a layer makes of its inputs from `first` to before `last`; the bias goes with the first of them."""

    linear: Any
    first: int
    last: int

    def __call__(self, rows: Float[Tensor, "*B G"]) -> Float[Tensor, "*B F"]:
        """W_a a, or W_a a + c."""
        bias = None if self.first else self.linear.bias
        if own := getattr(self.linear, "side", None):
            return own(rows, self.first, self.last, bias)
        return F.linear(rows, self.linear.weight[:, self.first : self.last], bias)


def input_linears(linear: nn.Module | None, *widths: int) -> tuple[InputLinear, ...]:
    """A layer for each of so many inputs; none where the layer cannot be taken apart."""
    if type(linear) is not nn.Linear and not hasattr(linear, "side"):
        return ()
    return tuple(InputLinear(linear, *ends) for ends in pairwise(accumulate(widths, initial=0)))
