"""A model in use, in full precision: its products are made by whichever library multiplies soonest here.

Shapes, names and numbers stay what they are, and the model can still be saved or trained.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.fast.direct import Bent, helps, product
from regard.model import Model
from regard.predict.fill import Fill
from regard.predict.words import Readout
from regard.sublayers import FeedForward


class DirectLinear(nn.Linear):
    """A linear layer whose product is made so."""

    def forward(self, rows: Float[Tensor, "*B G"]) -> Float[Tensor, "*B V"]:
        """x W + b."""
        return product(rows, self.weight, self.bias)

    def side(self, rows: Float[Tensor, "*B E"], first: int, last: int, bias: Tensor | None) -> Float[Tensor, "*B V"]:
        """The same for the inputs from `first` to before `last` alone."""
        return nn.functional.linear(rows, self.weight[:, first:last], bias)


class DirectFeedForward(FeedForward):
    """A feed-forward that is bent as its wide rows are made, not in another pass over them."""

    def forward(self, rows: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Wider, bent, and back."""
        if self.activation == "silu" or type(self.widen) is not DirectLinear:  # somebody may have put another there
            return super().forward(rows)
        bent: Bent = self.activation
        return self.narrow(product(rows, self.widen.weight, self.widen.bias, bent))


def direct_products(model: Model) -> Model:
    """The model with its products made so, where this machine gains by that."""
    if not helps():
        return model
    for module in model.modules():
        if type(module) is nn.Linear:
            module.__class__ = DirectLinear
        if type(module) is FeedForward:
            module.__class__ = DirectFeedForward
        if isinstance(module, Readout | Fill):
            module.direct = True
    return model
