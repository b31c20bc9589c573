"""Shortlists in search: a vocabulary for each sentence, of which the sentences beside it know nothing."""

from itertools import pairwise

import pytest
import torch

from regard.errors import UsageError
from regard.search import Options, Sampling, beam_search, greedy_search, sample
from regard.search.shortlist import Shortlist
from regard.types import Padded
from search.tables import END, FEW, START, alone, sharp, some, table_model
from small import DECODERS, SOURCE, model, overrides, pictures

LENGTHS = (7, 5, 2, 3)
ALL = Shortlist.of(range(FEW), {}, SOURCE)


def drawn(seed=0, count=2, target=FEW):
    """A list that leads every source piece to some random target pieces."""
    draw = torch.Generator().manual_seed(seed)
    lines = {piece: torch.randperm(target, generator=draw)[: piece % (count + 1)].tolist() for piece in range(SOURCE)}
    return Shortlist.of([END, 7], lines, SOURCE)


def led(shortlist, source, row):
    """What one sentence may write, by hand."""
    ids = source.data[row][source.mask[row]].tolist()
    return {*shortlist.everywhere.tolist(), *(each for piece in ids for each in shortlist.lines[piece].tolist())} - {-1}


def told(found):
    return [[(each.ids, pytest.approx(each.likelihood, abs=1e-5)) for each in outputs] for outputs in found]


def test_candidates_by_hand():
    shortlist = Shortlist.of([2, 5], {4: [6, 1], 5: [3], 0: [4]}, 7)
    source = Padded(torch.tensor([[4, 5], [6, 0], [5, 5]]), torch.tensor([[True, True], [True, False], [True, True]]))
    found = [row.nonzero().squeeze(1).tolist() for row in shortlist.candidates(source, 7)]
    assert found == [[1, 2, 3, 5, 6], [2, 5], [2, 3, 5]]  # padding leads to nothing
    assert Shortlist.of([2], {}, 7).candidates(source, 7).sum().item() == 3


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize(
    "options",
    [
        Options(beam=5, nbest=3, max_length=9),
        Options(beam=3, max_length=9, avoid=(7, 3), no_repeat=2, min_length=4),
        Options(beam=2, max_length=9, prefix=[(5, 3), (), (8,), (9, 9, 9)]),
    ],
)
def test_a_list_of_everything_is_no_list(decoder, options):
    built, source = sharp(decoder), some(LENGTHS)
    with_all = Options(**{**vars(options), "shortlist": ALL})
    ours, theirs = (beam_search(built, source, each, start=START, end=END, record=True) for each in (options, with_all))
    assert told(theirs) == told(ours)
    for one, two in ((a, b) for pair in zip(ours, theirs, strict=True) for a, b in zip(*pair, strict=True)):
        assert two.score == pytest.approx(one.score, abs=1e-5)
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(one.weights, two.weights, strict=True))


@pytest.mark.parametrize("decoder", ["bahdanau", "transformer"])
def test_a_sentence_knows_nothing_of_those_beside_it(decoder):
    built, source = sharp(decoder), some(LENGTHS)
    options = Options(beam=4, nbest=2, max_length=9, no_repeat=3, shortlist=drawn())
    together = beam_search(built, source, options, start=START, end=END)
    assert len({frozenset(led(options.shortlist, source, row)) for row in range(len(LENGTHS))}) > 1
    for row in range(len(LENGTHS)):
        assert told(beam_search(built, alone(source, row), options, start=START, end=END)) == told([together[row]])


@torch.no_grad()
def test_only_candidates_are_written_and_their_chances_are_shares_among_them():
    built, source, shortlist = sharp("luong"), some(LENGTHS), drawn()
    found = beam_search(built, source, Options(beam=3, max_length=6, shortlist=shortlist), start=START, end=END)
    assert any(each.ids for outputs in found for each in outputs)
    for row, (best,) in enumerate(found):
        allowed = sorted(led(shortlist, source, row))
        assert set(best.ids) <= set(allowed)
        one = alone(source, row)
        state, likelihood = built.start(one), 0.0
        for before, piece in pairwise((START, *best.ids, END)):
            stepped = built.step(torch.tensor([before]), state)
            chances = torch.log_softmax(stepped.logits[0, allowed], -1)
            likelihood += float(chances[allowed.index(piece)])
            state = stepped.state
        assert best.likelihood == pytest.approx(likelihood, abs=1e-4)


def test_what_is_forced_is_written_and_what_is_avoided_is_not():
    built, source, shortlist = sharp("luong"), some(LENGTHS), drawn()
    missing = [min(set(range(4, FEW)) - led(shortlist, source, row)) for row in range(len(LENGTHS))]
    options = Options(beam=3, max_length=6, prefix=[(each,) for each in missing], avoid=(7,), shortlist=shortlist)
    for row, (best,) in enumerate(beam_search(built, source, options, start=START, end=END)):
        assert best.ids[0] == missing[row]
        assert 7 not in best.ids


def test_no_sequence_is_repeated():
    built, source = sharp("luong"), some(LENGTHS)
    options = Options(beam=3, min_length=8, max_length=9, no_repeat=2, shortlist=drawn(count=4))
    for (best,) in beam_search(built, source, options, start=START, end=END):
        grams = list(pairwise(best.ids))
        assert len(set(grams)) == len(grams)


def test_greedy_search_and_samples_keep_to_it():
    built, source, shortlist = sharp("luong"), some(LENGTHS), drawn()
    options = Options(beam=1, max_length=6, shortlist=shortlist)
    best = greedy_search(built, source, options, start=START, end=END)
    assert [each.ids for each in best] == [
        row[0].ids for row in beam_search(built, source, options, start=START, end=END)
    ]
    draw = torch.Generator().manual_seed(3)
    many = sample(built, source, Sampling(draws=5), options, start=START, end=END, generator=draw)
    for row, outputs in enumerate(many):
        assert len({each.ids for each in outputs}) > 1
        assert {piece for each in outputs for piece in each.ids} <= led(shortlist, source, row)


def test_the_model_is_left_as_it_was():
    built, source = sharp("luong"), some(LENGTHS)
    readout = built.predict.readout
    beam_search(built, source, Options(shortlist=drawn()), start=START, end=END)
    assert built.predict.readout is readout


def test_where_there_can_be_none():
    with pytest.raises(UsageError, match="needs a readout"):
        beam_search(table_model(FEW), some(LENGTHS), Options(shortlist=ALL), start=START, end=END)
    sees = model(overrides("encode", "grid"), source=3, target=FEW)
    with pytest.raises(UsageError, match="these sources are images"):
        beam_search(sees, pictures([(11, 13)]), Options(shortlist=ALL), start=START, end=END)
    with pytest.raises(UsageError, match="avoid takes ids"):
        beam_search(sharp("luong"), some(LENGTHS), Options(avoid=(END,), shortlist=ALL), start=START, end=END)
