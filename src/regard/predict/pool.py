"""Pooling: the states of a source as one vector, without anything to learn."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from regard import masks
from regard.errors import UnknownName
from regard.types import Memory

Pooling = Literal["mean", "first", "max"]


def pooled(memory: Memory, how: str) -> Float[Tensor, "B E"]:
    """The mean of the real states, the first of them, or the largest of each number; zeros where there is none."""
    if how == "mean":
        return masks.mean(memory.values, memory.mask)
    if how == "first":
        return memory.values[:, 0]
    if how != "max":
        raise UnknownName("pooling", how, get_args(Pooling))
    low = torch.finfo(memory.values.dtype).min
    found = memory.values.masked_fill(~memory.mask.unsqueeze(-1), low).amax(1)
    return found * memory.mask.any(1, keepdim=True)
