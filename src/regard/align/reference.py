"""A statistical word aligner: links between words where no gold links are known.

    links = reference_links((line.split() for line in sources), (line.split() for line in targets))

It learns from the pairs alone, by expectation maximisation (EM). A sentence's words f₁ … f_m are written from the
given words e₁ … e_l, each from one of them or from none, e₀ (`positions` says which positions are likely):

    p(f, a | e) = Π_j π(a_j | …) t(f_j | e_{a_j})

    E step   γ_j(i) = p(a_j = i | f, e), the belief that f_j comes from e_i
    M step   t(f | e) ∝ Σ γ_j(i) over all j, i with f_j = f and e_i = e

Five iterations of model 1 (Brown et al. 1993) are followed by five of the "hmm" (Vogel et al. 1996) or of the
"diagonal" model (fast_align, Dyer et al. 2013). With α > 0 the M step is that of variational Bayes under a Dirichlet
prior, t(f | e) = exp(ψ(c(f, e) + α) − ψ(Σ_f c(f, e) + α)), which keeps rare words from explaining everything.

Both directions are trained. The HMM's learn together, by agreement (Liang et al. 2006): what counts as a link in the
M step of either is γ_forward · γ_backward, so that each learns from what the other finds likely too. Their links are
then made one: by `symmetrise` from the best position of each word, or, method "posterior", every link with
√(γ_forward γ_backward) of at least THRESHOLD.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from regard.align.bitext import Bitext, Block
from regard.align.positions import Beliefs, Diagonal, Jumps, Positions, Uniform
from regard.align.symmetrise import POSTERIOR, check_method, symmetrise
from regard.data.pair import Link
from regard.errors import UnknownName

Words = Iterable[Sequence[str]]
ROUNDS = (5, 5)  # iterations of model 1, and of the model that follows it
PART = 100_000  # pairs that are best aligned together: more take much memory, and teach little
THRESHOLD = 0.4
LEAST = np.float32(1e-9)  # no pair of words that meet is impossible


@dataclass(frozen=True)
class Plan:
    """How a model is trained: what follows model 1, its prior's α, whether both ways agree, how they are joined."""

    positions: Callable[[], Positions]
    alpha: float
    agree: bool
    method: str


MODELS = {
    "hmm": Plan(Jumps, 0.0, True, "grow-diag-final-and"),
    "diagonal": Plan(Diagonal, 0.01, False, "grow-diag-final"),
}


def reference_links(
    sources: Words,
    targets: Words,
    *,
    model: str = "hmm",
    method: str | None = None,
    wanted: Collection[int] | None = None,
    on_pass: Callable[[], None] | None = None,
) -> list[tuple[Link, ...]]:
    """The links of pairs, given as words, learnt from all of them.

    Args:
        model: "hmm", or "diagonal" for that of fast_align.
        method: how both ways are made one: "posterior", or a method of `align.symmetrise`; each model has its own.
        wanted: the pairs, counted from 0, whose links are asked for, in order; all if left out.
        on_pass: called after each of the iterations, `sum(ROUNDS)` of them.

    Pairs with an empty side, or one of more than 100 words, have no links.
    """
    if model not in MODELS:
        raise UnknownName("statistical aligner", model, MODELS)
    plan = MODELS[model]
    if method is not None:
        check_method(method)
    bitext = Bitext(sources, targets)
    ways = Way(bitext, alpha=plan.alpha), Way(bitext, backward=True, alpha=plan.alpha)
    for _ in train(bitext, ways, plan):
        if on_pass is not None:
            on_pass()
    rows = range(bitext.pairs) if wanted is None else wanted
    found = dict(_decoded(bitext, ways, method or plan.method, set(rows)))
    return [found.get(row, ()) for row in rows]


def train(
    bitext: Bitext, ways: tuple[Way, Way], plan: Plan, rounds: tuple[int, int] = ROUNDS
) -> Iterator[tuple[float, float]]:
    """Iterate, model 1 first; yields the log-likelihood of both ways before each iteration."""
    for number in range(sum(rounds)):
        if number == rounds[0]:
            for way in ways:
                way.positions = plan.positions()
        likelihoods = [0.0, 0.0]
        for block in bitext.blocks:
            both = [way.believe(block) for way in ways]
            likelihoods = [total + each.likelihood for total, each in zip(likelihoods, both, strict=True)]
            if plan.agree:
                both = _agreed(*both)
            for way, beliefs in zip(ways, both, strict=True):
                way.gather(block, beliefs)
        for way in ways:
            way.learn()
        yield likelihoods[0], likelihoods[1]


def _agreed(forward: Beliefs, backward: Beliefs) -> list[Beliefs]:
    """What both ways find likely, for both; null stays each one's own."""
    cells = forward.cells * backward.cells.transpose(2, 1, 0)
    return [replace(forward, cells=cells), replace(backward, cells=cells.transpose(2, 1, 0))]


class Way:
    """One direction: the chances of words, `chance` by entry and `null` by written word, and of positions."""

    def __init__(self, bitext: Bitext, *, backward: bool = False, alpha: float = 0.0) -> None:
        self.bitext, self.backward, self.alpha = bitext, backward, alpha
        given, written = (bitext.target, bitext.source) if backward else (bitext.source, bitext.target)
        self._given, self._kinds = bitext.of_target if backward else bitext.of_source, given.kinds
        self.chance = np.full(bitext.entries, 1 / written.kinds, np.float32)
        self.null = np.full(written.kinds, 1 / written.kinds, np.float32)
        self.chance[0] = self.null[0] = 0
        self.positions: Positions = Uniform()
        self._forget()

    def _forget(self) -> None:
        self._counts, self._nulls = np.zeros(len(self.chance)), np.zeros(len(self.null))

    def believe(self, block: Block) -> Beliefs:
        """Where each written word of a block comes from."""
        words = self.chance.take(block.cells).transpose((1, 0, 2) if self.backward else (2, 0, 1))
        written, given = self._written(block), block.target if self.backward else block.source
        lengths = (written > 0).sum(1), (given > 0).sum(1)
        return self.positions.believe(np.ascontiguousarray(words), self.null[written.T], *lengths)

    def gather(self, block: Block, beliefs: Beliefs) -> None:
        """Count what is believed of a block."""
        cells = beliefs.cells.transpose((1, 0, 2) if self.backward else (1, 2, 0))
        np.add.at(self._counts, block.cells.ravel(), cells.ravel().astype(np.float64))
        np.add.at(self._nulls, self._written(block).T, beliefs.null)

    def learn(self) -> None:
        """The M step, from what was gathered."""
        totals = np.bincount(self._given, self._counts, self._kinds)[self._given]
        kinds = np.bincount(self._given, minlength=self._kinds)[self._given]
        self.chance = _learnt(self._counts, totals, kinds, self.alpha)
        self.null = _learnt(self._nulls, self._nulls.sum(), len(self._nulls) - 1, self.alpha)
        self.positions.learn()
        self._forget()

    def _written(self, block: Block) -> np.ndarray:
        return block.source if self.backward else block.target


def _learnt(
    counts: np.ndarray, totals: np.ndarray | np.floating[Any], kinds: np.ndarray | int, alpha: float
) -> np.ndarray:
    """The M step; `totals` and `kinds` are the sum and the number of the counts that share one given word."""
    if alpha:
        found = np.exp(_digamma(counts + alpha) - _digamma(np.asarray(totals + alpha * kinds)))
    else:
        found = counts / np.maximum(totals, 1e-300)
    found = np.maximum(found, LEAST, dtype=np.float32, casting="same_kind")
    found[0] = 0
    return found


def _digamma(values: np.ndarray) -> np.ndarray:
    return torch.special.digamma(torch.from_numpy(np.ascontiguousarray(values))).numpy()


def _decoded(
    bitext: Bitext, ways: tuple[Way, Way], method: str, wanted: set[int]
) -> Iterator[tuple[int, tuple[Link, ...]]]:
    """The links of the wanted rows, block by block."""
    for block in bitext.blocks:
        if wanted.isdisjoint(block.rows.tolist()):
            continue
        forward, backward = (way.believe(block) for way in ways)
        chosen = _shared(forward, backward) if method == POSTERIOR else _best(forward, backward, method)
        for place, row in enumerate(block.rows.tolist()):
            if row in wanted:
                yield row, chosen(place)


def _shared(forward: Beliefs, backward: Beliefs) -> Callable[[int], tuple[Link, ...]]:
    """Links that both ways find likely together."""
    likely = forward.cells.transpose(1, 2, 0) * backward.cells.transpose(1, 0, 2) >= THRESHOLD**2

    def links(place: int) -> tuple[Link, ...]:
        return tuple(zip(*(each.tolist() for each in np.nonzero(likely[place])), strict=True))

    return links


def _best(forward: Beliefs, backward: Beliefs, method: str) -> Callable[[int], tuple[Link, ...]]:
    """The best given word of each written word, unless null is better still, of both ways made one."""
    there, back = _argmax(forward), _argmax(backward)

    def links(place: int) -> tuple[Link, ...]:
        ahead = ((given, written) for written, given in enumerate(there[place]) if given >= 0)
        behind = ((written, given) for written, given in enumerate(back[place]) if given >= 0)
        return tuple(symmetrise(ahead, behind, method))

    return links


def _argmax(beliefs: Beliefs) -> list[list[int]]:
    """Of each pair and written word, the best given word; -1 where there is none."""
    best = np.where(beliefs.cells.max(-1) > beliefs.null, beliefs.cells.argmax(-1), -1)
    return best.T.tolist()
