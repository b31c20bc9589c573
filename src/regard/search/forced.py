"""Forcing: given outputs as if the model had written them; how likely they are and what they looked at.

Letters: B sentences, T pieces and the end, S source positions.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.model import Model
from regard.search.constraints import LEAST, refuse_nan
from regard.search.hypothesis import Hypothesis
from regard.search.loop import in_use, read
from regard.search.options import Options
from regard.search.penalty import heads_apart, looked_at, ranks
from regard.types import Attended, Batch, Padded, nothing


def force(model: Model, batch: Batch, options: Options | None = None, *, record: bool = False) -> list[Hypothesis]:
    """One hypothesis for each pair, as search would have returned it; `options` matter for its score alone.

    The target is framed by start and end, as in every batch.
    """
    if not batch.target.data.shape[0]:
        return []
    options = options or Options()
    given, real = batch.target.data[:, 1:], batch.target.mask[:, 1:]
    with in_use(model):
        memory = read(model, nothing(len(batch)) if batch.source is None else batch.source)
        taught = model.predict.teach(Padded(batch.target.data[:, :-1], real), memory)
        likelihood = -_nll(taught.logits, given, real).sum(1)
        refuse_nan(likelihood)
        looked = tuple(_rows_cleared(each, real) for each in taught.looked)
        covered = looked_at(looked) if options.beta else None
        lengths = real.sum(1)
        score = ranks(likelihood, lengths, options, covered, memory.mask)
        weights = [heads_apart(each.weights) for each in looked] if record else []
    return [
        Hypothesis(
            tuple(given[row, : length - 1].tolist()),
            float(score[row]),
            float(likelihood[row]),
            tuple(layer[row, :, :length][..., memory.mask[row]] for layer in weights),
        )
        for row, length in enumerate(lengths.tolist())
    ]


def _nll(logits: Float[Tensor, "B T V"], given: Tensor, real: Tensor) -> Float[Tensor, "B T"]:
    """-log p of each given piece, zero for padding."""
    nll = F.cross_entropy(logits.flatten(0, 1).float(), given.flatten(), reduction="none")
    return nll.view_as(given).double().clamp(max=-LEAST) * real


def _rows_cleared(looked: Attended, real: Tensor) -> Attended:
    """What was looked at, without the looks of padding, which would count as coverage."""

    def look() -> Tensor:
        weights = looked.weights
        return weights * (real.unsqueeze(-1) if weights.dim() == 3 else real[:, None, :, None])

    return Attended(looked.context, look)
