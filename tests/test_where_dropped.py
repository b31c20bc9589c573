"""Where dropout stands in every part: with a stand-in that drops all numbers, what is left can be written by hand."""

import sys

import pytest
import torch
from torch.nn import functional as F

from regard.attend import Attention, Heads
from regard.embed.tokens import Tokens
from regard.encode.convolve import GatedConvolution
from regard.encode.recurrent import RecurrentEncoder
from regard.encode.transformer import TransformerEncoder
from regard.engine.pytorch import Torch
from regard.fast.dropped_attention import dropped_attention
from regard.learn.guide import head_counts
from regard.masks import from_lengths
from regard.registry import KINDS, maker, names, settings
from regard.search import Options
from regard.sublayers import Residual
from regard.types import Batch, Padded
from small import IMAGE_ENCODERS, batch, model, overrides, pictures

SHARE = 0.37
DROPPING = [(kind, name) for kind in KINDS for name, cls in names(kind).items() if "dropout" in settings(cls)]
RECURRENT = ["bahdanau", "google", "lstmn", "luong", "plain", "tutorial"]


@pytest.fixture
def dropped(monkeypatch):
    """All that is dropped becomes zero: the tensors that were, in order."""
    found = []

    def all_of(rows, share):
        assert share == SHARE
        found.append(rows.detach().clone())
        return torch.zeros_like(rows)

    monkeypatch.setattr(F, "dropout", all_of)
    monkeypatch.setattr(F, "dropout2d", all_of)
    return found


def padded(width=6):
    return Padded(torch.randn(3, 7, width), from_lengths(torch.tensor((7, 5, 2))))


def owner(built, kind):
    """The module of a part's kind in a small model."""
    return built.predict.attend if kind == "attend" else getattr(built, kind)


def shares(part, share=None):
    """What the modules of a part drop; with `share`, that is set first."""
    found = [each for each in part.modules() if hasattr(each, "dropout")]
    for each in found if share is not None else ():
        each.dropout = share
    return {each.dropout for each in found}


def test_the_parts_that_drop_are_known():
    """A new one is tested by hand below."""
    told = {kind: [name for each, name in DROPPING if each == kind] for kind, _ in DROPPING}
    assert told == {
        "embed": ["tokens"],
        "encode": ["convolve", "ladder", "lstmn", "recurrent", "transformer"],
        "attend": ["attention"],
        "predict": ["bahdanau", "google", "label", "lstmn", "luong", "plain", "tag", "transformer", "tutorial", "xu"],
    }


@pytest.mark.parametrize(("kind", "name"), DROPPING)
def test_in_training_and_only_there(kind, name, dropped):
    layers = ["encode.layers=2"] if kind == "encode" and name in ("lstmn", "recurrent") else []
    looks = kind == "encode" and name in IMAGE_ENCODERS
    built = model([*overrides(kind, name), *layers], **({"source": 3} if looks else {}))
    pairs = Batch(pictures([(16, 16), (12, 16)]), None) if looks else batch()
    shares(built, 0.0)
    shares(owner(built, kind), SHARE)

    def run():
        return built.teach(pairs) if hasattr(built.predict, "teach") else built.predict(built.read(pairs.source))

    run()
    assert not dropped, "in use nothing may be dropped"
    built.train()
    run()
    assert dropped


@pytest.mark.parametrize(("kind", "name"), DROPPING)
def test_the_share_that_is_written_is_the_share_that_is_dropped(kind, name):
    """From a recipe's table to the number that every `drop` is given."""
    built = model([*overrides(kind, name), f"{kind}.dropout={SHARE}"])
    found = shares(owner(built, kind))
    assert SHARE in found
    assert found <= {SHARE, 0.0}, "what has no share written drops nothing"


def test_token_vectors_are_dropped_after_scale_and_position(dropped):
    embed = Tokens(31, width=6, scale=True, position=maker("position", "sinusoid"), dropout=SHARE)
    ids = torch.randint(1, 31, (3, 5))
    assert not embed.vectors(ids, 2).any()
    (whole,) = dropped
    assert torch.equal(whole, embed.eval().vectors(ids, 2))
    assert torch.allclose(whole, embed.table(ids) * 6**0.5 + embed.position(2, 5))


@pytest.mark.parametrize("residual", [False, True])
def test_a_recurrent_encoder_drops_between_its_layers(residual, dropped):
    encoder = RecurrentEncoder(6, hidden=6, layers=3, residual=residual, dropout=SHARE).train()
    source = padded()
    memory = encoder(source)
    first, second, third = encoder.layers
    read, final = first(source.data, source.mask)
    above = second(torch.zeros_like(read), source.mask)[0] + (read if residual else 0)
    top = third(torch.zeros_like(read), source.mask)[0] + (above if residual else 0)
    assert torch.allclose(memory.values, top, atol=1e-6)
    assert torch.allclose(memory.final[0].hidden, final.hidden, atol=1e-6), "what is read first is whole"
    assert len(dropped) == 2
    assert torch.allclose(dropped[0], read, atol=1e-6)
    assert torch.allclose(dropped[1], above, atol=1e-6)


def test_a_convolution_drops_what_it_reads_after_the_norm(dropped):
    layer, source = GatedConvolution(6, 3, SHARE), padded()
    found = layer(source.data, source.mask)
    expected = source.data + F.glu(layer.convolve.bias, -1)
    assert torch.allclose(found, expected, atol=1e-6)
    assert torch.allclose(dropped[0], layer.norm(source.data))


@pytest.mark.parametrize("norm", ["before", "after"])
def test_a_transformers_encoder_drops_what_each_sublayer_brings(norm, dropped):
    encoder = TransformerEncoder(
        6, layers=2, feed=13, norm=norm, dropout=SHARE, attend=maker("attend", "heads", heads=2)
    )
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.add_(torch.randn_like(weight))
    source = padded()
    found = encoder(source).values
    if norm == "before":  # all skips: what comes in goes out, normed once at the top
        expected = encoder.last(source.data)
    else:
        expected = source.data
        for layer in encoder.layers:
            expected = layer.around_feed.norm(layer.around_attend.norm(expected))
    assert torch.allclose(found, expected, atol=1e-5)
    first, rows = encoder.layers[0], source.data
    asked = first.around_attend.norm(rows) if norm == "before" else rows
    brought = first.attend(asked, first.attend.prepare(asked, asked, source.mask)).context
    assert torch.allclose(dropped[0], brought, atol=1e-5)
    rows = rows if norm == "before" else first.around_attend.norm(rows)
    assert torch.allclose(dropped[1], first.feed(first.around_feed.norm(rows) if norm == "before" else rows), atol=1e-5)
    assert len(dropped) == 4


@pytest.mark.parametrize("norm", ["before", "after"])
def test_a_transformers_decoder_drops_what_each_sublayer_brings(norm, dropped):
    built, pairs = model([*overrides("predict", "transformer"), f"predict.norm={norm}"]), batch()
    decoder = built.predict.train()
    for around in decoder.modules():
        if isinstance(around, Residual):
            around.dropout = SHARE
    rows = decoder.embed.vectors(pairs.target.data[:, :-1])
    for layer in decoder.layers:
        for around in (layer.around_self, layer.around_attend, layer.around_feed):
            rows = rows if norm == "before" else around.norm(rows)
    found = built.teach(pairs).logits
    assert torch.allclose(found, decoder.readout(decoder.last(rows)), atol=1e-5)
    assert len(dropped) == 3 * len(decoder.layers)


@pytest.mark.parametrize("decoder", RECURRENT)
def test_a_recurrent_decoder_drops_before_its_readout(decoder, dropped):
    """All that the readout sees, and nothing that goes into the next step."""
    layers = ["predict.layers=1"] if decoder == "google" else []
    built, pairs = model([*overrides("predict", decoder), *layers]), batch()
    state = built.start(pairs.source)
    used = built.step(pairs.target.data[:, 0], state)
    built.predict.dropout = SHARE
    built.train()
    stepped = built.step(pairs.target.data[:, 0], built.start(pairs.source))
    blank = built.predict.readout(torch.zeros_like(dropped[-1]))
    assert torch.allclose(stepped.logits, blank)
    assert torch.allclose(built.predict.eval().readout(dropped[-1]), used.logits, atol=1e-5)
    for one, other in zip(stepped.state.layers, used.state.layers, strict=True):
        assert torch.allclose(one.hidden, other.hidden, atol=1e-5)
    dropped.clear()
    built.predict.train()
    assert torch.allclose(built.teach(pairs).logits, blank[0].expand(3, 5, -1))
    assert dropped[-1].shape[:2] == (3, 5)


@pytest.mark.parametrize("decoder", ["lstmn", "luong", "plain"])
def test_a_recurrent_decoder_drops_between_its_layers(decoder, dropped):
    built, pairs = model([*overrides("predict", decoder), "predict.layers=3", "encode.layers=3"]), batch()
    built.predict.dropout = SHARE
    built.train()
    state = built.start(pairs.source)
    stepped = built.step(pairs.target.data[:, 0], state)
    for number, cell in enumerate(list(built.predict.cells)[1:], 1):
        expected = cell(cell.project[0](torch.zeros(3, 8)), state.layers[number])
        assert torch.allclose(stepped.state.layers[number].hidden, expected.hidden, atol=1e-6)
        assert torch.allclose(dropped[number - 1], stepped.state.layers[number - 1].hidden)
    assert len(dropped) == 3, "twice between three layers, once before the readout"


@pytest.mark.parametrize("residual", ["true", "false"])
def test_googles_decoder_drops_what_a_layer_reads_from_below_and_no_context(residual, dropped):
    settings = [*overrides("predict", "google"), "predict.layers=3", "encode.layers=3", f"predict.residual={residual}"]
    built, pairs = model(settings), batch()
    built.predict.dropout = SHARE
    built.train()
    state = built.start(pairs.source)
    stepped = built.step(pairs.target.data[:, 0], state)
    context = stepped.looked[0].context[:, 0]
    below = stepped.state.layers[0].hidden
    for number, cell in enumerate(list(built.predict.cells)[1:], 1):
        assert torch.allclose(dropped[number - 1], below, atol=1e-6)
        expected = cell(cell.project[0](torch.zeros(3, 8)) + cell.project[1](context), state.layers[number])
        assert torch.allclose(stepped.state.layers[number].hidden, expected.hidden, atol=1e-6)
        below = expected.hidden + below if residual == "true" else expected.hidden
    assert torch.allclose(dropped[-1], below, atol=1e-6)
    assert len(dropped) == 3


@pytest.mark.parametrize("pool", ["attend", "mean", "max", "last", "summary"])
def test_a_label_drops_before_its_linear_layer(pool, dropped):
    settings = [*overrides("predict", "label"), f"predict.pool={pool}", f"predict.dropout={SHARE}"]
    built = model(settings if pool == "attend" else [*settings, "attend=none"])
    used = built.label(batch().source).logits.shape
    found = built.train().label(batch().source).logits
    assert torch.allclose(found, built.predict.score.bias.expand(used))
    assert len(dropped) == 1


@pytest.mark.parametrize("changes", [[], ["attend=none"]])
def test_tags_drop_before_their_linear_layer(changes, dropped):
    built, source = model([*overrides("predict", "tag"), f"predict.dropout={SHARE}", *changes]), batch().source
    found = built.train().predict(built.read(source)).logits
    assert torch.allclose(found, built.predict.score.bias.expand(found.shape))
    assert len(dropped) == 1


@pytest.mark.parametrize("scope", names("scope"))
def test_an_attention_drops_weights_in_every_scope_and_tells_them_whole(scope, dropped):
    attend = Attention(5, 5, 5, score=maker("score", "cosine"), scope=maker("scope", scope), dropout=SHARE)
    query, keys, values = (torch.randn(3, 7, 5) for _ in range(3))
    prepared = attend.prepare(keys, values, from_lengths(torch.tensor((7, 5, 2))))
    used = attend.eval()(query, prepared, start=0)
    found = attend.train()(query, prepared, start=0)
    assert used.context.any()
    assert not found.context.any(), "all weights were dropped, and something was brought home"
    assert torch.allclose(found.weights, used.weights)
    assert len(dropped) == 1
    assert torch.allclose(dropped[0].sum(-1), used.weights.sum(-1), atol=1e-6)


@pytest.mark.parametrize("inner", [Attention, Heads])
def test_a_fused_look_drops_in_training_and_only_there(inner, fused, monkeypatch):
    """In training by our own kernel, which gets what PyTorch's would; in use by PyTorch's, which drops nothing."""
    ours = []

    def kernel(query, keys, values, allowed, share, scale):
        ours.append((allowed, share, scale))
        return dropped_attention(query, keys, values, allowed, share, scale)

    monkeypatch.setattr(sys.modules["regard.attend.attention"], "dropped_attention", kernel)
    single = maker("attend", "attention", score=maker("score", "scaled_dot"), dropout=SHARE)
    attend = single(6, 6, 6) if inner is Attention else Heads(6, 6, 6, heads=2, attend=single)
    rows = torch.randn(2, 41, 6)
    for training in (True, False):
        attend.train(training)(rows, attend.prepare(rows, rows))
    assert [call["dropout"] for call in fused] == [0.0]
    width = 6 if inner is Attention else 3
    assert ours == [(None, SHARE, pytest.approx(width**-0.5))]


def test_a_fused_look_keeps_the_mean_of_what_it_drops():
    attend = Attention(5, 5, 5, score=maker("score", "scaled_dot"), dropout=SHARE).train()
    query, keys, values = torch.randn(1, 3000, 5), torch.randn(1, 37, 5), torch.ones(1, 37, 5)
    found = attend(query, attend.prepare(keys, values)).context[..., 0]
    assert found.mean().item() == pytest.approx(1.0, abs=0.02)
    assert found.std() > 0.05


@pytest.mark.parametrize("decoder", ["luong", "transformer"])
def test_who_uses_a_model_drops_nothing(decoder, dropped):
    """Search, force and the choice of heads put a model that was just trained into use themselves."""
    built, sources, targets = model(overrides("predict", decoder)), [[5, 7, 11, 2], [13, 2]], [[5, 17], [19, 23, 29]]
    shares(built, SHARE)
    engine = Torch(built.train())
    for beam in (1, 3):
        engine.search(sources, Options(beam=beam, max_length=5), record=True)
    engine.force(sources, targets, record=True)
    head_counts(built.train())
    assert not dropped
    assert built.training, "who only asks leaves a model in training as it was"
