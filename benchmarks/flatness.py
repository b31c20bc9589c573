"""Why scale: what the softmax makes of dot products as the width of queries and keys grows.

With numbers of variance one the dot product of width d has variance d; dividing by sqrt(d) undoes it.
Run by `python benchmarks/mechanisms.py --only scale`.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass

import torch

import regard

WIDTHS, KEYS, DRAWS = (4, 16, 64, 256, 1024), 32, 4000


@dataclass(frozen=True)
class Flatness:
    """How flat attention is: its entropy, the trace of the softmax's Jacobian sum p(1-p), the largest weight."""

    entropy: float
    trace: float
    largest: float


def flatness(width: int, score: str, draws: int = DRAWS, seed: int = 0) -> Flatness:
    """The means over random queries, each with its own random keys."""
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(draws, 1, width, generator=generator)
    keys = torch.randn(draws, KEYS, width, generator=generator)
    shares = regard.attention(query, keys, keys[..., :1], score=score).weights[:, 0]
    entropy = torch.special.entr(shares).sum(1).mean()
    return Flatness(float(entropy), float((shares * (1 - shares)).sum(1).mean()), float(shares.amax(1).mean()))


def rows(draws: int = DRAWS) -> list[tuple[int, tuple[float, ...], tuple[float, ...]]]:
    """For each width: unscaled and scaled."""
    return [
        (width, astuple(flatness(width, "dot", draws)), astuple(flatness(width, "scaled_dot", draws)))
        for width in WIDTHS
    ]
