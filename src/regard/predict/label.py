"""A label for the whole source, from pooled or attended states."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import ShapeError, UsageError
from regard.fast.dropout import drop
from regard.hooks import LossTerm, tell
from regard.predict.pool import pooled
from regard.predict.recurrent import no_gates, prepare, refused, required
from regard.registry import Maker, part
from regard.types import AtLeastZero, Attended, Count, Labelled, Memory, Share, Widths

Pool = Literal["attend", "mean", "max", "last", "summary"]


def redundancy(weights: Float[Tensor, "*B Q K"]) -> Float[Tensor, " *B"]:
    """|A A^T - I|^2 (Lin et al. 2017, equation 8): zero where each query looks at one key, and no two at the same."""
    overlap = weights @ weights.mT
    return (overlap - torch.eye(overlap.shape[-1], dtype=overlap.dtype, device=overlap.device)).square().sum((-2, -1))


@part("predict", "label")
class Label(nn.Module):
    """One vector for the source, then a linear layer.

    Settings:
        pool: how states become one vector: "attend" with learned queries, their "mean", their "max", the "last"
            state of a recurrent encoder's top layer (of both directions, where it reads both ways), or the encoder's
            "summary" (of a recurrent encoder that reads both ways, the backward half of its last state).
        queries: how many learned queries look, each with its own eyes; their contexts stand side by side.
        penalty: weight in the loss of |A A^T - I|^2, A being the weights of all queries: it keeps them apart (Lin
            2017).
        dropout: share of the numbers dropped before the linear layer in training.
    """

    attends: ClassVar[bool] = True

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        pool: Pool = "attend",
        queries: Count = 1,
        penalty: AtLeastZero = 0.0,
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.pool, self.penalty, self.dropout = pool, penalty, dropout
        if pool == "attend":
            self.query = nn.Parameter(nn.init.normal_(torch.empty(queries, memory.keys), std=memory.keys**-0.5))
            self.attend = required(attend, "label")(memory.keys, memory.keys, memory.values)
            width = queries * self.attend.width
        else:
            refused(attend, f'a label with pool = "{pool}"')
            no_gates(memory, f'a label with pool = "{pool}"')
            _check_penalty(penalty, pool)
            width = _width(memory, pool)
        self.score = nn.Linear(width, size)

    def forward(self, memory: Memory) -> Labelled:
        """The score of each class."""
        vector, looked = self._vector(memory)
        return Labelled(self.score(drop(vector, self.dropout, self.training)), looked)

    def label(self, memory: Memory) -> Labelled:
        """The same, by the name that goals ask for."""
        return self(memory)

    def _vector(self, memory: Memory) -> tuple[Float[Tensor, "B W"], tuple[Attended, ...]]:
        if self.pool == "attend":
            looked = self._look(memory)
            return looked.context.flatten(1), (looked,)
        if self.pool in ("mean", "max"):
            return pooled(memory, self.pool), ()
        return memory.final[-1].hidden if self.pool == "last" else memory.summary, ()

    def _look(self, memory: Memory) -> Attended:
        asked = self.query.expand(memory.mask.shape[0], -1, -1)
        looked: Attended = self.attend(asked, prepare(self.attend, memory), start=0)
        if self.training and self.penalty:
            paid = self.penalty * redundancy(looked.weights).mean()  # of a source, and of a head where there are many
            tell(LossTerm(self, lambda likelihood: paid))
        return looked


def _width(memory: Widths, pool: Pool) -> int:
    if pool != "last":
        return memory.summary if pool == "summary" else memory.values
    if not memory.final:
        raise ShapeError(
            'a label with pool = "last" needs an encoder that ends with a state, as recurrent ones do.',
            hint='Write pool = "summary", which every encoder has, or part = "recurrent" in [encode].',
        )
    return memory.final[-1]


def _check_penalty(penalty: float, pool: Pool) -> None:
    if penalty:
        raise UsageError(
            f'penalty = {penalty} keeps the looks of queries apart, and pool = "{pool}" has none.',
            hint='Take it out, or write pool = "attend".',
        )
