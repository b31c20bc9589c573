"""Where a statistical aligner expects the next word to come from: the position models of `reference`.

A *written* word comes from one of the *given* words or from none (null). With e the chances of words and π those of
positions, what is believed about written word j of m and given word i of l is

    uniform (IBM model 1)      π(i) = (1 − p₀) / l
    diagonal (fast_align)      π(i | j) = (1 − p₀) exp(λ h(i, j)) / Σᵢ′ exp(λ h(i′, j)),   h = −|j/m − i/l|
    jumps (HMM)                π(i | i′) = (1 − p₀) c(i − i′) / Σᵢ″ c(i″ − i′),   i′ the position before

and p₀ for null in all three. In the first two each written word is a matter of its own: the belief is e · π over its
sum. In the HMM (Vogel et al. 1996; null as in Och & Ney 2003, which keeps the position before it) it is the posterior
of the forward-backward algorithm; a sentence begins with a jump from position −1.

Letters: W written words, N pairs, G given words. Padding has chance 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from regard.align.bitext import LONGEST

TINY = np.float32(1e-30)
Chances = Float[np.ndarray, "W N G"]
Nulls = Float[np.ndarray, "W N"]
Lengths = Int[np.ndarray, " N"]


@dataclass(frozen=True)
class Beliefs:
    """How likely each written word comes from each given word, or from none; and the pairs' log-likelihood."""

    cells: Chances
    null: Nulls
    likelihood: float


@runtime_checkable
class Positions(Protocol):
    """A position model: it gives beliefs and gathers what it learns from them until it is told to learn."""

    def believe(self, words: Chances, null: Nulls, written: Lengths, given: Lengths) -> Beliefs:
        """The beliefs of a block, from the chances of its words and the lengths of its sentences."""

    def learn(self) -> None:
        """The M step: take up what was gathered."""


class Uniform:
    """Every position is as likely as any other."""

    def __init__(self, null: float = 0.2) -> None:
        self.null = null

    def believe(self, words: Chances, null: Nulls, written: Lengths, given: Lengths) -> Beliefs:
        """Word by word."""
        share = ((1 - self.null) / given).astype(np.float32)
        return _apart(words * share[:, None], null * np.float32(self.null), written)

    def learn(self) -> None:
        """There is nothing to learn."""


class Diagonal:
    """Positions near the diagonal are likelier (Dyer et al. 2013); the tension λ that says how much is learnt."""

    bounds = (0.1, 30.0)

    def __init__(self, null: float = 0.08, tension: float = 4.0) -> None:
        self.null, self.tension = null, tension
        self._forget()

    def _forget(self) -> None:
        self._near = 0.0  # Σ belief · h
        self._mass = np.zeros((LONGEST + 1, LONGEST + 1, LONGEST))  # belief in any given word, by m, l and j

    def believe(self, words: Chances, null: Nulls, written: Lengths, given: Lengths) -> Beliefs:
        """Word by word, the prior of each pair's lengths made on the fly."""
        count, pairs, wide = words.shape
        down = np.minimum(np.arange(1, count + 1)[:, None] / written, 1).astype(np.float32)
        along = (np.arange(1, wide + 1) / given[:, None]).astype(np.float32)
        near = -np.abs(down[..., None] - along)
        prior = np.exp(np.float32(self.tension) * near) * (np.arange(wide) < given[:, None])
        prior *= np.float32(1 - self.null) / prior.sum(-1, keepdims=True)
        found = _apart(words * prior, null * np.float32(self.null), written)
        self._near += float(np.vdot(found.cells, near))
        where = tuple(np.broadcast_to(each, (count, pairs)) for each in (written, given, np.arange(count)[:, None]))
        np.add.at(self._mass, where, found.cells.sum(-1))
        return found

    def learn(self) -> None:
        """Newton's steps to the tension under which the expected h is the h that was believed in: it is concave."""
        written, given, place = np.nonzero(self._mass)
        mass, at = self._mass[written, given, place], np.arange(LONGEST)
        near = -np.abs(((place + 1) / written)[:, None] - (at + 1) / given[:, None])
        for _ in range(6):
            share = np.exp(self.tension * near) * (at < given[:, None])
            share /= share.sum(-1, keepdims=True)
            mean = (share * near).sum(-1)
            spread = (share * near**2).sum(-1) - mean**2
            step = (self._near - mass @ mean) / max(float(mass @ spread), 1e-9)
            self.tension = float(np.clip(self.tension + step, *self.bounds))
        self._forget()


class Jumps:
    """The next word comes from a little further on than the last one did: an HMM over positions."""

    floor = 0.01  # share of every jump's chance that is spread evenly, so that none is impossible

    def __init__(self, null: float = 0.2) -> None:
        self.null = null
        jumps = np.arange(-LONGEST, LONGEST + 1)
        self.jump = _shares(np.exp(-np.abs(jumps - 1) / 2.0), self.floor)
        self._counts = np.zeros_like(self.jump)

    def believe(self, words: Chances, null: Nulls, written: Lengths, given: Lengths) -> Beliefs:
        """Forward and backward over the written words, all pairs of the block at once."""
        count, _, wide = words.shape
        at, inside = np.arange(wide), np.arange(wide) < given[:, None]
        apart = at[None, :] - at[:, None] + LONGEST
        move = self.jump[apart].astype(np.float32)
        leave = inside * np.float32(1 - self.null) / (inside @ move.T)
        first = inside * self.jump[at + 1 + LONGEST].astype(np.float32)
        first *= np.float32(1 - self.null) / first.sum(-1, keepdims=True)
        null = null * np.float32(self.null)
        real = np.arange(count)[:, None] < written
        ahead = _forward(words, null, first, leave, move, real)
        after, onward = _backward(words, null, leave, move, ahead.scale, real)
        cells, nulls = ahead.on * after, (ahead.off * after).sum(-1)
        whole = real / np.maximum(cells.sum(-1) + nulls, TINY)
        cells, nulls = cells * whole[..., None], nulls * whole
        pairs_of_steps = ahead.left[1:].reshape(-1, wide).T @ onward[1:].reshape(-1, wide)
        np.add.at(self._counts, apart, pairs_of_steps * move)
        np.add.at(self._counts, at + 1 + LONGEST, cells[0].sum(0))
        return Beliefs(cells, nulls, float(np.log(ahead.scale)[real].sum(dtype=np.float64)))

    def learn(self) -> None:
        """Each jump as likely as it was believed to happen."""
        self.jump = _shares(self._counts, self.floor)
        self._counts = np.zeros_like(self.jump)


@dataclass(frozen=True)
class _Ahead:
    """The forward pass: at a given word (on) or at null after it (off), the steps' scales, and what is left from."""

    on: Chances
    off: Chances
    left: Chances
    scale: Nulls


def _forward(
    words: Chances, null: Nulls, first: np.ndarray, leave: np.ndarray, move: np.ndarray, real: np.ndarray
) -> _Ahead:
    """Each step's states sum to one; a step that is padding has none."""
    on, off, left = (np.zeros_like(words) for _ in range(3))
    scale = np.ones_like(null)
    start = (leave > 0) / (leave > 0).sum(-1, keepdims=True, dtype=np.float32)
    for step in range(len(words)):
        if step:
            before = on[step - 1] + off[step - 1]
            left[step] = before * leave
            on[step], off[step] = (left[step] @ move) * words[step], null[step][:, None] * before
        else:
            on[0], off[0] = first * words[0], null[0][:, None] * start
        total = np.maximum(on[step].sum(-1) + off[step].sum(-1), TINY)
        scale[step] = np.where(real[step], total, 1)
        shrink = (real[step] / total)[:, None]
        on[step] *= shrink
        off[step] *= shrink
    return _Ahead(on, off, left, scale)


def _backward(
    words: Chances, null: Nulls, leave: np.ndarray, move: np.ndarray, scale: Nulls, real: np.ndarray
) -> tuple[Chances, Chances]:
    """How likely the rest is from each position, over the forward scales; and what enters each step from behind.

    Whether a step was at a given word or at null after it, the future is the same.
    """
    after, onward = np.ones_like(words), np.zeros_like(words)
    for step in range(len(words) - 1, 0, -1):
        behind = after[step] / scale[step][:, None]
        onward[step] = words[step] * behind * real[step][:, None]
        found = (onward[step] @ move.T) * leave + null[step][:, None] * behind
        after[step - 1] = np.where(real[step][:, None], found, 1)
    return after, onward


def _apart(words: Chances, null: Nulls, written: Lengths) -> Beliefs:
    """The beliefs where each written word is a matter of its own, from joint chances."""
    real = np.arange(len(words))[:, None] < written
    total = np.maximum(words.sum(-1) + null, TINY)
    share = (real / total).astype(np.float32)
    return Beliefs(words * share[..., None], null * share, float(np.log(total)[real].sum(dtype=np.float64)))


def _shares(counts: np.ndarray, floor: float) -> np.ndarray:
    shares = counts / max(counts.sum(), TINY)
    return (1 - floor) * shares + floor / len(shares)
