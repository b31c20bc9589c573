"""Embedders and positions."""

import math

import pytest
import torch

from regard.embed.image import Pixels
from regard.embed.position import Learned, Sinusoid, sinusoid
from regard.embed.tokens import Tokens
from regard.errors import ShapeError
from regard.registry import maker
from regard.types import Grid
from small import pictures, words


def test_sinusoids_by_hand():
    table = sinusoid(0, 3, 4)
    assert torch.allclose(table[0], torch.tensor([0.0, 1.0, 0.0, 1.0]))
    assert torch.allclose(table[2], torch.tensor([math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]))
    assert sinusoid(0, 3, 5).shape == (3, 5)
    far = [turn(9973 / 10000 ** (pair / 3)) for pair in range(3) for turn in (math.sin, math.cos)]
    assert torch.allclose(sinusoid(9973, 1, 6)[0], torch.tensor(far), atol=1e-6), "far away they are as exact"


def test_sinusoids_have_no_longest_length():
    position = Sinusoid(6)
    assert torch.allclose(position(1000, 3), sinusoid(1000, 3, 6))
    assert "table" not in position.state_dict()


def test_learned_positions_end():
    position = Learned(6, longest=7)
    assert torch.equal(position(2, 3), position.table[2:5])
    assert torch.equal(position(4, 3), position.table[4:])
    with pytest.raises(ShapeError, match=r"end at 7; the sequence has 8(.|\n)*longest = 8"):
        position(5, 3)


@pytest.mark.parametrize("name", ["sinusoid", "learned"])
def test_tokens_know_where_they_stand(name):
    embed = Tokens(11, width=6, position=maker("position", name), scale=True)
    ids = torch.tensor([[4, 5, 4, 7]])
    whole = embed.vectors(ids)
    assert torch.allclose(embed.vectors(ids[:, 2:], start=2), whole[:, 2:])
    assert not torch.allclose(whole[0, 0], whole[0, 2])
    assert torch.allclose(whole[0, 1] - embed.position(1, 1)[0], math.sqrt(6) * embed.table.weight[5])


@pytest.mark.parametrize("position", [Sinusoid(6), Learned(6, longest=11)], ids=["sinusoid", "learned"])
def test_every_row_may_have_a_start_of_its_own(position):
    starts = torch.tensor([0, 8, 3])
    assert torch.equal(position(starts, 3), torch.stack([position(start, 3) for start in (0, 8, 3)]))


def test_sinusoids_grow_where_a_start_of_many_asks_for_it():
    position = Sinusoid(6)
    assert torch.allclose(position(torch.tensor([2, 300]), 5)[1], sinusoid(300, 5, 6))
    assert torch.allclose(position(torch.tensor([2, 1]), 5)[0], sinusoid(2, 5, 6))


@pytest.mark.parametrize("scale", [False, True])
def test_vectors_begin_with_the_deviation_asked_for(scale):
    """Before positions, and whatever they are multiplied by; the vector of padding is zero, and stays so."""
    embed = Tokens(997, width=16, scale=scale, deviation=0.3)
    found = embed.vectors(torch.arange(1, 997)[None])
    assert found.std().item() == pytest.approx(0.3, rel=0.05)
    ids = torch.tensor([[0, 0, 5]])
    assert not embed.vectors(ids)[0, :2].any()
    embed.vectors(ids).sum().backward()
    assert embed.table.weight.grad.any(1).nonzero().flatten().tolist() == [5]


def test_learned_positions_begin_small():
    assert Learned(16, longest=499).table.std().item() == pytest.approx(0.02, rel=0.05)


def test_a_batch_keeps_its_mask():
    embed, source = Tokens(31, width=6), words(31, (5, 2))
    found = embed(source)
    assert torch.equal(found.data, embed.vectors(source.data))
    assert found.mask is source.mask


def test_pixels_are_shifted_and_padding_is_zero():
    mask = torch.ones(1, 2, 3, dtype=torch.bool)
    mask[0, 1] = False
    out = Pixels(1, mean=0.5, deviation=0.25)(Grid(torch.full((1, 1, 2, 3), 0.75), mask))
    assert torch.equal(out.data[0, 0], torch.tensor([[1.0] * 3, [0.0] * 3]))


def test_two_channels_say_where_a_pixel_is():
    """Counted from the upper left corner, whatever is around the image; padding says nothing."""
    embed = Pixels(3, coordinates=4)
    source = pictures([(5, 7), (3, 2)])
    found = embed(source).data
    assert embed.width == 5 and found.shape == (2, 5, 5, 7)
    assert torch.equal(found[:, :3], Pixels(3)(source).data)
    assert found[0, 3:, 2, 6].tolist() == [2 / 4 - 1, 6 / 4 - 1]
    assert torch.equal(found[1, 3:, :3, :2], found[0, 3:, :3, :2])
    assert not found[1, :, 3:].any() and not found[1, :, :, 2:].any()
