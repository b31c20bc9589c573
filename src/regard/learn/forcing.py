"""Scheduled teacher forcing: a decoder that is sometimes fed its own predictions (Bengio et al. 2015).

With full forcing a decoder never sees its own mistakes in training, and has to live with them in use.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from regard.hooks import writing
from regard.model import Model
from regard.types import Batch


def mixed(model: Model, batch: Batch, own: float) -> Float[Tensor, "B T V"]:
    """The logits of every step, each fed the likeliest piece of the step before with probability `own`.

    Each piece of each pair is decided by itself; what is wanted stays the right piece. No gradient goes
    through a prediction that is fed.
    """
    target = batch.target.data
    state, token, logits = model.start(batch.source), target[:, 0], []
    for column in range(1, target.shape[1]):
        with writing(column - 1):
            stepped = model.step(token, state)
        state = stepped.state
        logits.append(stepped.logits)
        ours = torch.rand(len(token), device=token.device) < own
        token = torch.where(ours, stepped.logits.detach().argmax(-1), target[:, column])
    return torch.stack(logits, 1)
