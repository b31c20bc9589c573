"""The optimiser that the settings name."""

from __future__ import annotations

from torch import nn, optim

from regard.learn.settings import Standard
from regard.learn.spread import is_divided


def optimiser_for(model: nn.Module, settings: Standard) -> optim.Optimizer:
    """The optimiser of a model's weights; weight decay draws matrices only.

    The fused kernels take a tenth of the time of the plain ones on a CPU; adadelta has none, and that of "sgd" cannot
    take weights that are divided among processes.
    """
    every = list(model.parameters())
    groups = [
        {"params": [each for each in every if each.dim() > 1], "weight_decay": settings.weight_decay},
        {"params": [each for each in every if each.dim() <= 1], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    rate, epsilon = settings.rate, settings.epsilon
    if settings.optimiser == "adadelta":
        return optim.Adadelta(groups, lr=rate, rho=settings.betas[1], eps=epsilon)
    if settings.optimiser == "sgd":
        return optim.SGD(groups, lr=rate, momentum=settings.momentum, fused=not is_divided(model))
    kind = optim.AdamW if settings.optimiser == "adamw" else optim.Adam
    return kind(groups, lr=rate, betas=settings.betas, eps=epsilon, fused=True)


def copies_of(settings: Standard) -> int:
    """How many numbers the optimiser keeps for each weight."""
    return {"sgd": int(settings.momentum > 0)}.get(settings.optimiser, 2)
