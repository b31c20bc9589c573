"""Readouts: features to a score for every piece of the vocabulary."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.fast.direct import product
from regard.fast.shared_memory import linear_of_context
from regard.registry import part
from regard.types import Attended, Embeds, State, Stepped, Taught, Whole

Features = Float[Tensor, "*B F"]
Ready = Float[Tensor, "*B G"]
Logits = Float[Tensor, "*B V"]
Product = tuple[Float[Tensor, "V G"], Float[Tensor, " V"]]


class Readout(nn.Module):
    """Features, made ready, times the vocabulary: what a readout says of itself is the two sides of that product.

    To make them ready, features may go through a linear layer first (`enters`); what becomes of that says `entered`.
    """

    enters: nn.Module | None = None
    direct: bool = False  # whether the product goes the way that is fastest in use

    def entered(self, found: Float[Tensor, "*B E"]) -> Ready:
        """What the vocabulary's table is multiplied with, after the first layer."""
        return found

    def ready(self, features: Features) -> Ready:
        """What the vocabulary's table is multiplied with."""
        return self.entered(features if self.enters is None else self.enters(features))

    def ready_with(self, features: Features, looked: Attended) -> Ready:
        """The same of features that a context follows."""
        if self.enters is None:
            return self.entered(torch.cat((features, looked.context[:, 0]), -1))
        return self.entered(linear_of_context(self.enters, looked, before=features))

    def product(self) -> Product:
        """The vocabulary's table and bias."""
        raise TypeError(f"{type(self).__name__} does not say what it multiplies with")

    def multiply(self, ready: Ready) -> Logits:
        """The product."""
        return (product if self.direct else F.linear)(ready, *self.product())

    def forward(self, features: Features) -> Logits:
        """The score of every piece."""
        return self.multiply(self.ready(features))

    def narrow(self, pieces: Int[Tensor, " U"]) -> Apart:
        """The same for some pieces alone, in the order they are given."""
        return Apart(self, Table(*self.product()).narrow(pieces))


class Table(nn.Module):
    """A vocabulary product by itself: W x + b for some pieces."""

    def __init__(self, weight: Float[Tensor, "V G"], bias: Float[Tensor, " V"]) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, ready: Ready) -> Logits:
        """The score of each of its pieces."""
        return F.linear(ready, self.weight, self.bias)

    def narrow(self, pieces: Int[Tensor, " U"]) -> Table:
        """The rows of some pieces."""
        return Table(self.weight[pieces], self.bias[pieces])


class Apart(nn.Module):
    """A readout whose vocabulary product is made apart: of fewer pieces than it has, or in fewer bits.

    `score` is a module that multiplies, and that can `narrow` itself to some pieces.
    """

    def __init__(self, readout: Readout, score: nn.Module) -> None:
        super().__init__()
        self.readout = readout
        self.score: Any = score  # which can do more than a type checker knows of a module

    def ready(self, features: Features) -> Ready:
        """What is multiplied."""
        return self.readout.ready(features)

    def ready_with(self, features: Features, looked: Attended) -> Ready:
        """The same of features that a context follows."""
        return self.readout.ready_with(features, looked)

    def multiply(self, ready: Ready) -> Logits:
        """The product."""
        return self.score(ready)

    def forward(self, features: Features) -> Logits:
        """The score of every piece that is left."""
        return self.score(self.readout.ready(features))

    def narrow(self, pieces: Int[Tensor, " U"]) -> Apart:
        """The same for some pieces alone, in the order they are given."""
        return Apart(self.readout, self.score.narrow(pieces))


def stepped(
    readout: nn.Module,
    features: Float[Tensor, "B F"],
    state: State,
    looked: tuple[Attended, ...],
    appended: Attended | None = None,
) -> Stepped:
    """One step of a decoder, read out; `appended` is a look whose context the readout sees after the features."""
    if not isinstance(readout, Readout | Apart):
        seen = features if appended is None else torch.cat((features, appended.context[:, 0]), -1)
        return Stepped(readout(seen), state, looked)
    ready = readout.ready(features) if appended is None else readout.ready_with(features, appended)
    return Stepped(ready, state, looked, readout.multiply)


def taught(readout: nn.Module, features: Float[Tensor, "B T F"], looked: tuple[Attended, ...]) -> Taught:
    """All steps of a decoder, read out; the scores are not made yet where the readout can do without."""
    if isinstance(readout, Readout):
        return Taught(readout.ready(features), looked, *readout.product())
    return Taught(readout(features), looked)


@part("readout", "linear")
class Linear(Readout):
    """W f + b."""

    def __init__(self, inputs: int, embed: Embeds) -> None:
        super().__init__()
        self.score = nn.Linear(inputs, embed.size)

    def product(self) -> Product:
        """W and b."""
        return self.score.weight, self.score.bias


@part("readout", "tied")
class Tied(Readout):
    """E f + b, with E the table that embeds the target: what a piece means going in, it means coming out.

    Settings:
        bias: whether each piece has a number of its own, added to its score.
    """

    bias: Tensor

    def __init__(self, inputs: int, embed: Embeds, *, bias: bool = True) -> None:
        super().__init__()
        self.table = embed.table
        width = embed.table.embedding_dim
        self.fit = nn.Identity() if inputs == width else nn.Linear(inputs, width, bias=False)
        if bias:
            self.bias = nn.Parameter(torch.zeros(embed.size))
        else:
            self.register_buffer("bias", torch.zeros(embed.size), persistent=False)

    @property
    def enters(self) -> nn.Module:  # type: ignore[override]
        """Features become as wide as the vectors of the table."""
        return self.fit

    def product(self) -> Product:
        """E and b."""
        return self.table.weight, self.bias


@part("readout", "maxout")
class Maxout(Readout):
    """W max(a, b) with [a; b] = U f: one maxout layer before the vocabulary (Bahdanau 2014, A.2.2).

    Settings:
        hidden: numbers after the maximum; 0 takes half the features.
    """

    def __init__(self, inputs: int, embed: Embeds, *, hidden: Whole = 0) -> None:
        super().__init__()
        width = hidden or max(1, inputs // 2)
        self.pairs = nn.Linear(inputs, 2 * width)
        self.score = nn.Linear(width, embed.size)

    def ready(self, features: Features) -> Ready:
        """max(a, b)."""
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            # The rows of U lie in pairs. Taken apart they give two halves, whose gradient is cheap; a maximum over
            # pairs of neighbours costs a dozen times as much on the way back.
            apart = [each.unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1) for each in _of(self.pairs)]
            return _Larger.apply(F.linear(features, *apart))
        return super().ready(features)

    @property
    def enters(self) -> nn.Module:  # type: ignore[override]
        """U."""
        return self.pairs

    def entered(self, found: Float[Tensor, "*B E"]) -> Ready:
        """The larger of each two neighbours."""
        return torch.maximum(found[..., ::2], found[..., 1::2])

    def product(self) -> Product:
        """W and its bias."""
        return self.score.weight, self.score.bias


def _of(linear: Any) -> tuple[Tensor, Tensor]:
    return linear.weight, linear.bias


class _Larger(torch.autograd.Function):
    """The larger of each number of the first half and its fellow in the second; the second where they are equal."""

    @staticmethod
    def forward(context: Any, halves: Tensor) -> Tensor:
        first, second = halves.chunk(2, -1)
        context.save_for_backward(first - second)
        return torch.maximum(first, second)

    @staticmethod
    @once_differentiable
    def backward(context: Any, upstream: Tensor) -> Tensor:
        (ahead,) = context.saved_tensors
        back = upstream.new_empty(*upstream.shape[:-1], 2 * upstream.shape[-1])
        first, second = back.chunk(2, -1)
        torch.ops.aten.threshold_backward.grad_input(upstream, ahead, 0, grad_input=first)
        torch.sub(upstream, first, out=second)
        return back
