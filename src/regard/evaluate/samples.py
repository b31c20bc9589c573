"""How good samples are beside real images: the Frechet distance, their diversity, and how symmetric they are.

What is compared are two sets of images. No sample answers any one image, so an interval comes from drawing the samples
anew, as everywhere, while the images stay.

Letters: N samples, M real images, C channels, h rows and w columns of pixels, F features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn import functional as F

from regard.errors import UsageError
from regard.evaluate.bootstrap import DRAWS, SEED, counts_drawn
from regard.evaluate.counts import Counted, signed

Images: TypeAlias = UInt8[Tensor, "N C h w"]
Real: TypeAlias = UInt8[Tensor, "M C h w"]
Times: TypeAlias = Int[np.ndarray, " N"] | Float[np.ndarray, " N"]  # how often each sample is drawn


@dataclass(frozen=True)
class Features:
    """What describes an image by some numbers, and its name."""

    name: str
    of: Callable[[Images], Float[Tensor, "N F"]]


FEWER = 200  # draws of what takes long to compute
SMALL = 8  # pixels of a side, where no network describes images


def small_pixels(images: Images) -> Float[Tensor, "N F"]:
    """Every number of the images at 8 x 8 pixels, between 0 and 1."""
    return F.adaptive_avg_pool2d(images.float() / 255, SMALL).flatten(1)


PIXELS = Features(f"pixels {SMALL} x {SMALL}", small_pixels)


@dataclass(frozen=True)
class CountedSamples(Counted):
    """A value of a whole set of samples, each of which counts so many times.

    Drawn anew with replacement, some samples are there twice, which looks like a lack of others: `centred` takes that
    out of the draws, whose spread is the interval's.
    """

    weighed: Callable[[Times], float]
    centred: bool = False
    number: int = DRAWS  # of draws

    def take(self, index: Int[np.ndarray, " M"]) -> Counted:
        """All of them: a value of some is another."""
        if len(index) != len(self.rows):
            raise UsageError(f"{self.name} is of all samples together.", hint='Write on = "all".')
        return self

    def value(self) -> float:
        """The value of all, once each."""
        return self.weighed(np.ones(len(self.rows)))

    def drawn(self, seed: int = SEED) -> Float[np.ndarray, " M"]:
        """The value of each draw of the bootstrap."""
        found = np.array([self.weighed(times) for times in counts_drawn(len(self.rows), seed, self.number)])
        return found + (self.value() - found.mean()) if self.centred else found


Count: TypeAlias = Callable[[Images, Real, Features], CountedSamples]


def _counted(
    name: str, made: Images, weighed: Callable[[Times], float], head: str = "", *, centred: bool = False
) -> CountedSamples:
    if len(made) < 2:
        raise UsageError(f"{name} is of two samples or more; found {len(made)}.", hint="Take a split with more images.")
    rows = np.ones((len(made), 1), np.int64)
    number = FEWER if centred else DRAWS
    return CountedSamples(
        name, rows, lambda sums: 0.0, lambda seed: signed(seed, head, number=number), weighed, centred, number
    )


# --- Frechet distance ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaussian:
    """The mean and the covariance of some features."""

    mean: Float[np.ndarray, " F"]
    covariance: Float[np.ndarray, "F F"]

    @classmethod
    def of(cls, rows: Float[np.ndarray, "N F"], times: Times | None = None) -> Gaussian:
        """Of rows, each of which counts so many times."""
        counts = np.ones(len(rows)) if times is None else times.astype(float)
        total = counts.sum()
        mean = counts @ rows / total
        apart = rows - mean
        return cls(mean, (apart * counts[:, None]).T @ apart / max(1.0, total - 1))


def root(matrix: Float[np.ndarray, "F F"]) -> Float[np.ndarray, "F F"]:
    """The square root of a symmetric matrix that is nowhere negative."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def frechet_distance(one: Gaussian, two: Gaussian, root_of_two: Float[np.ndarray, "F F"] | None = None) -> float:
    """|m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)), the squared distance of two Gaussians (Dowson and Landau 1982).

    tr (S1 S2)^(1/2) is that of the symmetric (R S1 R)^(1/2), where R is the root of S2.
    """
    half = root(two.covariance) if root_of_two is None else root_of_two
    values = np.linalg.eigvalsh(half @ one.covariance @ half)
    both = np.trace(one.covariance) + np.trace(two.covariance) - 2 * np.sqrt(values.clip(0)).sum()
    return float(max(0.0, ((one.mean - two.mean) ** 2).sum() + both))


def count_frechet(made: Images, real: Real, features: Features = PIXELS) -> CountedSamples:
    """How far the features of samples are from those of real images, both taken for Gaussians (Heusel et al. 2017)."""
    ours, theirs = (features.of(each).double().numpy() for each in (made, real))
    right = Gaussian.of(theirs)
    half = root(right.covariance)

    def weighed(times: Times) -> float:
        return frechet_distance(Gaussian.of(ours, times), right, half)

    return _counted("Frechet distance", made, weighed, f"features:{features.name}", centred=True)


# --- diversity and symmetry ---------------------------------------------------------------------------------


def distances(images: Images) -> Float[np.ndarray, "N N"]:
    """How far each image is from each other: the root of the mean squared difference of their numbers, of 0 to 1."""
    flat = images.flatten(1).double() / 255
    return (torch.cdist(flat, flat, compute_mode="donot_use_mm_for_euclid_dist") / flat.shape[1] ** 0.5).numpy()


def mean_distance(apart: Float[np.ndarray, "N N"], times: Times | None = None) -> float:
    """The mean over pairs of different images."""
    counts = np.ones(len(apart)) if times is None else times.astype(float)
    pairs = counts.sum() ** 2 - (counts**2).sum()
    return float(counts @ apart @ counts / pairs) if pairs else 0.0


def count_diversity(made: Images, real: Real, features: Features = PIXELS) -> CountedSamples:
    """How far two samples are apart, in percent of two real images: at half or less a generator has collapsed."""
    ours, theirs = distances(made), mean_distance(distances(real))
    return _counted("diversity", made, lambda times: 100 * mean_distance(ours, times) / max(theirs, 1e-12))


def count_symmetry(made: Images, real: Real, features: Features = PIXELS) -> CountedSamples:
    """How unlike the left half of a sample and its mirrored right half are, in percent of what chance gives.

    Chance is the same half moved by half its height, whose colours are the same and whose places are not: halves that
    know nothing of one another are at a hundred, and a plain surface as well.
    """
    half = made.shape[3] // 2
    values = made.double() / 255
    left, right = values[..., :half], values.flip(3)[..., :half]
    rolled = right.roll(made.shape[2] // 2, 2)
    error, chance = ((left - each).abs().mean((1, 2, 3)).numpy() for each in (right, rolled))

    def weighed(times: Times) -> float:
        return 100 * float(times @ error) / max(float(times @ chance), 1e-12)

    return _counted("symmetry error", made, weighed)
