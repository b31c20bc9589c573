"""Metrics of samples: cases by hand, SciPy beside the Frechet distance, limits, and intervals."""

import numpy as np
import pytest
import torch

from regard.data.mirror import draw
from regard.errors import UsageError
from regard.evaluate.metrics import METRICS, SAMPLED, measured, sampled
from regard.evaluate.samples import (
    PIXELS,
    Features,
    Gaussian,
    count_diversity,
    count_frechet,
    count_symmetry,
    distances,
    frechet_distance,
    mean_distance,
    root,
    small_pixels,
)


def images(count, split="train", first=0):
    drawn = (draw(split, 0, first + number)[0] for number in range(count))
    return torch.stack([torch.from_numpy(each).permute(2, 0, 1) for each in drawn])


def plain(*values):
    """Images of one number each."""
    return torch.stack([torch.full((1, 4, 6), value, dtype=torch.uint8) for value in values])


class Made:
    text = ""

    def __init__(self, pixels):
        self.pixels = pixels


# --- Frechet distance ---------------------------------------------------------------------------------------


def test_frechet_by_hand():
    """Of one feature: (m1 - m2)^2 + (s1 - s2)^2."""
    one, two = Gaussian(np.array([2.0]), np.array([[9.0]])), Gaussian(np.array([5.0]), np.array([[25.0]]))
    assert frechet_distance(one, two) == pytest.approx(3**2 + 2**2)
    apart = Gaussian(np.array([1.0, 0.0]), np.diag([4.0, 1.0])), Gaussian(np.array([0.0, 2.0]), np.diag([1.0, 9.0]))
    assert frechet_distance(*apart) == pytest.approx(1 + 4 + 1 + 4)


def test_frechet_is_scipys():
    linalg = pytest.importorskip("scipy.linalg")
    dice = np.random.default_rng(3)
    one, two = (Gaussian.of(dice.normal(size=(31, 7)) @ dice.normal(size=(7, 7)) + dice.normal(size=7)) for _ in "ab")
    both = linalg.sqrtm(one.covariance @ two.covariance).real
    right = ((one.mean - two.mean) ** 2).sum() + np.trace(one.covariance + two.covariance - 2 * both)
    assert frechet_distance(one, two) == pytest.approx(right, rel=1e-6)
    assert frechet_distance(two, one) == pytest.approx(right, rel=1e-6)
    assert np.allclose(root(one.covariance), linalg.sqrtm(one.covariance).real, atol=1e-6)


def test_of_few_samples_it_is_finite_though_no_matrix_has_an_inverse():
    rows = np.random.default_rng(5).normal(size=(3, 11))
    assert frechet_distance(Gaussian.of(rows), Gaussian.of(rows)) == pytest.approx(0, abs=1e-6)
    assert frechet_distance(Gaussian.of(rows), Gaussian.of(rows + 2)) == pytest.approx(44)


def test_a_gaussian_is_numpys_and_counts_what_is_drawn_twice():
    rows = np.random.default_rng(7).normal(size=(13, 5))
    found = Gaussian.of(rows)
    assert np.allclose(found.mean, rows.mean(0)) and np.allclose(found.covariance, np.cov(rows.T))
    times = np.array([2, 0, 1] + [1] * 10)
    again = Gaussian.of(rows, times)
    assert np.allclose(again.covariance, np.cov(np.repeat(rows, times, 0).T))


def test_the_same_images_are_at_no_distance_and_others_are():
    real = images(41)
    assert count_frechet(real, real).value() == pytest.approx(0, abs=1e-4)
    near = count_frechet(images(41, "val"), real).value()
    assert near > 0
    assert count_frechet(plain(3, 5, 7).repeat(1, 3, 8, 6)[..., :32, :32], real).value() > 2 * near


def test_features_are_those_that_are_given():
    lightness = Features("lightness", lambda some: some.double().mean((1, 2, 3))[:, None])
    counted = count_frechet(plain(10, 30), plain(20, 60), lightness)
    one, two = np.std([10, 30], ddof=1), np.std([20, 60], ddof=1)
    assert counted.value() == pytest.approx((20 - 40) ** 2 + (one - two) ** 2)
    assert counted.score().signature.startswith("features:lightness|bs:200|")
    assert small_pixels(images(3)).shape == (3, 3 * 64) and small_pixels(plain(255)).max() == 1.0
    assert PIXELS.name == "pixels 8 x 8"


def test_its_interval_lies_around_its_value():
    """Drawn with replacement samples are alike, which would lie above the value itself."""
    score = count_frechet(images(61), images(61, "val")).score()
    assert score.low < score.value < score.high
    counted = count_frechet(images(61), images(61, "val"))
    assert counted.drawn().mean() == pytest.approx(counted.value())
    assert len(counted.drawn()) == 200


# --- diversity ----------------------------------------------------------------------------------------------


def test_diversity_by_hand():
    made, real = plain(0, 51, 102), plain(0, 255)
    assert distances(made).tolist() == [
        pytest.approx([0, 0.2, 0.4]),
        pytest.approx([0.2, 0, 0.2]),
        pytest.approx([0.4, 0.2, 0]),
    ]
    assert mean_distance(distances(made)) == pytest.approx(0.8 / 3)
    assert mean_distance(distances(real)) == pytest.approx(1.0)
    assert count_diversity(made, real).value() == pytest.approx(100 * 0.8 / 3)


def test_one_sample_again_and_again_has_no_diversity():
    real = images(11)
    assert count_diversity(real[:1].repeat(7, 1, 1, 1), real).value() == 0
    assert count_diversity(real, real).value() == pytest.approx(100)


def test_what_is_drawn_twice_is_no_pair():
    apart = distances(plain(0, 255, 255))
    assert mean_distance(apart, np.array([2, 1, 0])) == pytest.approx(1.0 * 2 * 2 / (9 - 5))
    assert mean_distance(apart, np.array([3, 0, 0])) == 0.0


# --- symmetry -----------------------------------------------------------------------------------------------


def test_symmetry_by_hand():
    """Left half 10 above 30; right half, mirrored, 14 above 30: 4 of 2 x 20, as the moved half has it."""
    image = torch.tensor([[10, 10, 14, 14], [30, 30, 30, 30]], dtype=torch.uint8)[None, None].repeat(2, 1, 1, 1)
    error, chance = (4 + 0) / 2, (20 + 16) / 2
    assert count_symmetry(image, image).value() == pytest.approx(100 * error / chance)


def test_symmetric_images_have_no_error_and_plain_ones_are_not_rewarded():
    real = images(31).clone()
    real[..., 16:] = real[..., :16].flip(3)
    assert count_symmetry(real, real).value() == 0
    noise = torch.randint(120, 130, (31, 3, 32, 32), dtype=torch.uint8)
    assert count_symmetry(noise, real).value() == pytest.approx(100, abs=3)


def test_the_data_is_symmetric_and_halves_of_other_images_are_not():
    real, others = images(101), images(101, "val")
    assert count_symmetry(real, real).value() < 12
    mixed = real.clone()
    mixed[..., 16:] = others[..., 16:]
    assert 85 < count_symmetry(mixed, real).value() < 115
    moved = real.clone()
    moved[..., 16:] = real.roll(9, 2)[..., 16:]
    assert count_symmetry(moved, real).value() > 70


def test_a_middle_column_belongs_to_no_half():
    image = torch.arange(40, dtype=torch.uint8).view(1, 1, 8, 5).repeat(2, 1, 1, 1)
    image[..., 3:] = image[..., :2].flip(3)
    assert count_symmetry(image, image).value() == 0


# --- the table ----------------------------------------------------------------------------------------------


def test_the_table_has_them():
    made, real = images(23), images(29, "val")
    answers = [Made(each) for each in made]
    names = [*SAMPLED, "symmetry_error"]
    counted = sampled([*names, "bleu"], answers, list(real))
    assert list(counted) == names
    assert measured(names, answers, list(real)) == {name: each.value() for name, each in counted.items()}
    assert [METRICS[name].higher for name in names] == [False, True, False]
    assert all(METRICS[name].needs == "samples" for name in names)
    for each in counted.values():
        score = each.score()
        assert score.low <= score.value <= score.high and score == each.score(), "the same draws every time"


def test_a_value_of_all_samples_is_not_of_some():
    counted = count_diversity(images(7), images(7))
    assert counted.take(np.arange(7)) is counted
    with pytest.raises(UsageError, match="of all samples together"):
        counted.take(np.arange(3))
    with pytest.raises(UsageError, match="two samples or more; found 1"):
        count_frechet(images(1), images(7))
