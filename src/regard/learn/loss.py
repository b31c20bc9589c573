"""What a step minimises: how unlikely the right pieces are, and what parts add to it."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.hooks import loss_terms
from regard.learn.cross_entropy import negative_log_likelihoods, product_nll
from regard.learn.forcing import mixed
from regard.learn.guide import Guide
from regard.learn.sampled import draw_pieces
from regard.model import Model
from regard.task import Loss, Objective
from regard.types import Batch, Taught


def sequence_loss(
    model: Model,
    batch: Batch,
    *,
    smoothing: float = 0.0,
    own: float = 0.0,
    guide: Guide | None = None,
    sampled: int = 0,
) -> Loss:
    """Teach a batch: the mean over real pieces of -log p, and the side terms of hard choices and gates.

    Side terms are on the scale of one pair's log-likelihood, so both are divided by the pieces of a pair.

    Args:
        smoothing: share of the goal that is spread over the vocabulary.
        own: share of pieces that are fed from the model's own predictions instead of the right ones.
        guide: adds what draws an attention to the batch's links.
        sampled: score so many of the commonest pieces, and others as `learn.sampled` draws them; 0 scores all.
    """
    samples = 1 if own or guide is not None else wanted_samples(model)
    with loss_terms() as extra:
        taught = Taught(mixed(model, batch, own)) if own else _taught(model, batch, samples)
    wanted, real = (each[:, 1:].repeat(samples, 1) for each in (batch.target.data, batch.target.mask))
    plain, goal = _of_pieces(taught, wanted, real, smoothing, sampled)
    nll = torch.zeros(wanted.shape, dtype=plain.dtype, device=plain.device).masked_scatter(real, plain)
    pieces = batch.count * samples
    total = (extra(-nll, real, samples) * len(wanted) + goal) / pieces
    if guide is not None:
        total = total + guide(taught.looked, batch) / pieces
    return Loss(total, nll.sum() / pieces, batch.count)


def wanted_samples(model: Model) -> int:
    """How many samples of each item the parts of a model want that draw."""
    return max(getattr(each, "wanted_samples", 1) for each in model.modules()) if model.training else 1


def _taught(model: Model, batch: Batch, samples: int) -> Taught:
    return model.teach(batch, samples) if samples > 1 else model.teach(batch)


def _of_pieces(
    taught: Taught, wanted: Int[Tensor, "B T"], real: Bool[Tensor, "B T"], smoothing: float, sampled: int
) -> tuple[Float[Tensor, " N"], Float[Tensor, ""]]:
    """-log p of each real piece, to be reported; and the sum of what is to be minimised."""
    places = real.flatten().nonzero().squeeze(1)
    rows, pieces = taught.rows.flatten(0, 1).index_select(0, places), wanted.flatten().index_select(0, places)
    if taught.table is not None and 0 < sampled < len(taught.table):
        drawn = draw_pieces(len(taught.table), sampled, pieces)
        bias = drawn.log_weights if taught.bias is None else taught.bias[drawn.pieces] + drawn.log_weights
        return product_nll(rows, taught.table.index_select(0, drawn.pieces), bias, drawn.wanted, 0.0)
    if taught.table is not None:
        return product_nll(rows, taught.table, taught.bias, pieces, smoothing)
    plain, goal = negative_log_likelihoods(rows.float(), pieces, smoothing)
    return plain.detach(), goal.sum()


def _plain(model: Model, batch: Batch, number: int) -> Loss:
    return sequence_loss(model, batch)


PLAIN = Objective("loss", _plain)  # the likelihood of the right pieces, and nothing beside it
