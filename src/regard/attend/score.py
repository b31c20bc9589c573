"""Scores: how relevant is key k to query q? Pure functions first, parts second.

A score sees one key at a time: what it says of a key never depends on the other keys. `prepare` turns keys
into the form the score wants, once per sentence; `location` uses it to turn keys into their positions.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.registry import part
from regard.types import Count

Queries = Float[Tensor, "*B Q D"]
Keys = Float[Tensor, "*B K A"]
Scores = Float[Tensor, "*B Q K"]


def dot(query: Queries, keys: Float[Tensor, "*B K D"]) -> Scores:
    """q . k (Luong 2015)."""
    return query @ keys.mT


def scaled_dot(query: Queries, keys: Float[Tensor, "*B K D"]) -> Scores:
    """q . k / sqrt(D) (Vaswani 2017): its variance does not grow with the width, so the softmax keeps a gradient."""
    return (query / math.sqrt(query.shape[-1])) @ keys.mT


def cosine(query: Queries, keys: Float[Tensor, "*B K D"]) -> Scores:
    """cos(q, k) (Graves 2014), without its sharpness: in [-1, 1], so a softmax over it stays flat."""
    return dot(_unit(query), _unit(keys))


def _unit(vectors: Float[Tensor, "*B N D"]) -> Float[Tensor, "*B N D"]:
    # The smallest length is one that squares to a normal number in half precision too.
    return F.normalize(vectors, dim=-1, eps=1e-3 if vectors.dtype in (torch.float16, torch.bfloat16) else 1e-8)


class Score(nn.Module):
    """What every score offers. A new one overrides `forward`, and `prepare` where keys can be projected ahead.

    `function` is the score with nothing to learn, where there is one: what `regard.attention` takes by name.
    `scale` is set where the score is `scale * (query . prepared key)`: then PyTorch's fused kernel can do it.
    `positional` says that where a key stands matters, not only what it is.
    """

    function: ClassVar[Any] = None
    scale: float | None = None
    positional: ClassVar[bool] = False

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """The keys in the form `forward` wants them; `start` is the position of the first of them."""
        return keys

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """The score of each prepared key for each query."""
        raise TypeError(f"{type(self).__name__} does not say how it scores")


def _same_width(name: str, query: int, key: int) -> None:
    if query != key:
        raise ShapeError(
            f"the score '{name}' needs queries and keys of one width; the query has {query}, the key {key}.",
            hint='Write part = "general" or "additive", which take any two widths.',
        )


@part("score", "dot")
class Dot(Score):
    """q . k: nothing to learn; queries and keys share a width."""

    function = staticmethod(dot)
    scale = 1.0

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        _same_width("dot", query, key)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """q . k."""
        return dot(query, keys)


@part("score", "scaled_dot")
class ScaledDot(Score):
    """q . k / sqrt(D): the dot product whose size does not grow with the width."""

    function = staticmethod(scaled_dot)

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        _same_width("scaled_dot", query, key)
        self.scale = 1 / math.sqrt(key)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """q . k / sqrt(D)."""
        return scaled_dot(query, keys)


@part("score", "general")
class General(Score):
    """q' W k: a learned bilinear form, for any two widths (Luong 2015).

    W is kept as sqrt(D) W. Adam moves every number of a matrix equally far, and in a score all of them add up:
    kept as it is, W makes attention stare at one word within some hundred updates, before it knows which. Plain
    descent moves W as far as its gradient says, and what is kept as sqrt(D) W only by 1 / D of that.

    Settings:
        scaled: keep W as sqrt(D) W, for Adam; false keeps W itself, which a paper's numbers for W and for "sgd" are of.
    """

    scale = 1.0

    def __init__(self, query: int, key: int, *, scaled: bool = True) -> None:
        super().__init__()
        self.project = nn.Linear(key, query, bias=False)
        self.factor = 1 / math.sqrt(key) if scaled else 1.0
        reach = 1 / (math.sqrt(key) * self.factor)  # so that W itself begins alike either way
        nn.init.uniform_(self.project.weight, -reach, reach)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """W k, once per sentence."""
        return self.project(keys) * self.factor

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """q . (W k)."""
        return dot(query, keys)


@part("score", "cosine")
class Cosine(Score):
    """b cos(q, k), with a sharpness b = 1 + softplus(w q + b0) read off the query (Graves 2014)."""

    function = staticmethod(cosine)

    def __init__(self, query: int, key: int) -> None:
        super().__init__()
        _same_width("cosine", query, key)
        self.sharpness = nn.Linear(query, 1)
        # Without sharpness no weight over S keys can exceed e^2 / (e^2 + S - 1); begin where a softmax over
        # twenty keys can already give nine tenths to one.
        nn.init.zeros_(self.sharpness.weight)
        nn.init.constant_(self.sharpness.bias, 4.0)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """k / |k|, once per sentence."""
        return _unit(keys)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """b cos(q, k)."""
        return (1 + F.softplus(self.sharpness(query))) * dot(_unit(query), keys)


@part("score", "location")
class Location(Score):
    """(W q)[position]: where to look, from the query alone; the keys are not read (Luong 2015).

    Settings:
        longest: the most positions it can tell apart; a longer source is refused.
    """

    positional = True

    def __init__(self, query: int, key: int, *, longest: Count = 100) -> None:
        super().__init__()
        self.longest = longest
        self.project = nn.Linear(query, longest)

    def prepare(self, keys: Float[Tensor, "*B K D"], start: int = 0) -> Keys:
        """The position of each key, so that a window of keys keeps knowing where it is."""
        end = start + keys.shape[-2]
        if end > self.longest:
            raise ShapeError(
                f"the score 'location' knows {self.longest} positions; the source has {end}.",
                hint=f"Write longest = {end} or more in its table, or shorten the source.",
            )
        places = torch.arange(start, end, dtype=torch.float32, device=keys.device).unsqueeze(-1)
        return places.expand(*keys.shape[:-1], 1)

    def forward(self, query: Queries, keys: Keys) -> Scores:
        """The entry of W q at each key's position."""
        index = keys.mT.long().expand(*query.shape[:-1], keys.shape[-2])
        return self.project(query).gather(-1, index)
