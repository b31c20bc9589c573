"""What looks back is a triangle: a word may look at the start and at what stands before it, and at nothing else.

A record keeps the start of the sentence in the last column, so that columns stand as pieces do. Where it is drawn the
start comes first, as it came first, and what was not there to be looked at is left empty: no weight is not a weight of
zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from regard.align.alignment import START, Alignment


def start_first(alignment: Alignment) -> Alignment:
    """An alignment of what looks back with the start in its first column; any other as it is."""
    if not looks_back(alignment) or alignment.source[-1:] != (START,):
        return alignment
    return replace(alignment, matrix=np.roll(alignment.numpy(), 1, -1), source=(START, *alignment.source[:-1]))


def looks_back(alignment: Alignment) -> bool:
    """Is it of a decoder's look at what it has written?"""
    return alignment.kind == "decoder-self"


def closed(alignment: Alignment) -> Bool[np.ndarray, "T S"]:
    """What was not there to be looked at, of an alignment with the start first; nothing where it does not look back.

    A weight that is there is never hidden: of a word of several pieces the later ones look at the first. On the
    diagonal, where a row looks at the word just read, a tape has nothing yet; then all of it is zero.
    """
    weights = alignment.numpy()
    if not looks_back(alignment):
        return np.zeros(weights.shape, bool)
    rows, columns = np.indices(weights.shape)
    tape = not np.diagonal(weights).any()
    return (weights == 0) & ((columns > rows) | ((columns == rows) & tape))
