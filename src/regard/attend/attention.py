"""Attention: a score, a scope and a choice, put together. The pure function first, the part second."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard import masks
from regard.attend.choice import Choice
from regard.attend.scope import Scope, View
from regard.attend.score import Score
from regard.errors import ShapeError, UsageError
from regard.fast import shortcuts
from regard.fast.dropout import drop
from regard.fast.dropped_attention import dropped_attention
from regard.hooks import Looked, Weighed, hooked, tell
from regard.registry import Maker, find, maker, part
from regard.types import Attended, Prepared, Share

Queries = Float[Tensor, "*B Q D"]
Real = Bool[Tensor, "*#B Q"] | None


def attention(
    query: Float[Tensor, "..."],
    keys: Float[Tensor, "..."],
    values: Float[Tensor, "..."],
    *,
    mask: Bool[Tensor, "..."] | None = None,
    score: str | Score = "scaled_dot",
    scope: str | Scope = "global",
    choice: str | Choice = "soft",
) -> Attended:
    """Look at `keys` with `query` and take `values` home: the context and the weights.

    Shapes: query (B Q D), keys (B K C), values (B K E), mask (B K) or (B Q K); context (B Q E), weights (B Q K).
    `score`, `scope` and `choice` are names where there is nothing to learn, or parts where there is:
    `regard.part("score", "additive", query=512, key=1024)`. Mask: True = may be looked at; a row that may look
    at nothing gets zero weights and a zero context.
    """
    _check_shapes(query, keys, values, mask)
    found = Attention.of(
        _scorer(score, query.shape[-1], keys.shape[-1]),
        _unlearned("scope", scope, query.shape[-1]),
        _unlearned("choice", choice, keys.shape[-1]),
    )
    attended = found.explicit(query, found.prepare(keys, values, mask))
    tell_looked(found, attended, 0)
    return attended


def _check_shapes(query: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None) -> None:
    """Refuse tensors that do not fit one another, in words: this is where users' own tensors come in."""
    for name, tensor in (("query", query), ("keys", keys), ("values", values)):
        if tensor.dim() != 3:
            raise ShapeError(
                f"{name} must have three axes (batch, positions, width); it has shape {tuple(tensor.shape)}."
            )
    if keys.shape[:2] != values.shape[:2] or query.shape[0] != keys.shape[0]:
        raise ShapeError(
            f"query, keys and values must share a batch, and keys and values their positions; they have shapes "
            f"{tuple(query.shape)}, {tuple(keys.shape)} and {tuple(values.shape)}."
        )
    one, own = (query.shape[0], keys.shape[1]), (*query.shape[:2], keys.shape[1])
    if mask is not None and tuple(mask.shape) not in (one, own):
        raise ShapeError(
            f"the mask must have shape (batch, keys) = {one} or (batch, queries, keys) = {own}; "
            f"it has {tuple(mask.shape)}."
        )


class _Function(Score):
    """A pure score function in the place of a score part."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.of = function

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return self.of(query, keys)


def _scorer(score: str | Score, query: int, key: int) -> Score:
    if isinstance(score, Score):
        return score
    cls = find("score", score)
    function = getattr(cls, "function", None)
    if function is None:
        return _unlearned("score", score, query, key)
    cls(query, key)  # refuses widths that do not fit, in words
    return _Function(function)


def _unlearned(kind: str, named: Any, *given: int) -> Any:
    """A part by name, as long as it has nothing to learn; parts pass through."""
    if not isinstance(named, str):
        return named
    built = find(kind, named)(*given)
    if next(built.parameters(), None) is not None:
        raise UsageError(
            f"the {kind} '{named}' has something to learn, so its name is not enough.",
            hint=f'Build it once, keep it, and pass it: regard.part("{kind}", "{named}", ...).',
        )
    return built


def window(rows: Float[Tensor, "*B K D"], index: Int[Tensor, "*B Q N"]) -> Float[Tensor, "*B Q N D"]:
    """For each query its own few rows. Costs what is gathered, forward; backward, one gradient of the rows."""
    count, width = rows.shape[-2:]
    flat = rows.reshape(-1, width)
    first = torch.arange(0, flat.shape[0], count, device=rows.device).view(*rows.shape[:-2], 1, 1)
    return flat.index_select(0, (index + first).flatten()).view(*index.shape, width)


def scattered(weights: Float[Tensor, "*B Q N"], index: Int[Tensor, "*B Q N"], keys: int) -> Float[Tensor, "*B Q K"]:
    """The weights of a window at their places among all keys."""
    return weights.new_zeros(*weights.shape[:-1], keys).scatter_add(-1, index, weights)


@part("attend", "attention")
class Attention(nn.Module):
    """One look: score every key in scope, choose, and mix the values.

    Settings:
        score: how relevant a key is to a query.
        scope: which keys a query may look at.
        choice: how scores become weights.
        dropout: share of the weights dropped in training.
    """

    # Keys up to which the open way is faster than PyTorch's fused kernel, which is made for long sequences: its
    # bookkeeping costs more than all products of so few, and in half precision its way back is a dozen times as slow.
    short: ClassVar[int] = 32
    short_in_half: ClassVar[int] = 160

    def __init__(
        self,
        query: int,
        key: int,
        value: int,
        *,
        score: Maker = maker("score", "additive"),
        scope: Maker = maker("scope", "global"),
        choice: Maker = maker("choice", "soft"),
        dropout: Share = 0.0,
    ) -> None:
        super().__init__()
        self.width = value
        self.score: Score = score(query, key)
        self.scope: Scope = scope(query)
        self.choice: Choice = choice(key)
        self.choice.meet(query)
        self.dropout = dropout

    @classmethod
    def of(cls, score: Score, scope: Scope, choice: Choice) -> Attention:
        """An attention of parts that are already built."""
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made.score, made.scope, made.choice, made.dropout = score, scope, choice, 0.0
        return made

    def prepare(
        self,
        keys: Float[Tensor, "*B K C"],
        values: Float[Tensor, "*B K E"],
        mask: Bool[Tensor, "*#B K"] | Bool[Tensor, "*#B Q K"] | None = None,
        start: int = 0,
        gates: Float[Tensor, "*#B K"] | None = None,
    ) -> Prepared:
        """Do once what every query will need of the keys; `start` is the position of the first of them.

        `gates` are the log odds that each key is open, where the memory came with them.
        """
        if mask is None:
            mask = torch.ones(keys.shape[:-1], dtype=torch.bool, device=keys.device)
        if mask.dim() < keys.dim():
            mask = mask.unsqueeze(-2)
        found = self._gates(keys, mask.any(-2), gates)
        return Prepared(self.score.prepare(keys, start), _as_multiplied(values), mask, found)

    def _gates(self, keys: Tensor, mask: Tensor, logits: Tensor | None) -> Tensor | None:
        if self.choice.takes_gates != (logits is not None):
            raise _gates_misfit(logits is not None)
        if logits is not None:
            return self.choice.draw(logits, mask).expand(keys.shape[:-1])
        return None if self.choice.soft else self.choice.prepare(keys, mask)

    def forward(self, query: Queries, prepared: Prepared, *, start: int | None = None, real: Real = None) -> Attended:
        """Look. `start` is the position of the first query; `real` marks the queries that are not padding."""
        if self.fusible and shortcuts() and not self._is_short(prepared.keys):
            return self.fused(query, prepared, start)
        attended = self.explicit(query, prepared, start, real)
        tell_looked(self, attended, start or 0)
        return attended

    def _is_short(self, keys: Float[Tensor, "*B K A"]) -> bool:
        """Are there so few keys that the open way is the faster one? A graph for elsewhere has the kernel always."""
        most = self.short if keys.element_size() > 2 or self._drops_at_once(keys) else self.short_in_half
        return keys.shape[-2] <= most and not torch.compiler.is_compiling()

    def _drops_at_once(self, keys: Float[Tensor, "*B K A"]) -> bool:
        """Is it our own kernel that looks, which drops weights? PyTorch's does so on a graphics card alone."""
        drops = self.training and self.dropout > 0 and keys.device.type == "cpu"
        return drops and torch.is_grad_enabled() and not torch.compiler.is_compiling()

    @property
    def fusible(self) -> bool:
        """Can PyTorch's fused kernel do this attention?"""
        return self.score.scale is not None and self.scope.whole and self.choice.soft

    @property
    def network(self) -> Any:
        """What the additive score learns, if this is a softmax of it over all keys and nothing else."""
        plain = self.scope.whole and self.choice.soft and not (self.training and self.dropout)
        return getattr(self.score, "network", None) if plain else None

    def explicit(self, query: Queries, prepared: Prepared, start: int | None = None, real: Real = None) -> Attended:
        """Every step in the open; the weights stay in memory."""
        view = self.scope(query, prepared, start)
        if view.index is None:
            weights = self._chosen(query, self.score(query, prepared.keys), view.allowed, _rows(prepared.gates), real)
            weights = weighed(self, weights, start)
            kept = self._drop(weights)
            return Attended(kept @ prepared.values, lambda: weights, lambda values: kept @ values, prepared.gates)
        return self._windowed(query, prepared, view, view.index, start, real)

    def _chosen(self, query: Queries, scores: Tensor, allowed: Tensor, gates: Tensor | None, real: Real) -> Tensor:
        if self.choice.takes_queries:
            return self.choice(scores, allowed, gates, real, query=query)
        return self.choice(scores, allowed, gates, real)

    def _windowed(
        self, query: Queries, prepared: Prepared, view: View, index: Tensor, start: int | None, real: Real
    ) -> Attended:
        # A window is one more batch axis: each query sees its own few keys.
        keys, values = window(prepared.keys, index), window(prepared.values, index)
        gates = None if prepared.gates is None else window(prepared.gates.unsqueeze(-1), index).squeeze(-1)
        scores = self.score(query.unsqueeze(-2), keys).squeeze(-2)
        weights = self._chosen(query, scores, view.allowed, gates, real)
        if view.tilt is not None:
            weights = weights * view.tilt
        if view.renormalise:
            weights = masks.normalise(weights)
        count = prepared.keys.shape[-2]
        if hooked(Weighed):
            everywhere = weighed(self, scattered(weights, index, count), start)
            return Attended(everywhere @ prepared.values, lambda: everywhere, gates=prepared.gates)
        context = (self._drop(weights).unsqueeze(-2) @ values).squeeze(-2)
        return Attended(context, lambda: scattered(weights, index, count), gates=prepared.gates)

    def fused(self, query: Queries, prepared: Prepared, start: int | None = None) -> Attended:
        """PyTorch's fused kernel, or ours; the weights are computed only if someone asks for them."""
        allowed = self.scope(query, prepared, start).allowed
        # One mask for all heads: PyTorch turns it into numbers, at the size that it is given, and keeps them.
        mask = None if masks.is_open(allowed) else allowed
        asked, keys, values = query, prepared.keys, prepared.values
        scale = self.score.scale
        if query.dim() == 3:  # the kernel is for four axes; with three PyTorch quietly goes another, slower way
            asked, keys, values = (each.unsqueeze(1) for each in (asked, keys, values))
            mask = None if mask is None else mask.unsqueeze(1)
        if scale is not None and self._drops_at_once(keys):
            context = dropped_attention(asked, keys, values, mask, self.dropout, scale)
        else:
            dropout = self.dropout if self.training else 0.0
            context = F.scaled_dot_product_attention(asked, keys, values, mask, dropout, scale=scale)
        context = context.reshape(*query.shape[:-1], -1)
        if mask is not None:  # the kernels do not agree on a row that may look at nothing; we do
            sees = allowed.any(-1, keepdim=True)
            context = context if masks.is_open(sees) else context.masked_fill(~sees, 0.0)
        return Attended(context, lambda: self.choice(self.score(query, prepared.keys), allowed))

    def _drop(self, weights: Tensor) -> Tensor:
        return drop(weights, self.dropout, self.training)


def _as_multiplied(values: Tensor) -> Tensor:
    """In the precision that products are made in: under autocast every look would bring them into it anew."""
    kind = values.device.type
    return values.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else values


def _gates_misfit(given: bool) -> UsageError:
    if given:
        return UsageError(
            "the memory comes with gates, and the choice of this attention does not use them.",
            hint='Write choice = { part = "gated", gates = "memory" } in [attend], or take another part in [encode].',
        )
    return UsageError(
        'gates = "memory" needs a memory that comes with gates, and this one has none.',
        hint='Write part = "gated" in [encode], or gates = "keys" in the choice.',
    )


def _rows(gates: Tensor | None) -> Tensor | None:
    return None if gates is None else gates.unsqueeze(-2)


def weighed(module: nn.Module, weights: Float[Tensor, "*B Q K"], start: int | None) -> Float[Tensor, "*B Q K"]:
    """The weights to look with: others, where somebody puts others in their place."""
    if not hooked(Weighed):
        return weights
    found = Weighed(module, start or 0, weights)
    tell(found)
    return found.weights


def tell_looked(module: nn.Module, attended: Attended, start: int) -> None:
    """Tell a watcher, if there is one, what was looked at."""
    if hooked(Looked):
        tell(Looked(module, start, attended.weights.detach()))
