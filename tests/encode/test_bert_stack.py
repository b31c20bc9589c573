"""What BERT and ALBERT add to embedding and encoder: segments, norms, inner widths, shared layers, summaries."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import regard
from regard.embed.tokens import Tokens
from regard.encode.transformer import TransformerEncoder
from regard.initialise import TruncatedNormal
from regard.recipe import resolve
from regard.registry import maker
from regard.types import Padded, Segmented
from small import words

HEADS = maker("attend", "heads", heads=2)


def encoder(**settings):
    torch.manual_seed(5)
    usual = {"layers": 3, "feed": 13, "dropout": 0.0, "attend": HEADS, "norm": "after"}
    return TransformerEncoder(6, **{**usual, **settings}).double().eval()


def states(lengths=(7, 5, 2)):
    mask = words(31, lengths).mask
    return Padded(torch.randn(*mask.shape, 6, dtype=torch.float64), mask)


def segmented(lengths=(5, 3)):
    source = words(31, lengths)
    return Segmented(source.data, source.mask, (torch.arange(source.data.shape[1]) > 2).long().expand_as(source.data))


def test_vectors_are_summed_normed_and_widened():
    torch.manual_seed(2)
    embed = Tokens(
        31, width=7, inner=3, segments=2, norm=True, epsilon=1e-3, position=maker("position", "learned", longest=11)
    )
    source = segmented()
    found = embed(source).data
    assert found.shape == (2, 5, 7) and embed.width == 7 and embed.table.weight.shape == (31, 3)
    for row, place in ((0, 1), (1, 2), (0, 4)):
        summed = (
            embed.table.weight[source.data[row, place]]
            + embed.position.table[place]
            + embed.segment.weight[int(place > 2)]
        )
        wanted = embed.widen(F.layer_norm(summed, (3,), embed.norm.weight, embed.norm.bias, 1e-3))
        assert torch.allclose(found[row, place], wanted, atol=1e-6)


def test_a_text_alone_is_of_the_first_segment():
    embed = Tokens(31, width=7, segments=2)
    source = words(31, (5, 3))
    first = Segmented(source.data, source.mask, torch.zeros_like(source.data))
    assert torch.equal(embed(source).data, embed(first).data)
    assert not torch.equal(embed(source).data, embed(segmented()).data)


def test_nothing_new_is_there_where_nobody_asked():
    assert set(dict(Tokens(31, width=7).named_parameters())) == {"table.weight"}
    assert set(dict(encoder().named_children())) == {"layers", "last"}


def test_shared_layers_are_the_layer_again_and_again():
    shared = encoder(share_layers=True)
    unrolled = encoder()
    for layer in unrolled.layers:
        layer.load_state_dict(shared.layers[0].state_dict())
    source = states()
    one, many = shared(source), unrolled(source)
    assert torch.equal(one.values, many.values)
    one.values[source.mask].square().sum().backward()
    many.values[source.mask].square().sum().backward()
    for name, weight in shared.layers[0].named_parameters():
        copies = sum(layer.get_parameter(name).grad for layer in unrolled.layers)
        assert torch.allclose(weight.grad, copies, rtol=1e-10, atol=1e-12), name


@pytest.mark.parametrize("layers", [1, 5, 12])
def test_shared_layers_have_as_many_numbers_whatever_their_depth(layers):
    def count(part):
        return sum(weight.numel() for weight in part.parameters())

    assert count(encoder(layers=layers, share_layers=True)) == count(encoder(layers=1))
    assert count(encoder(layers=layers)) == layers * count(encoder(layers=1))


def test_dropout_is_drawn_anew_in_every_shared_layer():
    shared = encoder(share_layers=True, dropout=0.5, layers=2).train()
    seen = []
    shared.layers[0].feed.register_forward_hook(lambda module, given, found: seen.append(found))
    shared(states((7,)))
    assert len(seen) == 2 and not torch.equal(*seen)


@pytest.mark.parametrize("summary", ["mean", "first", "pooled"])
def test_summaries(summary):
    part, source = encoder(summary=summary), states()
    found = part(source)
    wanted = {
        "mean": torch.stack([row[mask].mean(0) for row, mask in zip(found.values, source.mask, strict=True)]),
        "first": found.values[:, 0],
        "pooled": torch.tanh(part.pool(found.values[:, 0])) if part.pool is not None else None,
    }[summary]
    assert torch.allclose(found.summary, wanted)
    alone = part(Padded(source.data[1:2, :5], source.mask[1:2, :5]))
    assert torch.allclose(alone.summary[0], found.summary[1], atol=1e-12)


@pytest.mark.parametrize(("activation", "function"), [("relu", F.relu), ("gelu", F.gelu)])
def test_activations(activation, function):
    feed = encoder(activation=activation).layers[0].feed
    rows = torch.randn(3, 6, dtype=torch.float64)
    assert torch.allclose(feed(rows), feed.narrow(function(feed.widen(rows))))


def test_a_watcher_sees_every_shared_layer():
    model = resolve("albert").build(31, 31).eval()
    source = words(31, (7, 5))
    with regard.watch(model) as seen:
        model.read(source)
    assert seen.kinds == {"encoder-self": 4}
    assert seen.weights("encoder-self", 0).shape == (2, 4, 7, 7)
    layers = [seen.weights("encoder-self", layer) for layer in range(4)]
    assert not torch.equal(layers[0], layers[3])


def test_weights_begin_as_the_paper_says():
    torch.manual_seed(1)
    model = resolve("bert").build(997, 997)
    for name, weight in model.named_parameters():
        if weight.dim() > 1:
            assert weight.abs().max() <= 0.04 and 0.015 < weight.std() < 0.02, name
        elif name.endswith("bias"):
            assert weight.eq(0).all(), name
    norms = [each for each in model.modules() if isinstance(each, nn.LayerNorm)]
    assert len(norms) == 2 + 2 * 4 and all(each.weight.eq(1).all() and each.eps == 1e-12 for each in norms)
    assert model.embed.table.weight[0].eq(0).all()
    same = copy.deepcopy(model)
    TruncatedNormal(deviation=0.5)(same)
    assert same.encode.layers[0].feed.widen.weight.std() > 0.3
