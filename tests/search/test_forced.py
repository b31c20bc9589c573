"""Forced outputs, and the property: what beam search records is what force-decoding its output records."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ModelError, UsageError
from regard.search import Options, Sampling, beam_search, force, greedy_search, sample
from regard.types import Batch, Padded
from search.tables import END, FEW, START, alone, sharp, some
from small import ATTENDING, DECODERS, IMAGE_ENCODERS, TEXT_ENCODERS, model, overrides, pictures


def framed(outputs):
    """Ids of outputs as a target of a batch."""
    longest = max(map(len, outputs))
    data = torch.tensor([[START, *ids, END, *[0] * (longest - len(ids))] for ids in outputs])
    return Padded(data, torch.arange(longest + 2) < torch.tensor([[len(ids) + 2] for ids in outputs]))


def repeat(source, count):
    return type(source)(source.data.repeat_interleave(count, 0), source.mask.repeat_interleave(count, 0))


def assert_same(one, other, layers=True):
    assert one.ids == other.ids
    # The relative part is single precision: sharp models have logits of 50 and more.
    assert one.likelihood == pytest.approx(other.likelihood, abs=1e-5, rel=5e-6)
    assert one.score == pytest.approx(other.score, abs=1e-5, rel=5e-6)
    assert len(one.weights) == len(other.weights)
    assert bool(one.weights) == layers
    for layer, same in zip(one.weights, other.weights, strict=True):
        assert layer.shape == same.shape
        assert torch.allclose(layer, same, atol=1e-5)


@st.composite
def wishes(draw):
    """Random settings of a beam."""
    beam = draw(st.integers(1, 6))
    return {
        "beam": beam,
        "nbest": draw(st.integers(1, beam)),
        "alpha": draw(st.sampled_from([0.0, 0.6, 1.5])),
        "beta": draw(st.sampled_from([0.0, 0.4])),
        "min_length": draw(st.integers(0, 3)),
        "max_length": draw(st.integers(3, 9)),
        "no_repeat": draw(st.integers(0, 2)),
    }


@pytest.mark.parametrize("decoder", DECODERS)
@settings(deadline=None, max_examples=12, derandomize=True)
@given(asked=wishes(), seed=st.integers(0, 10_000), lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4))
def test_the_record_of_beam_search_is_the_record_of_force_decoding(decoder, asked, seed, lengths):
    options = Options(**asked | ({"beta": 0.0} if decoder == "plain" else {}))
    built, source = sharp(decoder, seed), some(lengths, seed)
    found = beam_search(built, source, options, start=START, end=END, record=True)
    for row, outputs in enumerate(found):
        one = repeat(alone(source, row), len(outputs))
        forced = force(built, Batch(one, framed([each.ids for each in outputs])), options, record=True)
        for each, same in zip(outputs, forced, strict=True):
            assert_same(each, same, layers=decoder != "plain")
            for layer in each.weights:
                assert layer.shape[1:] == (len(each.ids) + 1, lengths[row])


@pytest.mark.parametrize(
    "change",
    [
        "attend.scope=local_m",
        "attend.scope=local_p",
        "attend.choice=hard",
        "attend.choice=gated",
        "attend.choice=sigmoid",
        "attend.score=location",
        *(f"encode={name}" for name in TEXT_ENCODERS if name != "sentence"),  # one vector: there is nowhere to look
    ],
)
def test_the_record_holds_for_every_way_to_look(change):
    place, _, name = change.partition("=")
    extra = overrides("encode", name) if place == "encode" else [*overrides("predict", "luong"), change]
    built, source = model(extra, target=FEW), some((7, 2, 5))
    options = Options(beam=3, beta=0.2, max_length=7)
    found = [row[0] for row in beam_search(built, source, options, start=START, end=END, record=True)]
    forced = force(built, Batch(source, framed([each.ids for each in found])), options, record=True)
    for each, same in zip(found, forced, strict=True):
        assert_same(each, same)


@pytest.mark.parametrize("encoder", [each for each in IMAGE_ENCODERS if each not in ("ladder", "code")])
def test_a_picture_keeps_its_own_positions(encoder):
    built = model(overrides("encode", encoder), source=3, target=FEW)
    source = pictures([(65, 97), (33, 31)])  # of more than one cell, however large the cells are
    real = built.read(source).mask.sum(1).tolist()
    options = Options(beam=3, beta=0.2, max_length=5)
    found = [row[0] for row in beam_search(built, source, options, start=START, end=END, record=True)]
    forced = force(built, Batch(source, framed([each.ids for each in found])), options, record=True)
    assert real[0] != real[1]
    for each, same, count in zip(found, forced, real, strict=True):
        assert_same(each, same)
        assert each.weights[0].shape[-1] == count


@pytest.mark.parametrize("decoder", DECODERS)
def test_greedy_and_drawn_outputs_are_recorded_as_well(decoder):
    built, source, options = sharp(decoder), some((7, 5, 1)), Options(max_length=7)
    greedy = greedy_search(built, source, options, start=START, end=END, record=True)
    drawn = sample(built, source, Sampling(draws=2), options, start=START, end=END, record=True)
    for outputs in (greedy, [row[0] for row in drawn], [row[1] for row in drawn]):
        forced = force(built, Batch(source, framed([each.ids for each in outputs])), options, record=True)
        for each, same in zip(outputs, forced, strict=True):
            assert_same(each, same, layers=decoder != "plain")


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_forced_output_is_the_same_alone_and_in_a_batch(decoder):
    built, source = sharp(decoder), some((7, 5, 2))
    outputs, options = [(3, 4, 5, 6), (), (7, 8)], Options(beta=0.0 if decoder == "plain" else 0.3)
    together = force(built, Batch(source, framed(outputs)), options, record=True)
    for row, ids in enumerate(outputs):
        (single,) = force(built, Batch(alone(source, row), framed([ids])), options, record=True)
        assert single.ids == ids
        assert_same(single, together[row], layers=decoder != "plain")


def test_a_forced_likelihood_by_hand():
    built, source = sharp("luong"), some((5,))
    (found,) = force(built, Batch(source, framed([(3, 4)])))
    state, expected = built.start(source), 0.0
    for before, piece in ((START, 3), (3, 4), (4, END)):
        stepped = built.step(torch.tensor([before]), state)
        expected += torch.log_softmax(stepped.logits, -1)[0, piece].item()
        state = stepped.state
    assert found.likelihood == pytest.approx(expected, abs=1e-5)
    assert found.score == pytest.approx(expected / (8 / 6) ** 0.6, abs=1e-5)
    assert found.weights == ()


@pytest.mark.parametrize("decoder", ATTENDING)
def test_rows_of_weights_sum_to_one(decoder):
    for row in beam_search(sharp(decoder), some((7, 1, 3)), Options(max_length=7), start=START, end=END, record=True):
        for layer in row[0].weights:
            assert torch.allclose(layer.sum(-1), torch.ones(layer.shape[:2]), atol=1e-5)


def test_forcing_leaves_the_model_as_it_was_and_tells_faults():
    built, batch = sharp("luong").train(), Batch(some((5,)), framed([(3,)]))
    (found,) = force(built, batch, record=True)
    assert built.training
    assert not found.weights[0].requires_grad
    with pytest.raises(UsageError, match="does not attend"):
        force(sharp("plain"), batch, Options(beta=1.0))
    with torch.no_grad():
        built.predict.join.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="not numbers"):
        force(built, batch)
