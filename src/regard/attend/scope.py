"""Scopes: which keys may a query look at? Everything, its past, or a window.

A window is gathered, not masked out of a full matrix: a local scope costs its window, whatever the length of
the source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard import masks
from regard.registry import part
from regard.types import Count, Prepared, Whole

Queries = Float[Tensor, "*B Q D"]
Sigma = Annotated[float, Ge(0)]


@dataclass(frozen=True)
class View:
    """What one call may look at: every key (`index` is None), or for each query the window `index` of keys.

    `tilt` multiplies the weights after they are chosen: the Gaussian of local-p.
    """

    allowed: Bool[Tensor, "*#B #Q N"]
    index: Int[Tensor, "*B Q N"] | None = None
    tilt: Float[Tensor, "*B Q N"] | None = None
    renormalise: bool = False


class Scope(nn.Module):
    """What every scope offers. `start` is the position of the first query; None leaves it to the scope.

    `whole` says that the scope looks at all keys under a mask, so that a fused kernel can do it; `positional`
    that where a key stands matters; `follows` that where the query stands does; `convex` that the weights of a
    query sum to what the choice made them.
    """

    whole = False
    positional = True
    follows = True
    convex = True

    def forward(self, query: Queries, prepared: Prepared, start: int | None = None) -> View:
        """The keys each query may look at."""
        raise TypeError(f"{type(self).__name__} does not say where it looks")


@part("scope", "global")
class Global(Scope):
    """Every real key."""

    whole = True
    positional = False
    follows = False

    def __init__(self, query: int) -> None:
        super().__init__()

    def forward(self, query: Queries, prepared: Prepared, start: int | None = None) -> View:
        """All keys that the mask allows."""
        return View(prepared.mask)


@part("scope", "causal")
class Causal(Scope):
    """The keys up to the query's own position: nothing of the future.

    Without a stated start the last query stands at the last key, as when new steps follow remembered ones.
    """

    whole = True

    def __init__(self, query: int) -> None:
        super().__init__()

    def forward(self, query: Queries, prepared: Prepared, start: int | None = None) -> View:
        """All keys that the mask allows and that are not later than the query."""
        queries, keys = query.shape[-2], prepared.keys.shape[-2]
        first = keys - queries if start is None else start
        return View(prepared.mask & masks.causal(queries, keys, first, query.device))


class Local(Scope):
    """A window of `reach` keys to either side of a centre."""

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.reach = reach

    def around(self, centre: Int[Tensor, "*B Q"], prepared: Prepared) -> tuple[Tensor, Tensor]:
        """The window's positions, kept within the keys, and which of them may be looked at."""
        steps = torch.arange(-self.reach, self.reach + 1, device=centre.device)
        wanted = centre.unsqueeze(-1) + steps
        last = prepared.mask.shape[-1] - 1
        index = wanted.clamp(0, last)
        real = prepared.mask.expand(*index.shape[:-1], last + 1).gather(-1, index)
        return index, real & (wanted == index)


@part("scope", "local_m")
class LocalMonotonic(Local):
    """local-m: target position t looks around source position t (Luong 2015, section 3.2).

    Settings:
        reach: keys to either side of the centre; the paper's D.
    """

    def __init__(self, query: int, *, reach: Count = 10) -> None:
        super().__init__(reach)

    def forward(self, query: Queries, prepared: Prepared, start: int | None = None) -> View:
        """The window around each query's own position, the last real key at the latest."""
        first = start or 0
        places = torch.arange(first, first + query.shape[-2], device=query.device)
        last = (prepared.lengths - 1).clamp(min=0).expand(query.shape[:-1])
        index, allowed = self.around(torch.minimum(places, last), prepared)
        return View(allowed, index)


@part("scope", "local_p")
class LocalPredictive(Local):
    """local-p: the query says where to look, p = (S - 1) sigmoid(v . tanh(W q)), and nearer keys count more.

    The order is the paper's: softmax inside the window around floor(p), then times exp(-(s - p)^2 / (2 sigma^2)),
    not renormalised. The gradient reaches p through that factor alone. Counted from 0, p runs over the real
    keys, as in the authors' code.

    Settings:
        reach: keys to either side of the centre; the paper's D.
        sigma: the width of the Gaussian; 0 takes reach / 2 as the paper does.
        hidden: the width of the network that finds p; 0 takes the query's width.
        renormalise: let the weights sum to one again after the Gaussian; the paper does not.
    """

    follows = False

    def __init__(
        self, query: int, *, reach: Count = 10, sigma: Sigma = 0.0, hidden: Whole = 0, renormalise: bool = False
    ) -> None:
        super().__init__(reach)
        self.sigma = sigma or reach / 2
        self.renormalise = self.convex = renormalise
        self.project = nn.Linear(query, hidden or query, bias=False)
        self.vector = nn.Linear(hidden or query, 1, bias=False)

    def centre(self, query: Queries, prepared: Prepared) -> Float[Tensor, "*B Q"]:
        """p: a real number between the first and the last real key."""
        share = torch.sigmoid(self.vector(torch.tanh(self.project(query)))).squeeze(-1)
        return (prepared.lengths - 1).clamp(min=0) * share

    def forward(self, query: Queries, prepared: Prepared, start: int | None = None) -> View:
        """The window around floor(p), tilted towards p."""
        centre = self.centre(query, prepared)
        index, allowed = self.around(centre.detach().floor().long(), prepared)
        distance = index - centre.unsqueeze(-1)
        tilt = torch.exp(-(distance**2) / (2 * self.sigma**2)).to(query.dtype)
        return View(allowed, index, tilt, self.renormalise)
