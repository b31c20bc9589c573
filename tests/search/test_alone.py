"""A search for one source finds what the search of many finds, and knows when it is not for it."""

from dataclasses import replace

import pytest
import torch

from regard.errors import ModelError
from regard.fast import shortcuts
from regard.hooks import Grown, Looked, hook
from regard.search import Options, Sampling, beam_search, greedy_search
from regard.search.alone import Alone, Continued, is_alone
from small import SOURCE, TARGET, model, overrides, pictures, words

START, END = 1, 2
DECODERS = ("bahdanau", "luong", "transformer", "plain", "xu")


def both(built, source, options, monkeypatch, record=True):
    """What is found for one source alone, and what the search of many finds for it."""
    asked = {"start": START, "end": END, "record": record}
    assert is_alone(source, options)
    alone = beam_search(built, source, options, **asked)
    with monkeypatch.context() as patched:
        patched.setattr("regard.search.beam.is_alone", lambda *more: False)
        many = beam_search(built, source, options, **asked)
    return alone, many


def assert_same(alone, many):
    assert len(alone) == len(many) == 1 and len(alone[0]) == len(many[0])
    for ours, theirs in zip(alone[0], many[0], strict=True):
        assert ours.ids == theirs.ids
        assert ours.likelihood == pytest.approx(theirs.likelihood, abs=1e-5)
        assert ours.score == pytest.approx(theirs.score, abs=1e-5)
        assert len(ours.weights) == len(theirs.weights)
        for one, other in zip(ours.weights, theirs.weights, strict=True):
            assert one.shape == other.shape and torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize(("beam", "nbest"), [(1, 1), (3, 1), (5, 4)])
def test_it_finds_what_the_search_of_many_finds(decoder, beam, nbest, monkeypatch):
    for seed in range(5):
        torch.manual_seed(seed)
        built = model(overrides("predict", decoder)).eval()
        options = Options(beam=beam, nbest=nbest, alpha=seed / 2, avoid=(0, 1, 3), max_length=11)
        assert_same(*both(built, words(SOURCE, [5 + seed], width=7 + seed), options, monkeypatch))


def test_outputs_end_at_their_limits(monkeypatch):
    """One step each; and a source of one piece may have 12."""
    built = model(overrides("predict", "luong")).eval()
    for options in (Options(beam=3, nbest=3, max_length=1), Options(beam=2, stretch=0), Options(beam=3, stretch=0.0)):
        alone, many = both(built, words(SOURCE, [3]), options, monkeypatch)
        assert_same(alone, many)
        assert all(len(each.ids) <= options.limit(3) for each in alone[0])


def test_greedy_search(monkeypatch):
    built, source = model(overrides("predict", "bahdanau")).eval(), words(SOURCE, [7])
    ours = greedy_search(built, source, Options(beam=5), start=START, end=END, record=True)
    monkeypatch.setattr("regard.search.greedy.is_alone", lambda *more: False)
    assert_same([ours], [greedy_search(built, source, Options(beam=5), start=START, end=END, record=True)])


def test_an_image(monkeypatch):
    built = model(["predict.part=xu", "embed.part=pixels", "encode.part=grid", "encode.layers=2"], source=3).eval()
    built.predict.packs = True
    assert_same(*both(built, pictures([(13, 11)]), Options(beam=4, nbest=3), monkeypatch))


def test_nothing_is_kept_that_is_not_wanted(monkeypatch):
    built = model(overrides("predict", "luong")).eval()
    alone, _ = both(built, words(SOURCE, [4]), Options(beam=2), monkeypatch, record=False)
    assert alone[0][0].weights == ()


def test_a_model_in_training_is_searched_in_use_and_trains_on():
    built = model([*overrides("predict", "luong"), "predict.dropout=0.9"]).train()
    source = words(SOURCE, [4])
    found = [beam_search(built, source, Options(beam=2), start=START, end=END)[0][0].ids for _ in range(3)]
    assert len(set(found)) == 1 and built.training


def test_scores_that_are_no_numbers_are_refused():
    built = model(overrides("predict", "luong")).eval()
    next(built.predict.readout.parameters()).data.fill_(float("nan"))
    with pytest.raises(ModelError, match="NaN"):
        beam_search(built, words(SOURCE, [4]), Options(beam=2), start=START, end=END)


def test_what_it_is_not_for():
    source, plain = words(SOURCE, [5]), Options(beam=4)
    assert is_alone(source, plain) and shortcuts()
    assert not is_alone(words(SOURCE, [5, 5]), plain)
    others = {"no_repeat": 2, "beta": 0.1, "min_length": 2, "prefix": [[5]], "beam": 17, "continues": True}
    for name, value in others.items():
        assert not is_alone(source, replace(plain, **{name: value})), name
    assert not is_alone(source, replace(plain, sampling=Sampling(draws=1)))
    assert not is_alone(source, replace(plain, shortlist=object()))
    for kind in (Grown, Looked):
        with hook(kind, lambda event: None):
            assert not is_alone(source, plain)


def chances(*rows):
    return torch.tensor(rows).log()


def test_a_beam_by_hand():
    """Two rows of three pieces, of which 2 is the end; the penalty is none."""
    search = Alone(Options(beam=2, alpha=0), limit=9, end=END, record=False)
    first = search.go_on(chances((0.5, 0.3, 0.2)))
    assert [(each.row, each.piece) for each in first] == [(0, 0), (0, 1)]
    second = search.go_on(chances((0.1, 0.1, 0.8), (0.9, 0.05, 0.05)))
    assert second == []  # 0.27 goes on, and can only become less than 0.4, which has ended
    (best,) = search.outputs(torch.ones(3, dtype=torch.bool))
    assert best.ids == (0,) and best.likelihood == pytest.approx(float(torch.tensor(0.4).log()))


def test_one_that_ended_leaves_its_place_empty():
    search = Alone(Options(beam=2, nbest=2, alpha=0), limit=9, end=END, record=False)
    going = search.go_on(chances((0.3, 0.1, 0.6)))
    assert [(each.row, each.piece) for each in going] == [(0, 0)]
    going = search.go_on(chances((0.3, 0.4, 0.3)))
    assert [(each.row, each.piece) for each in going] == [(0, 1)]
    assert search.go_on(chances((0.2, 0.1, 0.7))) == []
    assert [each.ids for each in search.outputs(torch.ones(1, dtype=torch.bool))] == [(), (0, 1)]


def test_a_row_that_may_write_nothing_ends():
    search = Alone(Options(beam=2, alpha=0), limit=9, end=END, record=False)
    search.steps[-1] = [Continued(-1.0, 0, 0)]
    assert search.go_on(torch.full((1, TARGET), -torch.inf)) == []
    (best,) = search.outputs(torch.ones(1, dtype=torch.bool))
    assert best.ids == () and best.likelihood == pytest.approx(-1.0 - 1e9)
