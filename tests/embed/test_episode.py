"""Images of an episode as vectors: each by itself, its class at the same step, zeros for what is asked about."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from regard.embed.episode import EpisodeEmbedder, Halve
from regard.errors import ShapeError
from regard.task import Spec
from regard.types import Episodes


def episodes(rows=3, shown=6, asked=2, ways=3, channels=1, side=(13, 17)):
    torch.manual_seed(5)
    classes = torch.stack([torch.randperm(shown) % ways for _ in range(rows)])
    return Episodes(torch.rand(rows, shown + asked, channels, *side), classes)


def embedder(channels=1):
    torch.manual_seed(7)
    return EpisodeEmbedder(channels, hidden=5, filters=4, layers=2, ways=3, image=(13, 17))


def test_a_class_stands_at_the_step_of_its_image_and_nothing_beside_what_is_asked_about():
    source, embed = episodes(), embedder()
    found = embed(source)
    assert found.data.shape == (3, 8, 8) and found.ends == 2 and found.mask.all()
    assert torch.equal(found.data[:, :6, 5:], F.one_hot(source.classes, 3).float())
    assert not found.data[:, 6:, 5:].any()
    assert EpisodeEmbedder.settings_of(Spec(1, (3, 2, 13, 17))) == {"ways": 3, "image": (13, 17)}


def test_in_use_every_image_is_read_by_itself_and_nothing_is_learnt_of_it():
    embed, source = embedder().eval(), episodes()
    before = {name: each.clone() for name, each in embed.named_buffers()}
    whole = embed(source).data
    alone = torch.cat([embed(source.take(slice(row, row + 1))).data for row in range(3)])
    assert torch.allclose(whole, alone, atol=1e-6)
    changed = source.data.clone()
    changed[0, 0] = 1 - changed[0, 0]
    other = embed(Episodes(changed, source.classes)).data
    same = (whole - other).abs().amax(-1) < 1e-6
    assert not same[0, 0] and same.sum() == same.numel() - 1
    assert all(torch.equal(before[name], each) for name, each in embed.named_buffers())


def test_in_training_a_norm_is_over_all_images_and_remembers():
    embed, source = embedder().train(), episodes()
    before = embed.layers[0].norm.running_mean.clone()
    found = embed.layers[0].norm(embed.layers[0].convolve(source.data.flatten(0, 1)))
    assert torch.allclose(found.mean((0, 2, 3)), torch.zeros(4), atol=1e-5)
    assert not torch.equal(before, embed.layers[0].norm.running_mean)


def test_the_largest_of_what_relu_leaves():
    torch.manual_seed(3)
    layer, data = Halve(2, 3).eval(), torch.randn(5, 2, 9, 11)
    expected = F.max_pool2d(F.relu(layer.norm(layer.convolve(data))), 2)
    assert torch.allclose(layer(data), expected)


def test_an_image_that_is_halved_too_often_is_refused():
    with pytest.raises(ShapeError, match="4 layers leave nothing of an image of 13 x 17 pixels"):
        EpisodeEmbedder(1, layers=4, image=(13, 17))
