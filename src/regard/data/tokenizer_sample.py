"""Cutting words into subwords at random, so that a model meets many spellings of a word in training.

Two ways, one for each kind of subword model; both draw from the `Random` they are given and from nothing
else. The library has the same, but with a dice of its own that no seed reaches.
"""

from __future__ import annotations

import json
import math
from bisect import bisect
from collections.abc import Mapping
from functools import lru_cache
from itertools import accumulate, pairwise
from random import Random
from typing import Any, Protocol, runtime_checkable

import tokenizers

FLATTEN = 0.2  # Kudo 2018: probabilities are raised to this power before drawing
UNSEEN = 10.0  # a character without a piece of its own is so much less likely (log) than the rarest piece
REMEMBERED = 50_000  # chunks whose tables are kept


@runtime_checkable
class Sampler(Protocol):
    """Cuts one chunk of a line into pieces, at random."""

    def draw(self, chunk: str, sample: float, random: Random) -> list[int]: ...


def sampler_of(backend: tokenizers.Tokenizer) -> Sampler:
    """The sampler that goes with a subword tokenizer."""
    model: dict[str, Any] = json.loads(backend.to_str())["model"]
    if model["type"] == "BPE":
        return MergeSampler(model["vocab"], model["merges"])
    return LatticeSampler(model["vocab"], backend.model)


def _spell(character: str, ids: Mapping[str, int]) -> list[int]:
    """The piece of a character, or those of its bytes."""
    piece = ids.get(character)
    return [piece] if piece is not None else [ids[f"<0x{byte:02X}>"] for byte in character.encode()]


class MergeSampler:
    """BPE-dropout (Provilkov et al. 2020): at each step every possible merge is left out with some chance."""

    def __init__(self, vocabulary: Mapping[str, int], merges: list[list[str]]) -> None:
        self._ids = dict(vocabulary)
        self._ranks: dict[tuple[int, int], tuple[int, int]] = {}
        for rank, (first, second) in enumerate(merges):
            pair = (vocabulary[first], vocabulary[second])
            self._ranks[pair] = (rank, vocabulary[first + second])

    def draw(self, chunk: str, sample: float, random: Random) -> list[int]:
        """The pieces of a chunk when a share `sample` of the merges is left out."""
        pieces = [piece for character in chunk for piece in _spell(character, self._ids)]
        while True:
            merges = [
                (known[0], place, known[1])
                for place, pair in enumerate(pairwise(pieces))
                if (known := self._ranks.get(pair)) and random.random() >= sample
            ]
            if not merges:
                return pieces
            _, place, merged = min(merges)
            pieces[place : place + 2] = [merged]


# For each end of a piece within a chunk: where the piece may start, and the running sum of the weights.
Table = list[tuple[list[int], list[float]]]


class LatticeSampler:
    """Subword regularisation (Kudo 2018): a cut of the whole chunk, by sums forwards and draws backwards."""

    def __init__(self, vocabulary: list[list[Any]], model: tokenizers.models.Model) -> None:
        self._ids: dict[str, int] = {piece: place for place, (piece, _) in enumerate(vocabulary)}
        self._scores: dict[str, float] = {piece: FLATTEN * score for piece, score in vocabulary}
        self._unseen = min(self._scores.values()) - FLATTEN * UNSEEN
        self._longest = max(map(len, self._ids))
        self._model = model
        self._table = lru_cache(REMEMBERED)(self._build)
        self._likeliest = lru_cache(REMEMBERED)(self._cut)

    def draw(self, chunk: str, sample: float, random: Random) -> list[int]:
        """The likeliest pieces of a chunk or, with probability `sample`, some drawn by their weight."""
        if random.random() >= sample:
            return self._likeliest(chunk)
        table = self._table(chunk)
        end, parts = len(chunk), []
        while end > 0:
            starts, sums = table[end]
            start = starts[min(bisect(sums, random.random() * sums[-1]), len(starts) - 1)]
            parts.append(chunk[start:end])
            end = start
        return [piece for part in reversed(parts) for piece in self._pieces(part)]

    def _pieces(self, part: str) -> list[int]:
        return [self._ids[part]] if part in self._ids else _spell(part, self._ids)

    def _cut(self, chunk: str) -> list[int]:
        return [piece.id for piece in self._model.tokenize(chunk)]

    def _build(self, chunk: str) -> Table:
        """Sums over all cuts of the chunk up to each place, in logarithms: a chunk may be a long line."""
        totals = [0.0]
        table: Table = [([], [])]
        for end in range(1, len(chunk) + 1):
            starts, scores = [], []
            for start in range(max(0, end - self._longest), end):
                score = self._scores.get(chunk[start:end])
                if score is None and start == end - 1:
                    score = self._unseen
                if score is not None:
                    starts.append(start)
                    scores.append(totals[start] + score)
            highest = max(scores)
            sums = list(accumulate(math.exp(score - highest) for score in scores))
            table.append((starts, sums))
            totals.append(highest + math.log(sums[-1]))
        return table
