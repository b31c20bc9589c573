"""How the weights of a new model begin, where a paper says so; otherwise each part draws its own."""

from __future__ import annotations

from torch import nn

from regard.registry import part
from regard.types import Positive

RECURRENT = ("weight_hh", "recur.weight")  # what the states are multiplied with, in encoders and in decoders


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
        for weight in model.parameters():
            nn.init.uniform_(weight, -self.reach, self.reach)


@part("initialise", "bahdanau")
class Bahdanau:
    """Orthogonal recurrences, attention almost zero, vectors zero, all else small (Bahdanau 2014, B.1).

    With the score's vector at zero attention begins exactly uniform. Its matrices have a deviation of 0.001 and
    all others of 0.01.
    """

    def __call__(self, model: nn.Module) -> None:
        """Draw them."""
        for name, weight in model.named_parameters():
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
        for weight in model.parameters():
            if weight.dim() > 1:
                nn.init.trunc_normal_(weight, std=self.deviation, a=-2 * self.deviation, b=2 * self.deviation)
            elif id(weight) not in norms:
                nn.init.zeros_(weight)
        for each in model.modules():
            if isinstance(each, nn.Embedding) and each.padding_idx is not None:
                each.weight.data[each.padding_idx] = 0
