"""Lines of unequal length in one tensor."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from regard.data.tokenizer import PAD
from regard.types import Padded


def pad(lines: Sequence[Sequence[int]], filler: int = PAD) -> Padded:
    """Lines of ids as one tensor, the shorter ones padded."""
    lengths = torch.tensor([len(line) for line in lines])
    data = torch.full((len(lines), int(lengths.max())), filler)
    mask = torch.arange(data.shape[1]) < lengths[:, None]
    data[mask] = torch.tensor([piece for line in lines for piece in line])
    return Padded(data, mask)
