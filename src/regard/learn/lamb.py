"""LAMB (You et al. 2020), which PyTorch does not have: Adam whose steps are as long as the weights ask for.

For each matrix w, with Adam's moments m and v of its gradient, corrected for their beginning at zero:

    u = m / (sqrt(v) + epsilon) + decay w        w <- w - rate |w| / |u| u

so that every layer moves by the same share of itself, however large the batch and its rate. Vectors (norms and biases)
take the step without the ratio and without decay, as in the code of ALBERT's authors; so does a matrix of zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, optim


class Lamb(optim.Optimizer):
    """The optimiser as PyTorch has others."""

    def __init__(self, params: Any, lr: float, betas: tuple[float, float], eps: float) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": 0.0})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Move every weight that has a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    update = _adam(weight.grad, self.state[weight], group["betas"], group["eps"])
                    update.add_(weight, alpha=group["weight_decay"])
                    ratio = _trust(weight, update) if weight.dim() > 1 else update.new_ones(())
                    weight.sub_(update * (group["lr"] * ratio))
        return loss


def _adam(gradient: Tensor, state: dict[str, Any], betas: tuple[float, float], epsilon: float) -> Tensor:
    """Adam's step before any rate; the moments are kept in `state`."""
    if not state:
        state["step"] = torch.zeros(())
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(gradient), torch.zeros_like(gradient)
    state["step"] += 1
    mean, square, count = state["exp_avg"], state["exp_avg_sq"], float(state["step"])
    mean.lerp_(gradient, 1 - betas[0])
    square.mul_(betas[1]).addcmul_(gradient, gradient, value=1 - betas[1])
    root = (square / (1 - betas[1] ** count)).sqrt_().add_(epsilon)
    return mean / (1 - betas[0] ** count) / root


def _trust(weight: Tensor, update: Tensor) -> Tensor:
    """|w| / |u|; 1 where either is zero."""
    lengths = weight.norm(), update.norm()
    some = (lengths[0] > 0) & (lengths[1] > 0)
    return torch.where(some, lengths[0] / torch.where(some, lengths[1], 1.0), 1.0)
