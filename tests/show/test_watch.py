"""Watching: every attention with its kind, layer, head and step, equal to what the model itself returns."""

import threading

import pytest
import torch

import regard
from regard.attend import Attention
from regard.errors import UnknownName, UsageError
from regard.hooks import Looked, hooked
from regard.show.watch import Seen, watch
from regard.types import Batch
from small import ATTENDING, SOURCE, TARGET, batch, model, overrides, pictures, words

TRANSFORMER = [
    "encode.part=transformer",
    "encode.layers=3",
    "encode.feed=13",
    "encode.attend.heads=4",
    "predict.part=transformer",
    "predict.layers=2",
    "predict.feed=13",
    "predict.embed.width=8",
    "predict.self_attend.heads=2",
    "attend.part=heads",
    "attend.heads=4",
]


@pytest.fixture(scope="module")
def transformer():
    torch.manual_seed(3)
    return model(TRANSFORMER)


@pytest.fixture(scope="module")
def recurrent():
    torch.manual_seed(3)
    return model()


def stepped(one, pair, count=5):
    """The decoder's steps one by one, given the right pieces; what each returned."""
    state, found = one.start(pair.source), []
    for step in range(count):
        found.append(one.step(pair.target.data[:, step], state))
        state = found[-1].state
    return found


# --- what is recorded --------------------------------------------------------------------------------------


def test_by_hand():
    """Two keys, one of them far more like the query: the weights are the softmax of 0 and ln 3."""
    query = torch.tensor([[[1.0, 0.0]]])
    keys = torch.tensor([[[0.0, 5.0], [torch.tensor(3.0).log(), 5.0]]])
    with watch() as seen:
        looked = regard.attention(query, keys, keys, score="dot")
    (look,) = seen.looks
    assert (look.kind, look.layer, look.step) == ("attention", 0, 0)
    assert torch.allclose(look.weights, torch.tensor([[[[0.25, 0.75]]]]))
    assert torch.equal(look.weights[:, 0], looked.weights)


def test_a_recurrent_decoder_taught(recurrent):
    pair = batch()
    with regard.watch(recurrent) as seen:
        taught = recurrent.teach(pair)
    assert seen.kinds == {"cross": 1}
    assert [(look.kind, look.layer, look.step, tuple(look.weights.shape)) for look in seen.looks] == [
        ("cross", 0, step, (3, 1, 1, 7)) for step in range(5)
    ]
    assert torch.equal(seen.weights("cross"), taught.looked[0].weights.unsqueeze(1))
    assert torch.equal(seen.weights(), seen.weights("cross", 0))


def test_a_recurrent_decoder_stepped(recurrent):
    pair = batch()
    with watch(recurrent) as seen:
        found = stepped(recurrent, pair)
    assert [look.step for look in seen.looks] == list(range(5))
    assert torch.equal(seen.weights(), torch.cat([each.looked[0].weights for each in found], 1).unsqueeze(1))


def test_a_transformer_taught(transformer):
    pair = batch()
    with watch(transformer) as seen:
        taught = transformer.teach(pair)
    assert seen.kinds == {"cross": 2, "encoder-self": 3, "decoder-self": 2}
    assert [(look.kind, look.layer) for look in seen.looks] == [
        ("encoder-self", 0),
        ("encoder-self", 1),
        ("encoder-self", 2),
        ("decoder-self", 0),
        ("cross", 0),
        ("decoder-self", 1),
        ("cross", 1),
    ]
    assert {look.step for look in seen.looks} == {0}
    assert seen.weights("encoder-self", 1).shape == (3, 4, 7, 7)
    assert seen.weights("decoder-self").shape == (3, 2, 5, 5)
    for layer in range(2):
        assert torch.equal(seen.weights("cross", layer), taught.looked[layer].weights)
    assert torch.equal(seen.weights("cross"), seen.weights("cross", 1)), "without a layer, the last"
    assert torch.equal(seen.weights("cross", -2), seen.weights("cross", 0))
    assert not torch.equal(seen.weights("cross", 0), seen.weights("cross", 1))


def test_a_transformer_stepped_sees_what_it_sees_taught(transformer):
    pair = batch(target=(6, 6, 6))
    with watch(transformer) as taught:
        transformer.teach(pair)
    with watch(transformer) as seen:
        stepped(transformer, pair)
    assert seen.kinds == taught.kinds
    assert [look.step for look in seen.looks if look.kind == "cross" and look.layer == 1] == list(range(5))
    for kind, layers in seen.kinds.items():
        for layer in range(layers):
            assert torch.allclose(seen.weights(kind, layer), taught.weights(kind, layer), atol=1e-6), (kind, layer)
    upper = torch.ones(5, 5).triu(1).bool()
    assert (seen.weights("decoder-self")[..., upper] == 0).all(), "a key that came later has weight zero"


@pytest.mark.parametrize("name", ATTENDING)
def test_every_decoder_is_watched_as_it_looks(name):
    one, pair = model(overrides("predict", name)), batch()
    with watch(one) as seen:
        taught = one.teach(pair)
    assert seen.kinds["cross"] == len(taught.looked)
    for layer, looked in enumerate(taught.looked):
        weights = looked.weights if looked.weights.dim() == 4 else looked.weights.unsqueeze(1)
        assert torch.equal(seen.weights("cross", layer), weights)
    assert torch.allclose(seen.weights().sum(-1), torch.ones(()))


def test_an_image_is_looked_at():
    one = model(overrides("encode", "grid"), source=3)
    with watch(one) as seen:
        taught = one.teach(Batch(pictures([(13, 11), (7, 5)]), words(TARGET, (6, 3))))
    assert seen.kinds == {"image": 1}
    assert torch.equal(seen.weights("image"), taught.looked[0].weights.unsqueeze(1))


def test_a_label_is_looked_for():
    one = model(["predict.part=label", "predict.queries=2"])
    with watch(one) as seen:
        found = one.label(words(SOURCE, (7, 5, 2)))
    assert seen.weights("cross").shape == (3, 1, 2, 7)
    assert torch.equal(seen.weights()[:, 0], found.looked[0].weights)


def test_a_decoder_that_does_not_attend_leaves_no_record():
    one = model(overrides("predict", "plain"))
    with watch(one) as seen:
        one.teach(batch())
    assert seen.looks == []
    assert seen.kinds == {}


@pytest.mark.parametrize("scope", ["local_m", "local_p"])
def test_a_window_is_recorded_at_its_place(scope):
    one, pair = model([f"attend.scope.part={scope}", "attend.scope.reach=1"]), batch()
    with watch(one) as seen:
        one.teach(pair)
    weights = seen.weights()
    assert weights.shape == (3, 1, 5, 7)
    assert ((weights > 0).sum(-1) <= 3).all()
    assert (weights > 0).any(-1).all()
    if scope == "local_m":
        assert (weights[0, 0, 0] > 0).tolist() == [True, True] + [False] * 5
        assert (weights[0, 0, 4] > 0).tolist() == [False] * 3 + [True] * 3 + [False]


def test_hard_attention_in_training_is_recorded_as_drawn():
    one = model(["attend.choice=hard"]).train()
    with watch(one) as seen:
        one.teach(batch(source=(7, 7, 7)))
    assert set(seen.weights().unique().tolist()) == {0.0, 1.0}


def test_weights_are_told_before_dropout():
    one = model(["attend.dropout=0.5"]).train()
    with watch(one) as seen:
        one.teach(batch())
    assert torch.allclose(seen.weights().sum(-1), torch.ones(()))


# --- watching changes nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["recurrent", "transformer"])
def test_watching_changes_nothing(name, request):
    one, pair = request.getfixturevalue(name), batch()
    before = one.teach(pair).logits
    with watch(one):
        watched = one.teach(pair).logits
    assert torch.allclose(before, watched, atol=1e-5)
    assert torch.equal(one.teach(pair).logits, before)


def test_the_record_does_not_hold_the_graph(recurrent):
    with watch(recurrent) as seen:
        taught = recurrent.teach(batch())
    assert taught.logits.requires_grad
    assert not any(look.weights.requires_grad for look in seen.looks)


def test_nobody_watching_records_nothing(transformer):
    """Outside the block the record stays as it was, and the fused kernel has no one to tell."""
    with watch(transformer) as seen:
        assert hooked(Looked)
    assert not hooked(Looked)
    transformer.teach(batch())
    regard.attention(*(torch.randn(2, 3, 5),) * 3)
    assert seen.looks == []


def test_unwatched_attention_takes_the_fused_path(transformer, monkeypatch):
    monkeypatch.setattr(Attention, "short", 0)
    calls = []
    fused = torch.nn.functional.scaled_dot_product_attention

    def counted(*given, **options):
        calls.append(1)
        return fused(*given, **options)

    monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", counted)
    transformer.teach(batch())
    assert len(calls) == 3 + 2 + 2
    with watch(transformer):
        transformer.teach(batch())
    assert len(calls) == 3 + 2 + 2


def test_an_error_inside_ends_the_watch(recurrent):
    with pytest.raises(ZeroDivisionError), watch(recurrent) as seen:
        raise ZeroDivisionError
    recurrent.teach(batch())
    assert seen.looks == []
    assert not hooked(Looked)


# --- several watches ---------------------------------------------------------------------------------------


def test_nested_watches_each_keep_their_own_record(recurrent, transformer):
    pair = batch()
    with watch(recurrent) as outer:
        recurrent.teach(pair)
        with watch(transformer) as inner:
            transformer.teach(pair)
        recurrent.teach(pair)
    assert len(inner.looks) == 7
    assert inner.kinds == {"cross": 2, "encoder-self": 3, "decoder-self": 2}
    assert len(outer.looks) == 5 + 7 + 5
    assert outer.kinds == {"cross": 1, "attention": 7}, "what is no part of the watched model is told apart"


def test_two_watches_of_one_model_see_the_same(recurrent):
    with watch(recurrent) as first, watch(recurrent) as second:
        recurrent.teach(batch())
    assert len(first.looks) == len(second.looks) == 5
    assert torch.equal(first.weights(), second.weights())


def test_another_thread_is_not_overheard(recurrent):
    """A server watches one request while it answers another."""
    with watch(recurrent) as seen:
        thread = threading.Thread(target=recurrent.teach, args=(batch(),))
        thread.start()
        thread.join()
    assert seen.looks == []


def test_a_model_that_is_not_named_is_recorded_in_order(transformer):
    with watch() as seen:
        transformer.teach(batch())
    assert seen.kinds == {"attention": 7}
    assert [look.layer for look in seen.looks] == list(range(7))


# --- the pure function -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["global", "causal", "local_m"])
def test_the_pure_function_is_watched(scope):
    query, keys, values = torch.randn(2, 3, 5), torch.randn(2, 7, 5), torch.randn(2, 7, 11)
    with watch() as seen:
        looked = regard.attention(query, keys, values, scope=scope)
    assert seen.kinds == {"attention": 1}
    assert torch.equal(seen.weights("attention")[:, 0], looked.weights)


def test_every_pure_call_is_a_layer_of_its_own():
    """However often, and whatever places in memory the calls reuse."""
    query = torch.randn(2, 3, 5)
    with watch() as seen:
        for _ in range(53):
            regard.attention(query, query, query)
    assert [look.layer for look in seen.looks] == list(range(53))


def test_the_pure_function_beside_a_model(recurrent):
    query = torch.randn(3, 2, 5)
    with watch(recurrent) as seen:
        regard.attention(query, query, query)
        recurrent.teach(batch())
    assert seen.kinds == {"cross": 1, "attention": 1}
    assert seen.weights("attention").shape == (3, 1, 2, 2)


# --- asking the record -------------------------------------------------------------------------------------


def test_a_kind_that_was_not_seen(recurrent):
    with watch(recurrent) as seen:
        recurrent.teach(batch())
    with pytest.raises(UnknownName, match="in this record is called 'encoder-self'; there are cross"):
        seen.weights("encoder-self")
    with pytest.raises(UnknownName, match="there are none"):
        Seen({}).weights()


@pytest.mark.parametrize("layer", [2, -3, 7])
def test_a_layer_that_is_not_there(transformer, layer):
    with watch(transformer) as seen:
        transformer.teach(batch())
    with pytest.raises(UsageError, match=f"2 layers of cross attention; asked for number {layer}"):
        seen.weights("cross", layer)


def test_rows_that_changed_cannot_be_joined(recurrent):
    with watch(recurrent) as seen:
        recurrent.teach(batch())
        recurrent.teach(batch(source=(7, 5), target=(6, 3)))
    with pytest.raises(UsageError, match=r"rows changed.*\n.*one batch at a time"):
        seen.weights()
