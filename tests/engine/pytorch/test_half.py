"""A model in half precision: rows filled up to whole tiles change nothing."""

import copy
import os

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.engine.pytorch import Torch, half, search
from regard.engine.pytorch.half import TiledFeedForward, TiledLinear, TiledTable, in_half_precision, packed, tiled
from regard.fast.split_linear import input_linears
from regard.hooks import Looked, hook
from regard.search import Options, beam_search, force
from regard.types import Batch
from small import DECODERS, batch, model, overrides


@pytest.mark.parametrize("shape", [(3,), (16,), (17,), (2, 23), (0,)])
@pytest.mark.parametrize("bias", [False, True])
def test_tiles_are_the_product(shape, bias):
    rows, weight = torch.randn(*shape, 5), torch.randn(7, 5)
    added = torch.randn(7) if bias else None
    assert torch.allclose(tiled(rows, weight, added), F.linear(rows, weight, added), atol=1e-6)


@pytest.mark.skipif(packed(torch.zeros(2, 2, dtype=torch.bfloat16)) is None, reason="no bf16 products in oneDNN here")
@pytest.mark.parametrize("shape", [(1,), (16,), (17,), (2, 23), (300,), (0,)])
@pytest.mark.parametrize("bias", [False, True])
def test_a_packed_matrix_multiplies_as_the_plain_one(shape, bias):
    rows, weight = torch.randn(*shape, 48).bfloat16(), torch.randn(99, 48).bfloat16()
    added = torch.randn(99).bfloat16() if bias else None
    found, plain = tiled(rows, weight, added, packed(weight)), F.linear(rows, weight, added)
    assert (found.shape, found.dtype) == (plain.shape, plain.dtype)
    assert torch.allclose(found, plain, atol=0.1, rtol=0.02), "both are rounded to eight bits"
    if rows.numel():
        exact = F.linear(rows.double(), weight.double(), None if added is None else added.double())
        off, plainly_off = ((each.double() - exact).abs().mean() for each in (found, plain))
        assert off <= 1.05 * plainly_off


def test_only_whole_tiles_are_multiplied(monkeypatch):
    seen = []
    plain = F.linear
    monkeypatch.setattr(half.F, "linear", lambda rows, *rest: seen.append(len(rows)) or plain(rows, *rest))
    for count in (5, 16, 17, 31, 33):
        tiled(torch.randn(count, 3), torch.randn(2, 3), None)
    assert seen == [5, 16, 32, 32, 48]


@pytest.mark.parametrize("decoder", DECODERS)
def test_every_decoder_searches_in_half_precision(decoder):
    """Scores of the same outputs are near; every weight is half, every linear layer and the vocabulary tiled."""
    whole = model(overrides("predict", decoder))
    small = in_half_precision(copy.deepcopy(whole))
    assert {each.dtype for each in small.parameters()} == {torch.bfloat16}
    assert not [each for each in small.modules() if type(each) is nn.Linear]
    assert isinstance(small.predict.readout.score, TiledTable)
    given = batch()
    one, two = (force(each, Batch(given.source, given.target), record=True) for each in (whole, small))
    for exact, near in zip(one, two, strict=True):
        assert near.likelihood == pytest.approx(exact.likelihood, rel=0.02)
        assert all(each.dtype == torch.float32 for each in near.weights)
    found = beam_search(small, given.source, Options(beam=3, max_length=7), start=1, end=2, record=True)
    assert len(found) == len(given.source.mask)


@torch.no_grad()
def test_the_sides_of_a_tiled_layer_are_packed_once_and_add_up():
    layer = in_half_precision(model()).predict.join
    assert isinstance(layer, TiledLinear)
    first, second = torch.randn(17, 10).bfloat16(), torch.randn(17, 6).bfloat16()
    parts = input_linears(layer, 10, 6)
    for _ in range(2):
        found = parts[0](first) + parts[1](second)
        assert torch.allclose(found, layer(torch.cat((first, second), -1)), atol=0.05, rtol=0.02)
        assert sorted(layer.parts) == [(0, 10), (10, 16)]


def test_a_narrowed_table_stays_tiled():
    table = TiledTable(torch.randn(7, 5), torch.randn(7))
    some = table.narrow(torch.tensor([4, 1]))
    rows = torch.randn(17, 5)
    assert isinstance(some, TiledTable)
    assert torch.allclose(some(rows), table(rows)[:, [4, 1]], atol=1e-6)
    assert isinstance(in_half_precision(model()).predict.bridge, nn.Module)
    assert any(isinstance(each, TiledLinear) for each in in_half_precision(model()).modules())


def test_few_kernels_are_kept_unless_somebody_said_how_many(monkeypatch):
    monkeypatch.setenv("LRU_CACHE_CAPACITY", "7")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    in_half_precision(model(overrides("predict", "transformer")))
    assert os.environ["LRU_CACHE_CAPACITY"] == "7"
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == half.KEPT["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]


@torch.no_grad()
@pytest.mark.parametrize("shape", [(3,), (2, 23), (0,)])
def test_a_feed_forward_is_cut_at_zero_on_its_way(shape):
    built = model(overrides("predict", "transformer")).to(torch.bfloat16)
    plain = built.predict.layers[0].feed
    rows = torch.randn(*shape, 8).bfloat16()
    expected = plain(rows)
    in_half_precision(built)
    assert type(built.predict.layers[0].feed) is TiledFeedForward
    assert torch.allclose(built.predict.layers[0].feed(rows), expected, atol=0.02, rtol=0.02)


def test_few_rows_are_left_to_full_precision(monkeypatch):
    """By rows x width x width; given targets count with their frames, and who watches sees the one model."""
    full = model(overrides("predict", "transformer")).eval()
    width = full.encode.widths.keys
    engine = Torch(in_half_precision(copy.deepcopy(full)), full=full)
    asked = []
    for name in ("beam_search", "greedy_search", "force"):
        monkeypatch.setattr(search, name, lambda model, *given, **more: asked.append(model) or [])
    monkeypatch.setattr(search, "WORTH", 6 * width**2)
    for sources, beam in (([[5, 2]] * 2, 3), ([[5, 2]] * 5, 1), ([[5, 2]], 5), ([[5, 2]] * 6, 1)):
        engine.search(sources, Options(beam=beam), record=False)
    engine.force([[5, 2], [5, 2]], [[7], [11]], record=False)
    engine.force([[5, 2]], [[7, 11, 13]], record=False)
    assert [each is full for each in asked] == [False, True, True, False, False, True]
    with hook(Looked, lambda event: None):
        assert engine.suited(1) is engine.model
    assert Torch(full).suited(1) is full, "one that has no other form"
