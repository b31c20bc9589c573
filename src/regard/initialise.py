"""How the weights of a new model begin, where a paper says so; otherwise each part draws its own."""

from __future__ import annotations

import math

from torch import nn

from regard.registry import part
from regard.types import Positive

RECURRENT = ("weight_hh", "recur.weight")  # what the states are multiplied with, in encoders and in decoders
RESIDUAL = ("attend.join.weight", "feed.narrow.weight")  # what a sublayer of a Transformer brings to its skip


def learnt(model: nn.Module) -> dict[str, nn.Parameter]:
    """The weights that are to be learnt: a frozen network keeps those that it was trained to."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


@part("initialise", "uniform")
class Uniform:
    """Every weight and every bias is drawn evenly between -reach and reach (Sutskever 2014, Luong 2015, Wu 2016).

    Settings:
        reach: the largest number that may be drawn.
    """

    def __init__(self, *, reach: Positive = 0.1) -> None:
        self.reach = reach

    def __call__(self, model: nn.Module) -> None:
        """Draw them."""
        for weight in learnt(model).values():
            nn.init.uniform_(weight, -self.reach, self.reach)


@part("initialise", "bahdanau")
class Bahdanau:
    """Orthogonal recurrences, attention almost zero, vectors zero, all else small (Bahdanau 2014, B.1).

    With the score's vector at zero attention begins exactly uniform. Its matrices have a deviation of 0.001 and
    all others of 0.01.
    """

    def __call__(self, model: nn.Module) -> None:
        """Draw them."""
        for name, weight in learnt(model).items():
            if weight.dim() < 2:
                nn.init.zeros_(weight)
            elif any(word in name for word in RECURRENT):
                for block in weight.data.chunk(weight.shape[0] // weight.shape[1]):
                    nn.init.orthogonal_(block)
            else:
                nn.init.normal_(weight, std=0.001 if ".attend." in name else 0.01)


@part("initialise", "truncated_normal")
class TruncatedNormal:
    """Matrices and vectors of pieces from a normal distribution cut off at two deviations; biases zero (Devlin 2018).

    Norms stay as they are. The vector of padding is zero.

    Settings:
        deviation: of the distribution.
    """

    def __init__(self, *, deviation: Positive = 0.02) -> None:
        self.deviation = deviation

    def __call__(self, model: nn.Module) -> None:
        """Draw them."""
        norms = {
            id(weight) for each in model.modules() if isinstance(each, nn.LayerNorm) for weight in each.parameters()
        }
        for weight in learnt(model).values():
            if weight.dim() > 1:
                nn.init.trunc_normal_(weight, std=self.deviation, a=-2 * self.deviation, b=2 * self.deviation)
            elif id(weight) not in norms:
                nn.init.zeros_(weight)
        for each in model.modules():
            if isinstance(each, nn.Embedding) and each.padding_idx is not None:
                each.weight.data[each.padding_idx] = 0


@part("initialise", "xavier")
class Xavier:
    """Matrices and kernels are drawn evenly, as wide as keeps what goes through as large as it is; biases are zero.

    The bound is the root of 6 / (inputs + outputs) (Glorot and Bengio 2010). Norms stay as they are.
    """

    def __call__(self, model: nn.Module) -> None:
        """Draw them."""
        for name, weight in learnt(model).items():
            if weight.dim() > 1:
                nn.init.xavier_uniform_(weight)
            elif name.rpartition(".")[2].startswith("bias"):
                nn.init.zeros_(weight)


@part("initialise", "normal")
class Normal:
    """Matrices and tables of vectors are drawn from a normal distribution, biases are zero (Radford et al. 2019).

    Every sublayer adds to the skip around it. Scaled down by the square root of how many there are, what they add up to
    is as large in a deep Transformer as in a flat one.

    Settings:
        deviation: of what is drawn.
        scaled: whether the last matrix of each sublayer is divided by the square root of the number of sublayers.
    """

    def __init__(self, *, deviation: Positive = 0.02, scaled: bool = True) -> None:
        self.deviation, self.scaled = deviation, scaled

    def __call__(self, model: nn.Module) -> None:
        """Draw them; the norms stay as they are."""
        weights = learnt(model)
        residual = {name for name in weights if name.endswith(RESIDUAL)}
        for name, weight in weights.items():
            if weight.dim() > 1:
                share = math.sqrt(len(residual)) if self.scaled and name in residual else 1.0
                nn.init.normal_(weight, std=self.deviation / share)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
