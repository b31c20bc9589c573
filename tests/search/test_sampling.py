"""Sampling: what may be drawn, how often, and that the same dice draw the same."""

from math import exp

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.search import Options, Sampling, greedy_search, sample
from regard.search.sampling import draw, nucleus, shortlist
from search.tables import END, START, alone, sharp, some, table_model
from small import DECODERS


def dice(seed=0):
    return torch.Generator().manual_seed(seed)


def ids(found):
    return [[each.ids for each in row] for row in found]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("sampling", [Sampling(0), Sampling(1e-9), Sampling(top_k=1), Sampling(top_p=1e-9)])
def test_without_warmth_it_is_greedy_search(decoder, sampling):
    built, source, options = sharp(decoder), some((7, 5, 2)), Options(max_length=9)
    drawn = sample(built, source, sampling, options, start=START, end=END, generator=dice())
    greedy = greedy_search(built, source, options, start=START, end=END)
    assert [row[0].ids for row in drawn] == [each.ids for each in greedy]
    assert [row[0].likelihood for row in drawn] == pytest.approx([each.likelihood for each in greedy], abs=1e-5)


def test_dice_by_hand():
    shares = torch.tensor([[0.25, 0.0, 0.5, 0.25]])
    for die, place in ((0.0, 0), (0.24, 0), (0.25, 2), (0.74, 2), (0.75, 3), (1 - 2**-24, 3)):
        assert draw(shares, torch.tensor([die])).tolist() == [place]
    assert draw(torch.tensor([[0.1, 0.0]]), torch.tensor([1 - 2**-24])).tolist() == [0]  # shares need not sum to one


def test_a_nucleus_by_hand():
    shares = torch.tensor([[0.5, 0.25, 0.125, 0.125]])
    for top_p, kept in ((0.1, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.8, 3), (0.99, 4)):
        assert (nucleus(shares, top_p) > 0).sum() == kept


def test_a_shortlist_by_hand():
    chances = torch.tensor([[0.1, 0.4, 0.2, 0.3]]).log()
    shares, pieces = shortlist(chances, Sampling(top_k=2))
    assert pieces.tolist() == [[1, 3]]
    assert shares.tolist() == [pytest.approx([4 / 7, 3 / 7])]
    shares, pieces = shortlist(chances, Sampling(temperature=0.5))
    assert pieces is None
    assert shares.tolist() == [pytest.approx([each / 30 for each in (1, 16, 4, 9)])]
    shares, pieces = shortlist(chances, Sampling(top_p=0.6, top_k=3))
    assert pieces.tolist() == [[1, 3, 2]]
    assert (shares > 0).tolist() == [[True, True, False]]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    st.integers(0, 1000),
    st.integers(0, 5),
    st.floats(0.05, 1.0),
    st.sampled_from([0.3, 1.0, 3.0]),
)
def test_nothing_is_drawn_from_outside(seed, top_k, top_p, temperature):
    sampling = Sampling(temperature, top_k, top_p, draws=3)
    built, source = table_model(7, seed), some((7, 5, 2))
    found = sample(built, source, sampling, Options(max_length=8), start=START, end=END, generator=dice(seed))
    for length, row in zip((7, 5, 2), found, strict=True):
        for each in row:
            before = START
            for step, piece in enumerate((*each.ids, END)[:8]):
                shares = torch.softmax(built.predict.chances(length, step, before) / temperature, -1)
                likelier = shares[shares > shares[piece]]
                assert top_k == 0 or len(likelier) < top_k
                if top_k:
                    likelier = likelier / shares.topk(top_k).values.sum()
                assert likelier.sum() < top_p + 1e-5
                before = piece


def test_pieces_are_drawn_as_often_as_they_are_likely():
    built, draws = table_model(5, sharpness=1.0), 4000
    found = sample(
        built, some((3,)), Sampling(draws=draws), Options(max_length=2), start=START, end=END, generator=dice()
    )[0]
    for output in {each.ids for each in found}:
        share = sum(each.ids == output for each in found) / draws
        expected = exp(next(each.likelihood for each in found if each.ids == output))
        if len(output) == 2:  # the end was not drawn but made, whatever it cost
            expected /= exp(float(built.predict.chances(3, 2, output[1])[END]))
        assert share == pytest.approx(expected, abs=4 * (0.25 / draws) ** 0.5)
    assert len({each.ids for each in found}) > 15


def test_the_same_dice_draw_the_same():
    built, source, options = sharp("bahdanau"), some((7, 5, 2)), Options(max_length=9)
    sampling = Sampling(draws=3)
    one, two, other = (
        ids(sample(built, source, sampling, options, start=START, end=END, generator=dice(seed))) for seed in (5, 5, 6)
    )
    assert one == two
    assert one != other
    assert all(len(row) == 3 for row in one)
    torch.manual_seed(7)
    one = ids(sample(built, source, sampling, options, start=START, end=END))
    torch.manual_seed(7)
    assert ids(sample(built, source, sampling, options, start=START, end=END)) == one


def test_the_first_sentence_draws_the_same_whatever_follows_it():
    built, source, options = sharp("transformer"), some((5, 7, 2)), Options(max_length=9)
    sampling = Sampling(draws=2)
    together = sample(built, source, sampling, options, start=START, end=END, generator=dice())
    single = sample(built, alone(source, 0), sampling, options, start=START, end=END, generator=dice())
    assert ids(single) == ids(together)[:1]


def test_what_a_sentence_draws_does_not_depend_on_when_others_end():
    built, source, options = table_model(7), some((7, 5, 2)), Options(max_length=9)
    before = sample(built, source, Sampling(draws=2), options, start=START, end=END, generator=dice())
    built.predict.logits[7, :, :, END] = 99.0
    after = sample(built, source, Sampling(draws=2), options, start=START, end=END, generator=dice())
    assert ids(after)[0] == [(), ()] != ids(before)[0]
    assert ids(after)[1:] == ids(before)[1:]
    assert max(len(each) for each in ids(before)[1]) > 1


def test_a_prefix_holds_for_every_draw():
    options = Options(prefix=[[3, 4], [], [5]], max_length=6)
    found = sample(sharp("luong"), some((5, 7, 2)), Sampling(draws=4), options, start=START, end=END, generator=dice())
    for prefix, row in zip(options.prefix, found, strict=True):
        assert len(row) == 4
        assert all(each.ids[: len(prefix)] == tuple(prefix) for each in row)
