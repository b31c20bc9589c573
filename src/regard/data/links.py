"""Word links as links between pieces, and as what a decoder's attention should be like.

A link between two words holds between all their pieces. Each piece to predict then shares its look evenly among the
source pieces that it is linked to (Chen et al. 2016, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.data.pair import read_gold
from regard.errors import BrokenData

Linked = Int[np.ndarray, "_ 2"]  # (source piece, target piece)


def piece_links(line: str, source: Sequence[int], target: Sequence[int], *, where: str) -> Linked:
    """The sure links of one line of links, between pieces; `source` and `target` give the word of each piece."""
    words = np.zeros((max(source, default=-1) + 1, max(target, default=-1) + 1), bool)
    sure, _ = read_gold(line)
    for link in sure:
        if link[0] >= words.shape[0] or link[1] >= words.shape[1]:
            raise BrokenData(
                f"{where}: the link {link[0]}-{link[1]} points outside a pair of {words.shape[0]} and "
                f"{words.shape[1]} words.",
                hint="Words are what stands between spaces, counted from 0, the source's first.",
            )
        words[link] = True
    return np.argwhere(words[np.ix_(list(source), list(target))])


def goals(links: Sequence[Linked | None], targets: int, sources: int) -> Float[Tensor, "B T S"]:
    """What each piece to predict should look at, for a padded batch whose targets are framed by start and end."""
    found = torch.zeros(len(links), targets - 1, sources)
    for row, linked in enumerate(links):
        if linked is not None and len(linked):
            found[row, linked[:, 1], linked[:, 0]] = 1.0
    return found / found.sum(-1, keepdim=True).clamp(min=1)
