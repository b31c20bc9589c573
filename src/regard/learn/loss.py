"""What a step minimises: how unlikely the right pieces are, and what parts add to it."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.listen import sides
from regard.model import Model
from regard.types import Batch


@dataclass(frozen=True)
class Loss:
    """`total` is what to minimise; `surprise` is the mean negative log-likelihood of a piece, what to report."""

    total: Float[Tensor, ""]
    surprise: Float[Tensor, ""]
    pieces: int


def sequence_loss(model: Model, batch: Batch) -> Loss:
    """Teach a batch: the mean over real pieces of -log p, and the side terms of hard choices and gates.

    Side terms are on the scale of one pair's log-likelihood, so both are divided by the pieces of a pair.
    """
    with sides() as extra:
        taught = model.teach(batch)
    wanted, real = batch.target.data[:, 1:], batch.target.mask[:, 1:]
    surprise = F.cross_entropy(taught.logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted) * real
    likelihood = -surprise.sum(1)
    pieces = int(real.sum())
    total = (extra(likelihood) - likelihood.mean()) * (len(likelihood) / pieces)
    return Loss(total, surprise.detach().sum() / pieces, pieces)
