"""The Transformer's decoder: self-attention over the past, attention over the memory, feed-forward.

Without a source there is no memory, and a layer looks at the past alone: a language model.

`step` remembers the prepared keys of the past (a KV cache), so that a step costs one position. The past is
kept apart from the future here, by a mask, whatever scope the self-attention has: no recipe can leak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard import masks
from regard.errors import UsageError
from regard.fast import static_cache
from regard.fast.kv_cache import TransformerState
from regard.fast.shared_memory import minds, share_memory
from regard.hooks import writing
from regard.predict.recurrent import over_memory, prepare
from regard.predict.words import stepped, taught
from regard.registry import Maker, maker, part
from regard.sublayers import Activation, FeedForward, Norm, Residual
from regard.types import (
    Attended,
    Attends,
    Count,
    Memory,
    Modules,
    Padded,
    Prepared,
    Share,
    State,
    Stepped,
    Taught,
    Widths,
)


class DecoderLayer(nn.Module):
    """Self-attention, attention over the memory if there is one, feed-forward, each with its skip and norm."""

    def __init__(
        self,
        width: int,
        memory: Widths,
        attend: Maker | None,
        self_attend: Maker,
        feed: FeedForward,
        norm: Norm,
        dropout: float,
    ) -> None:
        super().__init__()
        self.self_attend = self_attend(width, width, width)
        if any(getattr(module, "sequential", False) for module in self.self_attend.modules()):
            raise UsageError(
                "the gates of [predict.self_attend] read their neighbours, and so would see the future.",
                hint="Take the encode table out of its choice: then each key is judged by itself.",
            )
        self.attend: Any = None if attend is None else attend(width, memory.keys, memory.values)
        self.feed = feed
        self.around_self = Residual(width, norm, dropout)
        self.around_attend: Any = None if attend is None else Residual(width, norm, dropout)
        self.around_feed = Residual(width, norm, dropout)

    def forward(
        self,
        rows: Float[Tensor, "B Q D"],
        ask: Callable[..., Attended] | None,
        past: Prepared | None,
        allowed: Bool[Tensor, "#B Q Q"],
        real: Bool[Tensor, "B Q"] | None,
    ) -> tuple[Float[Tensor, "B Q D"], Prepared, tuple[Attended, ...]]:
        """New rows after the past: the rows, the longer past, and what was looked at (self, then memory).

        `ask` is the memory's look for this layer; none where there is no memory.
        """
        start = 0 if past is None else past.keys.shape[-2]
        kept: list[Prepared] = []
        looked: list[Attended] = []

        def reflect(some: Tensor) -> Tensor:
            new = self.self_attend.prepare(some, some, allowed, start)
            kept.append(new if past is None else past.extend(new))
            looked.append(self.self_attend(some, kept[0], start=start, real=real))
            return looked[-1].context

        rows = self.around_self(rows, reflect)
        if ask is not None:

            def look(some: Tensor) -> Tensor:
                looked.append(ask(self.attend, some, start=start, real=real))
                return looked[-1].context

            rows = self.around_attend(rows, look)
        return self.around_feed(rows, self.feed), kept[0], tuple(looked)


@part("predict", "transformer")
class TransformerDecoder(nn.Module):
    """A stack of layers that look at their own past and at the memory (Vaswani 2017); without a source, at their past.

    Settings:
        embed: how target words become vectors; their width is the stack's.
        layers: how many stand on one another.
        feed: the width inside the feed-forward sublayers.
        norm: "after" a sublayer as in the paper, or "before" it, which trains without a warm-up.
        activation: between the two matrices of a feed-forward: "relu", "gelu", "gelu_tanh", its approximation, or
            "silu", also called swish.
        dropout: share of the numbers dropped in training, in each sublayer's output.
        self_attend: the attention over the past; [attend] is the one over the memory.
        readout: from the top states to the vocabulary.
    """

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        embed: Maker = maker("embed", "tokens", position=maker("position", "sinusoid"), scale=True),
        layers: Count = 3,
        feed: Count = 1024,
        norm: Norm = "before",
        activation: Activation = "relu",
        dropout: Share = 0.1,
        self_attend: Maker = maker("attend", "heads"),
        readout: Maker = maker("readout", "tied"),
    ) -> None:
        super().__init__()
        self.embed = embed(size)
        width = self.embed.width
        cross = over_memory(attend, memory, "transformer")
        self.attends = cross is not None
        self.layers: Modules = nn.ModuleList(
            DecoderLayer(width, memory, cross, self_attend, FeedForward(width, feed, activation), norm, dropout)
            for _ in range(layers)
        )
        self.last = nn.LayerNorm(width) if norm == "before" else nn.Identity()
        self.readout = readout(width, self.embed)

    @property
    def continuous(self) -> bool:
        """May rows stand side by side that began at different steps? Not if it matters where a query or its past is."""
        selves = [layer.self_attend for layer in self.layers]
        minded = [("follows", self._looks()), ("follows", selves), ("positional", selves)]
        return not any(minds(what, *attends) for what, attends in minded)

    def start(self, memory: Memory) -> State:
        """Prepare the memory for every layer, once."""
        state = self._start(memory)
        if static_cache.in_use() and static_cache.is_simple(self.layers):
            return static_cache.begin(self.layers, state.memory, memory) or state
        return state

    def _start(self, memory: Memory) -> TransformerState:
        looks = self._looks()
        if not looks:
            return TransformerState(0, None)
        prepared = (prepare(attend, memory) for attend in looks)
        return TransformerState(0, share_memory(prepared, *looks))

    def _looks(self) -> list[Attends]:
        """What every layer looks at the memory with; nothing where there is none."""
        return [layer.attend for layer in self.layers if layer.attend is not None]

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One position, after the remembered ones."""
        if isinstance(state, static_cache.StaticCacheState):
            rows, after, looked = static_cache.through(self.layers, self.embed, token, state)
            return stepped(self.readout, self.last(rows)[: len(token)], after, looked)
        if not isinstance(state, TransformerState):
            raise TypeError(f"a Transformer decoder steps from its own state, not from {type(state).__name__}")
        rows = self.embed.vectors(token.unsqueeze(1), state.step)
        allowed = token.new_ones((token.shape[0], 1, 1), dtype=torch.bool)
        rows, past, looked = self._through(rows, state, allowed, None)
        return stepped(self.readout, rows[:, 0], TransformerState(state.step + 1, state.memory, past), looked)

    def read_on(self, tokens: Int[Tensor, "B T"], state: State) -> State | None:
        """The state after many positions, read at once: as after a step for each. None of a state that cannot."""
        tables = isinstance(state, static_cache.StaticCacheState) and not self.attends
        first = TransformerState(0, None) if tables else state
        if not isinstance(first, TransformerState) or first.past or not isinstance(state.step, int) or state.step:
            return None
        count = tokens.shape[1]
        real = torch.ones_like(tokens, dtype=torch.bool)
        allowed = real.unsqueeze(1) & masks.causal(count, count, 0, tokens.device)
        _, past, _ = self._through(self.embed.vectors(tokens), first, allowed, real)
        if isinstance(state, static_cache.StaticCacheState):
            return static_cache.remembering(state, past)
        seen = tuple(replace(layer, mask=layer.mask[..., -1:, :]) for layer in past)  # by the one that comes next
        return TransformerState(count, first.memory, seen)

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All positions at once; each sees the ones before it."""
        count = target.data.shape[1]
        allowed = masks.causal(count, count, 0, target.mask.device).unsqueeze(0)
        if not masks.is_open(target.mask):  # one mask for all rows costs less than one for each
            allowed = target.mask.unsqueeze(1) & allowed
        rows = self.embed.vectors(target.data)
        with writing(0):
            rows, _, looked = self._through(rows, self._start(memory), allowed, target.mask)
        return taught(self.readout, rows, looked)

    def _through(
        self, rows: Tensor, state: TransformerState, allowed: Tensor, real: Tensor | None
    ) -> tuple[Tensor, tuple[Prepared, ...], tuple[Attended, ...]]:
        """All layers; `looked` holds the memory's looks, one a layer (self-attention is for `watch`)."""
        kept: list[Prepared] = []
        looked: list[Attended] = []
        for number, layer in enumerate(self.layers):
            past = state.past[number] if state.past else None
            ask = None if state.memory is None else partial(state.memory.look, number)
            rows, longer, seen = layer(rows, ask, past, allowed, real)
            kept.append(longer)
            looked += seen[1:]
        return self.last(rows), tuple(kept), tuple(looked)
