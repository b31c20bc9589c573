"""What a step minimises: how unlikely the right pieces are, and what parts add to it."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.learn.forcing import mixed
from regard.learn.guide import Guide
from regard.listen import sides
from regard.model import Model
from regard.types import Batch, Taught


@dataclass(frozen=True)
class Loss:
    """`total` is what to minimise; `surprise` is the mean negative log-likelihood of a piece, what to report."""

    total: Float[Tensor, ""]
    surprise: Float[Tensor, ""]
    pieces: int


def sequence_loss(
    model: Model, batch: Batch, *, smoothing: float = 0.0, own: float = 0.0, guide: Guide | None = None
) -> Loss:
    """Teach a batch: the mean over real pieces of -log p, and the side terms of hard choices and gates.

    Side terms are on the scale of one pair's log-likelihood, so both are divided by the pieces of a pair.

    Args:
        smoothing: share of the goal that is spread over the vocabulary.
        own: share of pieces that are fed from the model's own predictions instead of the right ones.
        guide: adds what draws an attention to the batch's links.
    """
    with sides() as extra:
        taught = Taught(mixed(model, batch, own)) if own else model.teach(batch)
    wanted, real = batch.target.data[:, 1:], batch.target.mask[:, 1:]
    surprise, goal = surprises(taught.logits.float(), wanted, smoothing)
    surprise, goal = surprise * real, goal * real
    pieces = count_pieces(batch)
    total = (extra(-surprise.sum(1)) * len(wanted) + goal.sum()) / pieces
    if guide is not None:
        total = total + guide(taught.looked, batch) / pieces
    return Loss(total, surprise.detach().sum() / pieces, pieces)


def surprises(
    logits: Float[Tensor, "B T V"], wanted: Int[Tensor, "B T"], smoothing: float
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T"]]:
    """-log p of each wanted piece, and the same mixed with the mean over the vocabulary (Szegedy 2016, section 7).

    Both come from one pass over the vocabulary, which is the dearest thing in a small model.
    """
    if not smoothing:
        plain = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction="none").view_as(wanted)
        return plain, plain
    chances = F.log_softmax(logits, -1)
    plain = -chances.gather(-1, wanted.unsqueeze(-1)).squeeze(-1)
    return plain, (1 - smoothing) * plain - smoothing * chances.mean(-1)


def count_pieces(batch: Batch) -> int:
    """The pieces that are predicted: all but the start."""
    return int(batch.target.mask[:, 1:].sum())
