"""What the Transformer's encoder and decoder share: feed-forward, and the skip and norm around a sublayer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.fast.dropout import drop

Norm = Literal["before", "after"]
Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]


class FeedForward(nn.Module):
    """a(x W1 + b1) W2 + b2, each position by itself (Vaswani 2017, equation 2, where a is max(0, ...)).

    Nothing is dropped inside: the paper drops what a sublayer brings (section 5.4), which `Residual` does. Some
    toolkits drop here too: more noise in the widest part of the model, where it also costs most.
    """

    def __init__(self, width: int, hidden: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.activation = activation
        self.widen, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)
        nn.init.xavier_uniform_(self.widen.weight)
        nn.init.xavier_uniform_(self.narrow.weight)

    def forward(self, rows: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """Wider, cut at zero or bent there, and back."""
        wide = self.widen(rows)
        if self.activation == "relu":
            return self.narrow(F.relu(wide, inplace=not torch.is_grad_enabled()))
        if self.activation == "silu":
            return self.narrow(F.silu(wide, inplace=not torch.is_grad_enabled()))
        return self.narrow(F.gelu(wide, approximate="tanh" if self.activation == "gelu_tanh" else "none"))


class Residual(nn.Module):
    """The skip around a sublayer: norm(x + f(x)) as in the paper ("after"), or x + f(norm(x)) ("before")."""

    def __init__(self, width: int, norm: Norm, dropout: float, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.norm, self.before, self.dropout = nn.LayerNorm(width, eps=epsilon), norm == "before", dropout

    def forward(self, rows: Float[Tensor, "*B D"], sublayer: Callable[[Tensor], Tensor]) -> Float[Tensor, "*B D"]:
        """The sublayer with its skip."""
        if self.before:
            return rows + drop(sublayer(self.norm(rows)), self.dropout, self.training)
        return self.norm(rows + drop(sublayer(rows), self.dropout, self.training))
