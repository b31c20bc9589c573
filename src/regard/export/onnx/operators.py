"""Parts that cannot be traced as they are, written in operators that can. What they compute stays the same.

A packed sequence cannot be traced: its shape depends on its content. ONNX's RNN, GRU and LSTM are given the lengths
instead and mean the same by them: the backward direction starts at the last real position, and a last state is the
state after it. So each layer is swapped for one that is its operator, and the runtime has a loop of its own for it.

Hard attention makes its one-hot rows by a function that must know their length while it is traced; comparing places
says the same for any length.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard import masks
from regard.attend.choice import Allowed, Choice, Gates, Scores
from regard.attend.hard import Hard
from regard.encode.recurrent import Layer
from regard.model import Model
from regard.types import Recurrent

ORDERS = {  # ONNX's order of the gates, by their places in PyTorch's
    nn.RNN: ("RNN", (0,)),
    nn.GRU: ("GRU", (1, 0, 2)),
    nn.LSTM: ("LSTM", (0, 3, 1, 2)),
}


def traceable(model: Model) -> Model:
    """A copy of a model that can be traced. Its recurrent layers have shapes, but no values, until it is exported."""
    copy = deepcopy(model).eval()
    for module in list(copy.modules()):
        for name, child in module.named_children():
            if type(child) in SWAPS:
                setattr(module, name, SWAPS[type(child)](child))
    return copy


class OperatorLayer(nn.Module):
    """One recurrent layer as one operator of ONNX."""

    inputs: Tensor
    recurrence: Tensor
    bias: Tensor

    def __init__(self, layer: Layer) -> None:
        super().__init__()
        network = layer.network
        self.operator, self.order = ORDERS[type(network)]
        self.width = network.hidden_size
        ways = ("", "_reverse") if network.bidirectional else ("",)
        self.direction = "bidirectional" if network.bidirectional else "reverse" if layer.backward_only else "forward"
        self.register_buffer("inputs", torch.stack([self._gates(network, f"weight_ih_l0{way}") for way in ways]))
        self.register_buffer("recurrence", torch.stack([self._gates(network, f"weight_hh_l0{way}") for way in ways]))
        biases = [[self._gates(network, f"bias_{side}_l0{way}") for side in ("ih", "hh")] for way in ways]
        self.register_buffer("bias", torch.stack([torch.cat(both) for both in biases]))

    def forward(self, states: Float[Tensor, "B S C"], mask: Bool[Tensor, "B S"]) -> tuple[Tensor, Recurrent]:
        """As `Layer`: the state at every position, and the last state (of both directions side by side)."""
        lengths = mask.sum(1).clamp(min=1)  # a row of padding alone is read as one step, then hidden
        attributes: dict[str, Any] = {"hidden_size": self.width, "direction": self.direction}
        if self.operator == "GRU":
            attributes["linear_before_reset"] = 1  # PyTorch's unit, not the paper's
        (rows, count), ways = mask.shape, self.inputs.shape[0]
        last = (ways, rows, self.width)
        found, *final = torch.onnx.ops.symbolic_multi_out(
            self.operator,
            (states.transpose(0, 1), self.inputs, self.recurrence, self.bias, lengths.int()),
            attributes,
            dtypes=[states.dtype] * (3 if self.operator == "LSTM" else 2),
            shapes=[(count, *last), last, last][: 3 if self.operator == "LSTM" else 2],
        )
        some = mask.any(1, keepdim=True)
        hidden, *cell = (torch.cat(each.unbind(0), -1) * some for each in final)
        read = found.permute(2, 0, 1, 3).flatten(2) * mask.unsqueeze(-1)
        return read, Recurrent(hidden, cell[0] if cell else None)

    def _gates(self, network: nn.RNNBase, name: str) -> Tensor:
        """A matrix or a bias with its gates in ONNX's order."""
        blocks = getattr(network, name).detach().chunk(len(self.order))
        return torch.cat([blocks[place] for place in self.order])


class BestPlace(Choice):
    """Hard attention in use: all the weight on the best allowed key."""

    def __init__(self, choice: Hard) -> None:
        super().__init__()

    def forward(
        self, scores: Scores, allowed: Allowed, gates: Gates = None, real: Bool[Tensor, "*#B Q"] | None = None
    ) -> Scores:
        """As `Hard`."""
        best = masks.softmax(scores, allowed).argmax(-1, keepdim=True)
        return (torch.arange(scores.shape[-1]) == best).to(scores.dtype) * allowed


SWAPS: dict[type[nn.Module], Callable[[Any], nn.Module]] = {Layer: OperatorLayer, Hard: BestPlace}
