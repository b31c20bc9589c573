"""A continuous cache (Grave, Joulin and Usunier 2017): attention of a language model over its own past, untrained.

What stood after a state like this one may well stand here again. Each state that has predicted a piece is kept as a
key, and that piece as its value; the next prediction looks at the last N of them,

    p(w) = (1 - l) p_model(w) + l sum_i [x_i = w] softmax_i(theta h_t . h_i)

and the weights of that look say which words before it were taken up. Nothing is learnt but theta and l, which a search
over held-out text chooses. Letters: T pieces of a text, F features of each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.errors import UsageError

STEPS = 512  # predictions that look at once
THETAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6)
SHARES = (0.02, 0.05, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True)
class Reading:
    """A text as a model reads it: what each prediction was made of, which piece was right, and its -log p in nats."""

    features: Float[Tensor, "T F"]
    wanted: Int[Tensor, " T"]
    nll: Float[Tensor, " T"]


@dataclass(frozen=True)
class Cache:
    """How a model looks back at its own states.

    size: how many predictions it looks back at; 0 for none.
    theta: what scores are multiplied with: near 0 all of the past counts alike, high values pick what is most alike.
    share: of the prediction, how much is what was found; the rest is the model's own.
    """

    size: int = 2000
    theta: float = 0.3
    share: float = 0.25

    def __post_init__(self) -> None:
        if self.size < 0 or self.theta < 0 or not 0 <= self.share < 1:
            raise UsageError(
                "cache: expected a size and a theta of 0 or more, and a share from 0 to below 1; "
                f"found size {self.size}, theta {self.theta:g}, share {self.share:g}."
            )

    def nll(self, reading: Reading) -> Float[Tensor, " T"]:
        """-log p of every piece of a text, with the cache."""
        return self.mixed(reading.nll, self.chances(reading))

    def mixed(self, nll: Float[Tensor, " T"], chances: Float[Tensor, " T"]) -> Float[Tensor, " T"]:
        """The model's own prediction and what was found, together; the first piece has no past to look at."""
        if not self.share or not self.size:
            return nll
        both = (1 - self.share) * torch.exp(-nll) + self.share * chances
        return torch.cat((nll[:1], -both[1:].log()))

    def chances(self, reading: Reading) -> Float[Tensor, " T"]:
        """How much weight fell on words that are the right one."""
        found = torch.zeros_like(reading.nll)
        for first, steps, weights in self._looks(reading.features):
            right = reading.wanted[steps].unsqueeze(1) == reading.wanted[first : first + weights.shape[1]]
            found[steps] = (weights * right).sum(1).to(found.dtype)
        return found

    def weights(self, features: Float[Tensor, "T F"]) -> Float[Tensor, "T T"]:
        """How much each prediction looks at each piece before it: all at once, for a text that is drawn."""
        found = features.new_zeros(len(features), len(features))
        for first, steps, weights in self._looks(features):
            found[steps, first : first + weights.shape[1]] = weights
        return found

    def _looks(self, features: Float[Tensor, "T F"]) -> Iterator[tuple[int, slice, Float[Tensor, "Q K"]]]:
        """Some predictions at a time: where the past begins that any of them sees, which they are, and their weights.

        The first prediction of a text sees nothing, and its row is zero.
        """
        for start in range(0, len(features) if self.size else 0, STEPS):
            first, end = max(0, start - self.size), min(start + STEPS, len(features))
            scores = self.theta * (features[start:end] @ features[first:end].mT)
            back = torch.arange(start, end).unsqueeze(1) - torch.arange(first, end)
            seen = (back > 0) & (back <= self.size)
            yield first, slice(start, end), scores.masked_fill(~seen, -torch.inf).softmax(-1).nan_to_num(0.0)


def tuned(cache: Cache, readings: Sequence[Reading]) -> Cache:
    """The theta and the share, of those that are tried, with which held-out texts are likeliest."""
    return min(_tried(cache, readings), key=lambda each: each[0])[1]


def _tried(cache: Cache, readings: Sequence[Reading]) -> Iterator[tuple[float, Cache]]:
    for theta in THETAS:
        found = [replace(cache, theta=theta).chances(each) for each in readings]
        for share in SHARES:
            asked = replace(cache, theta=theta, share=share)
            mixed = [asked.mixed(each.nll, chances) for each, chances in zip(readings, found, strict=True)]
            yield float(sum(each.sum() for each in mixed)), asked
