"""Guided alignment: a term of the loss that draws one attention to known word links.

For each piece to predict, t, with links, A spreads its look evenly over the source pieces that it is linked to, and
the guided head looks with weights α. The term (Chen et al. 2016) is the cross-entropy

    weight · Σ_t Σ_s −A(t, s) log α(t, s) / pieces

Pieces without a link are left alone. α(t, ·) is the look of the step that writes t or, for links alone the better
one, of the step after it, which knows what t is (Chen et al. 2020). In a Transformer one head of one layer is guided
and the others stay free, by default the first head of the last layer but one (Garg et al. 2019); a recurrent decoder
has but one attention. The weights are those that the model looks with, so the gradient reaches all that they are made
of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import UsageError
from regard.learn.state import preserve_rng
from regard.model import Model
from regard.recipe import asks_unread
from regard.types import Attended, Batch, Padded

LEAST = 1e-8  # a weight of zero would cost infinitely much


@dataclass(frozen=True)
class Guide:
    """Which head is guided, counted from 0, and how strongly; with `after`, in the step that is fed the piece."""

    weight: float
    layer: int
    head: int
    after: bool = False

    def __call__(self, looked: tuple[Attended, ...], batch: Batch) -> Float[Tensor, ""]:
        """The term, summed over the batch's pieces."""
        if batch.links is None:
            raise UsageError(
                "the training is guided, and its batches carry no links.",
                hint="Make them with pair_batches(linked=True).",
            )
        weights, links = _of_head(looked[self.layer].weights, self.head), batch.links
        if self.after:  # every piece but the end, which has no links, is followed by a step
            weights, links = weights[:, 1:], links[:, :-1]
        return -self.weight * (links * weights.float().clamp(min=LEAST).log()).sum()


def guide_of(model: Model, settings: Any) -> Guide | None:
    """The guide that a goal asks for (`Write` says how), made sure of on a pair of nothing: is there such a head?"""
    if settings.guide == "none":
        return None
    if settings.forcing != "full":
        raise UsageError(
            f'guide = "{settings.guide}" needs the right pieces fed; found forcing = "{settings.forcing}".',
            hint='Write forcing = "full", or guide = "none".',
        )
    if settings.guide_step == "after" and model.recipe is not None and asks_unread(model.recipe.model):
        raise UsageError(
            'guide_step = "after" draws the look of the step that has read a piece; this decoder asks before it reads.',
            hint='Write guide_step = "writing".',
        )
    shapes = head_counts(model)
    if not shapes:
        raise UsageError(
            f'guide = "{settings.guide}" needs an attention to guide; this model does not attend.',
            hint='Write guide = "none" in [task.goal], or an [attend] table.',
        )
    layer = settings.guide_layer - 1 if settings.guide_layer else max(0, len(shapes) - 2)
    if layer >= len(shapes) or settings.guide_head > shapes[layer]:
        raise UsageError(
            f"the model has {len(shapes)} layers of {shapes[min(layer, len(shapes) - 1)]} heads that look at the "
            f"source; asked to guide layer {layer + 1}, head {settings.guide_head}.",
            hint="Change guide_layer and guide_head in [task.goal]; both are counted from 1.",
        )
    return Guide(settings.guide_weight, layer, settings.guide_head - 1, settings.guide_step == "after")


def head_counts(model: Model) -> list[int]:
    """How many heads each layer has that looks at the source."""
    ids, training = torch.ones(1, 2, dtype=torch.long), model.training
    pair = Padded(ids, torch.ones_like(ids, dtype=torch.bool))
    with preserve_rng(), torch.no_grad():
        looked = model.eval().teach(Batch(pair, pair)).looked
        heads = [each.weights.shape[1] if each.weights.dim() == 4 else 1 for each in looked]
    model.train(training)
    return heads


def _of_head(weights: Tensor, head: int) -> Float[Tensor, "B T S"]:
    return weights[:, head] if weights.dim() == 4 else weights
