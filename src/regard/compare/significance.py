"""How far means over seeds would move with other seeds and other test sentences, and whether two arms differ.

Two things are drawn: test sentences, the same ones for every seed and every arm in a draw (Koehn 2004), and seeds. A
draw is

    mean over seeds of the score of the drawn sentences  +  what the drawn seeds lie from the mean over all seeds

Drawing R seeds out of R as they are would say too little: their spread is that of a sample divided by R instead of
R - 1, and three seeds know their own spread badly. So what they lie from their mean is multiplied by sqrt(R / (R - 1)),
and in each draw by sqrt((R - 1) / chi2), chi2 of R - 1 degrees of freedom, which makes of a normal distribution
Student's t. By simulation (tests/compare/test_significance.py) the interval of three seeds then covers the truth as
often as it promises; without, about 80 times in a hundred. Two seeds give wide intervals: they know little.

With one seed nothing is known of others: sentences alone are drawn, as `regard evaluate` does.

Letters: M draws, R seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import numpy as np
from jaxtyping import Float

from regard.evaluate.bootstrap import DRAWS, SEED, interval

ROUNDING = 1e-9  # what the same difference, computed twice, may differ by


@dataclass(frozen=True)
class Sample:
    """A metric of one arm: its value for each seed, and for each draw of test sentences where they can be drawn.

    `names` tell the seeds; those of two arms that have a name in common belong together.
    """

    names: tuple[str, ...]
    values: tuple[float, ...]
    drawn: Float[np.ndarray, "M R"] | None = None

    def take(self, names: Sequence[str]) -> Sample:
        """The same for some of the seeds, in the order asked."""
        places = [self.names.index(name) for name in names]
        drawn = None if self.drawn is None else self.drawn[:, places]
        return replace(self, names=tuple(names), values=tuple(self.values[each] for each in places), drawn=drawn)

    def less(self, other: Sample) -> Sample:
        """Seed by seed what it has more than another of the same seeds; sentences are drawn only where both can be."""
        values = tuple(ours - theirs for ours, theirs in zip(self.values, other.values, strict=True))
        both = self.drawn is not None and other.drawn is not None
        return Sample(self.names, values, self.drawn - other.drawn if both else None)  # type: ignore[operator]

    def scores(self) -> Float[np.ndarray, "M R"]:
        """What each draw of sentences gives each seed; the values themselves where sentences cannot be drawn."""
        return np.tile(np.array(self.values), (DRAWS, 1)) if self.drawn is None else self.drawn

    @property
    def known(self) -> bool:
        """Whether anything was drawn, so that there is an interval."""
        return self.drawn is not None or len(self.values) > 1


@dataclass(frozen=True)
class Estimate:
    """A metric of one arm: mean and standard deviation over seeds, the 95 % interval of the mean, the value of each.

    Of one seed there is no deviation; where neither seeds nor sentences could be drawn there is no interval.
    """

    value: float
    deviation: float | None
    low: float | None
    high: float | None
    seeds: dict[str, float]


@dataclass(frozen=True)
class Difference:
    """What one arm's metric is more than another's, with its 95 % interval.

    `p` is the share of draws in which two arms of equal worth would lie this far apart or farther, either way. `seeds`
    has the difference of each seed; where the arms have no seeds in common, of each model of the one and each of the
    other.
    `agree`: all of these have the same sign; of a single one that says nothing, and it is None.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    seeds: dict[str, float]
    paired: bool

    @property
    def agree(self) -> bool | None:
        """Whether all seeds say the same: more, or less."""
        if len(self.seeds) < 2:
            return None
        signs = {np.sign(value) for value in self.seeds.values()}
        return len(signs) == 1 and 0.0 not in signs


def estimate(sample: Sample) -> Estimate:
    """The mean over seeds with its interval."""
    low, high = interval(draw_means(sample, SEED)) if sample.known else (None, None)
    deviation = stdev(sample.values) if len(sample.values) > 1 else None
    each = dict(zip(sample.names, sample.values, strict=True))
    return Estimate(fmean(sample.values), deviation, low, high, each)


def difference(ours: Sample, theirs: Sample) -> Difference:
    """What `ours` has more than `theirs`: over the seeds that both have, else of each of one and each of the other."""
    common = [name for name in ours.names if name in theirs.names]
    if common:
        both = ours.take(common).less(theirs.take(common))
        seeds = dict(zip(common, both.values, strict=True))
        drawn = draw_means(both, SEED)
        known, centre = both.known, float(both.scores().mean())
    else:
        seeds = {
            f"{one} - {other}": mine - their
            for one, mine in zip(ours.names, ours.values, strict=True)
            for other, their in zip(theirs.names, theirs.values, strict=True)
        }
        drawn = draw_means(ours, SEED) - draw_means(theirs, SEED + 1)
        known, centre = ours.known and theirs.known, float(ours.scores().mean() - theirs.scores().mean())
    value = fmean(seeds.values())
    if not known:
        return Difference(value, None, None, None, seeds, bool(common))
    as_far = int(np.sum(np.abs(drawn - centre) >= abs(value) - ROUNDING))
    low, high = interval(drawn)
    return Difference(value, low, high, (as_far + 1) / (DRAWS + 1), seeds, bool(common))


def draw_means(sample: Sample, seed: int) -> Float[np.ndarray, " M"]:
    """The mean over seeds in each draw of sentences and seeds. Sentences are drawn already; `seed` is for the seeds."""
    means = sample.scores().mean(1)
    count = len(sample.values)
    if count == 1:
        return means
    generator = np.random.default_rng(seed)
    apart = np.array(sample.values) - fmean(sample.values)
    chosen = generator.integers(count, size=(DRAWS, count))
    scale = np.sqrt(count / (count - 1)) * np.sqrt((count - 1) / generator.chisquare(count - 1, DRAWS))
    moved: Float[np.ndarray, " M"] = means + scale * apart[chosen].mean(1)
    return moved
