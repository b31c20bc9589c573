"""A model whose products go the fastest way: the same model, which can still be trained and saved."""

import copy

import pytest
import torch

import regard
from regard.engine.pytorch import direct
from regard.fast import direct as products
from regard.model import load, save
from regard.recipe import resolve
from small import TARGET, batch, built, forward, model

known = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
pytestmark = pytest.mark.skipif(not known, reason="oneDNN is not in this build")


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    """As on a processor that gains by it."""
    monkeypatch.setattr(products, "helps", lambda: True)
    monkeypatch.setattr(direct, "helps", lambda: True)


SETTINGS = [
    [],
    ["predict.readout=maxout"],
    ["predict.readout=tied"],
    ["predict.part=transformer", "predict.feed=13", "predict.self_attend.heads=2", "predict.embed.width=8"],
    ["encode.part=transformer", "encode.activation=silu", "embed.position=sinusoid", "predict.bridge=project"],
    ["encode.part=transformer", "encode.activation=gelu", "embed.position=sinusoid", "predict.bridge=project"],
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_computes_the_same_and_can_be_trained_and_saved(settings, tmp_path):
    plain, pairs = model(settings).eval(), batch()
    quick = direct.direct_products(copy.deepcopy(plain))
    assert any(type(each) is direct.DirectLinear for each in quick.modules())
    with torch.no_grad():
        torch.testing.assert_close(quick.teach(pairs).logits, plain.teach(pairs).logits, rtol=1e-4, atol=1e-5)
    losses = []
    for each in (plain, quick):
        loss = each.teach(pairs).logits.square().sum()
        loss.backward()
        losses.append([weight.grad for weight in each.parameters()])
    assert all(torch.equal(one, two) for one, two in zip(*losses, strict=True) if one is not None)
    save(quick, tmp_path / "m")
    assert all(torch.equal(a, b) for a, b in zip(load(tmp_path / "m").parameters(), plain.parameters(), strict=True))


def test_it_can_be_watched():
    """Then every look and every product is made in the open, with the same outcome."""
    quick = direct.direct_products(model(SETTINGS[3]).eval())
    pairs = batch()
    with torch.no_grad():
        fast = quick.teach(pairs).logits
        with regard.watch(quick) as seen:
            torch.testing.assert_close(quick.teach(pairs).logits, fast, rtol=1e-4, atol=1e-5)
    assert seen.weights("cross").shape[-1] == pairs.source.data.shape[1]


def test_hidden_pieces_are_found_alike():
    plain = built(resolve("bert", ["embed.width=16", "encode.feed=24", "encode.layers=2", "encode.attend.heads=2"]))
    quick = direct.direct_products(copy.deepcopy(plain.eval()))
    with torch.no_grad():
        torch.manual_seed(1)
        one = forward(plain).logits
        torch.manual_seed(1)
        torch.testing.assert_close(forward(quick).logits, one, rtol=1e-4, atol=1e-5)
    assert quick.predict.direct and one.shape[-1] == TARGET


def test_a_layer_that_somebody_put_in_is_asked():
    quick = direct.direct_products(model(SETTINGS[-1]).eval())
    feed = quick.encode.layers[0].feed
    feed.widen = torch.nn.Sequential(feed.widen, torch.nn.Linear(feed.narrow.in_features, feed.narrow.in_features))
    with torch.no_grad():
        rows = torch.randn(3, feed.narrow.out_features)
        wide = torch.nn.functional.gelu(feed.widen(rows))
        torch.testing.assert_close(feed(rows), feed.narrow(wide))
