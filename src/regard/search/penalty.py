"""How finished outputs are ranked: log-likelihood / lp + cp (Wu et al. 2016, section 7).

    lp(Y)    = ((5 + |Y|) / 6) ^ alpha
    cp(X; Y) = beta * sum over source positions i of log(min(sum over target steps j of p_ij, 1))

|Y| counts the end, which has to be written too, so that the empty output has lp = 1. Of a text that is continued
lp(Y) = |Y| ^ alpha, and |Y| counts what was written after its beginning; alpha = 1 is the mean over pieces.

Letters: N hypotheses, S source positions.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.errors import UsageError
from regard.search.options import Number, Options
from regard.types import Attended

UNSEEN = 1e-6  # the least that a position counts as looked at: hard attention leaves exact zeros, and log 0 is no score


def length_penalty(length: Int[Tensor, " N"], alpha: Number) -> Float[Tensor, " N"]:
    """lp: what a log-likelihood is divided by; `length` counts the end."""
    return ((5 + length.double()) / 6) ** alpha


def continued_penalty(length: Int[Tensor, " N"], alpha: Number) -> Float[Tensor, " N"]:
    """lp of a text that is continued; `length` counts the end, unless it was cut."""
    return length.double() ** alpha


def coverage_penalty(covered: Float[Tensor, "N S"], real: Bool[Tensor, "N S"], beta: Number) -> Float[Tensor, " N"]:
    """cp: zero where every real position was looked at with a total weight of one or more, negative elsewhere."""
    return beta * (covered.double().clamp(UNSEEN, 1.0).log() * real).sum(-1)


def looked_at(looked: tuple[Attended, ...]) -> Float[Tensor, "N S"]:
    """How much weight each source position got in these steps: the mean over layers and heads, summed over steps."""
    if not looked:
        raise UsageError(
            "the coverage penalty counts what was looked at, and this model does not attend.",
            hint="Write beta = 0.",
        )
    layers = [heads_apart(each.weights).mean(1).sum(1) for each in looked]
    return torch.stack(layers).mean(0)


def heads_apart(weights: Float[Tensor, "... T S"]) -> Float[Tensor, "B H T S"]:
    """Weights with an axis for heads, also where there is one head only."""
    return (weights if weights.dim() == 4 else weights.unsqueeze(1)).float()


def ranks(
    likelihood: Float[Tensor, " N"],
    length: Int[Tensor, " N"],
    options: Options,
    covered: Float[Tensor, "N S"] | None,
    real: Bool[Tensor, "N S"],
) -> Float[Tensor, " N"]:
    """The scores that finished outputs are ranked by."""
    penalty = continued_penalty if options.continues else length_penalty
    scores = likelihood / penalty(length, options.exponent)
    return scores if covered is None else scores + coverage_penalty(covered, real, options.beta)
