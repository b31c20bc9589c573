"""Noise for images: as strong as it says, the same for the same seed."""

import pytest
import torch

from regard.data.image_noise import Noise

GREY = torch.full((3, 60, 80), 128, dtype=torch.uint8)


def test_gaussian_noise_has_its_deviation():
    found = Noise("gaussian", 0.1)(GREY, 5).float()
    assert found.mean() == pytest.approx(128, abs=0.8)
    assert found.std() / 255 == pytest.approx(0.1, abs=0.003)
    assert not torch.equal(found[0], found[1]), "each channel has its own"


def test_it_stays_within_black_and_white():
    found = Noise("gaussian", 2.0)(GREY, 5)
    assert found.dtype == torch.uint8 and (found == 0).any() and (found == 255).any()


def test_salt_makes_a_share_of_pixels_black_or_white_in_all_channels():
    found = Noise("salt", 0.3)(GREY, 5)
    black, white = ((found == value).all(0).float().mean() for value in (0, 255))
    assert black == pytest.approx(0.15, abs=0.02) and white == pytest.approx(0.15, abs=0.02)
    assert ((found == 128).all(0) | (found == 0).all(0) | (found == 255).all(0)).all()


def test_patches_are_whole_squares_and_a_share_of_them():
    found = Noise("patches", 0.25, patch=20)(GREY, 5)
    squares = found[0].view(3, 20, 4, 20).transpose(1, 2)
    kinds = [set(square.flatten().tolist()) for row in squares for square in row]
    assert sorted(map(len, kinds)) == [1] * 12
    assert sum(kind == {0} for kind in kinds) == 3
    assert Noise("patches", 0.5, patch=7)(GREY[:, :13, :17], 1).shape == (3, 13, 17)


@pytest.mark.parametrize("kind", ["gaussian", "salt", "patches"])
def test_the_seed_decides_and_the_image_stays(kind):
    noise, before = Noise(kind, 0.3), GREY.clone()
    assert torch.equal(noise(GREY, 5), noise(GREY, 5))
    assert not torch.equal(noise(GREY, 5), noise(GREY, 6))
    assert torch.equal(GREY, before)
    state = torch.get_rng_state()
    noise(GREY, 5)
    assert torch.equal(torch.get_rng_state(), state)
    assert Noise()(GREY, 5) is GREY
