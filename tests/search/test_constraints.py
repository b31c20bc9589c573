"""What may be asked for, and what may be written next."""

from itertools import pairwise
from math import inf, nan

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ModelError, UsageError
from regard.search import Options, Sampling, beam_search, greedy_search, sample
from regard.search.constraints import LEAST, NEVER, Constraints, log_probabilities, repeats
from regard.search.rows import first_rows
from search.tables import END, FEW, START, some, table_model

LENGTHS = torch.tensor([7, 5, 2])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"beam": 0}, "beam to be at least 1; found 0"),
        ({"beam": 100_000}, "a beam of at most 1,000; found 100,000"),
        ({"beam": 1001}, "5 is usual"),
        ({"nbest": 0}, "nbest to be at least 1"),
        ({"alpha": -0.1}, "alpha to be at least 0; found -0.1"),
        ({"beta": nan}, "beta to be at least 0; found nan"),
        ({"max_length": 0}, "max_length to be at least 1"),
        ({"no_repeat": -1}, "no_repeat to be at least 0"),
        ({"stretch": -2.0}, "stretch to be at least 0"),
        ({"beam": 3, "nbest": 7}, "finds at most 3 outputs; asked for the best 7.\n  Write beam = 7"),
        ({"min_length": 5, "max_length": 3}, "at least 5 and at most 3 pieces"),
    ],
)
def test_wrong_options_are_refused(wrong, told):
    with pytest.raises(UsageError, match=told):
        Options(**wrong)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"temperature": -1.0}, "temperature to be at least 0"),
        ({"top_k": -1}, "top_k to be at least 0"),
        ({"top_p": 0.0}, "top_p to be more than 0 and at most 1; found 0.0"),
        ({"top_p": 1.5}, "top_p to be more than 0 and at most 1; found 1.5"),
        ({"draws": 0}, "draws to be at least 1"),
    ],
)
def test_wrong_sampling_is_refused(wrong, told):
    with pytest.raises(UsageError, match=told):
        Sampling(**wrong)


def test_outputs_may_grow_with_their_source():
    lengths = LENGTHS.tolist()
    assert Options().limits(lengths) == [24, 20, 14]
    assert Options(max_length=17).limits(lengths) == [17, 17, 14]
    assert Options(min_length=23).limits(lengths) == [24, 23, 23]
    assert Options(stretch=0.5).limits(lengths) == [13, 12, 11]
    assert Options(stretch=inf, max_length=3).limits([0, 5]) == [3, 3]
    assert Options(stretch=0, prefix=[[5] * 11, [], [5]]).limits(lengths) == [11, 10, 10], "a prefix has its room"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"prefix": [[3], [4]]}, "one prefix a sentence, 3 in all; found 2"),
        ({"prefix": [[3, END], [], []]}, "prefix takes ids from 0 to 10 other than the end, 2; found 2"),
        ({"prefix": [[3], [11], []]}, "prefix takes ids from 0 to 10 other than the end, 2; found 11"),
        ({"prefix": [[3, 4, 5], [], []], "max_length": 2}, "a prefix has 3 pieces, and an output at most 2"),
        ({"avoid": [-1]}, "avoid takes ids from 0 to 10"),
        ({"avoid": [END]}, "avoid takes ids from 0 to 10 other than the end, 2; found 2"),
    ],
)
def test_wrong_pieces_are_refused(wrong, told):
    with pytest.raises(UsageError, match=told):
        beam_search(table_model(FEW), some((7, 5, 2)), Options(**wrong), start=START, end=END)


def test_repeats_by_hand():
    written = torch.tensor([[5, 6, 5, 7, 5], [3, 3, 3, 3, 3], [3, 4, 5, 6, 7]])
    row, piece = repeats(written, 2)
    assert sorted(set(zip(row.tolist(), piece.tolist(), strict=True))) == [(0, 6), (0, 7), (1, 3)]
    row, piece = repeats(written, 3)
    assert set(zip(row.tolist(), piece.tolist(), strict=True)) == {(1, 3)}
    row, piece = repeats(written, 1)
    assert set(zip(row.tolist(), piece.tolist(), strict=True)) == {(0, 5), (0, 6), (0, 7), (1, 3)} | {
        (2, each) for each in (3, 4, 5, 6, 7)
    }
    assert repeats(written, 6)[0].numel() == 0


def ruled(options, step=0, written=None):
    """What is left of equal chances under these options."""
    rows = first_rows(3, START, remember=written is not None, device=torch.device("cpu"))
    rows = rows if written is None else type(rows)(rows.owner, rows.piece, rows.likelihood, None, written)
    chances = torch.full((3, FEW), -2.0)
    Constraints(options, LENGTHS, size=FEW, end=END)(chances, rows, step)
    assert set(chances.unique().tolist()) <= {-2.0, NEVER}
    return [set(line.nonzero().squeeze(1).tolist()) for line in chances == -2.0]


def test_each_rule_by_hand():
    every = set(range(FEW))
    assert ruled(Options()) == [every] * 3
    assert ruled(Options(min_length=3), step=2) == [every - {END}] * 3
    assert ruled(Options(min_length=3), step=3) == [every] * 3
    assert ruled(Options(avoid=(0, 5))) == [every - {0, 5}] * 3
    assert ruled(Options(), step=14) == [every, every, {END}]
    assert ruled(Options(prefix=[[4, 6], [], [5]]), step=0) == [{4}, every, {5}]
    assert ruled(Options(prefix=[[4, 6], [], [5]]), step=1) == [{6}, every, every]
    written = torch.tensor([[3, 4], [4, 4], [5, 6]])
    assert ruled(Options(no_repeat=1), step=2, written=written) == [every - {3, 4}, every - {4}, every - {5, 6}]


def test_a_row_that_may_write_nothing_ends():
    avoid = tuple(each for each in range(FEW) if each not in (END, 3))
    written = torch.tensor([[3], [3], [3]])
    assert ruled(Options(avoid=avoid, no_repeat=1, min_length=7), step=1, written=written) == [{END}] * 3


def test_a_forced_piece_is_stronger_than_any_rule_and_longer_than_the_limit_is_its_prefix():
    options = Options(prefix=[[4], [5], []], avoid=(4,), no_repeat=1)
    assert ruled(options, written=torch.empty(3, 0, dtype=torch.long))[0] == {4}
    long = Options(prefix=[[3] * 19, [], []], stretch=0.0)
    assert Constraints(long, LENGTHS, size=FEW, end=END).limits.tolist() == [19, 10, 10]


def test_an_impossible_piece_that_must_be_written_has_a_finite_chance():
    chances = torch.full((3, FEW), -2.0)
    chances[:, END] = NEVER
    rows = first_rows(3, START, remember=False, device=torch.device("cpu"))
    Constraints(Options(), LENGTHS, size=FEW, end=END)(chances, rows, 24)
    assert chances[:, END].tolist() == [LEAST] * 3
    assert chances.isinf().sum(1).tolist() == [FEW - 1] * 3


def test_a_model_without_numbers_is_told():
    with pytest.raises(ModelError, match="not numbers.*\n.*diverged"):
        log_probabilities(torch.tensor([[1.0, 2.0], [torch.nan, 1.0]]))
    chances = log_probabilities(torch.tensor([[0.0, 0.0]], dtype=torch.bfloat16))
    assert chances.dtype == torch.float32
    assert chances.exp().sum() == 1


def repeated(ids, size):
    grams = [ids[first : first + size] for first in range(len(ids) - size + 1)]
    return len(set(grams)) < len(grams)


@st.composite
def demands(draw):
    """Options of every kind at once, for three sentences."""
    beam = draw(st.integers(1, 5))
    low = draw(st.integers(0, 6))
    prefix = st.lists(st.sampled_from([each for each in range(FEW) if each != END]), max_size=3)
    return {
        "beam": beam,
        "nbest": draw(st.integers(1, beam)),
        "alpha": draw(st.sampled_from([0.0, 0.6, 2.0])),
        "beta": draw(st.sampled_from([0.0, 0.3])),
        "min_length": low,
        "max_length": draw(st.integers(max(low, 3), 9)),
        "no_repeat": draw(st.integers(0, 3)),
        "prefix": draw(st.one_of(st.just(()), st.lists(prefix, min_size=3, max_size=3))),
        "avoid": draw(st.sampled_from([(), (0, 1)])),
    }


@settings(deadline=None, max_examples=40, derandomize=True)
@given(demands(), st.integers(0, 1000))
def test_whatever_is_asked_holds_for_everything_found(asked, seed):
    options = Options(**asked)
    built, source = table_model(FEW, seed), some((7, 5, 2))
    dice = torch.Generator().manual_seed(seed)
    found = beam_search(built, source, options, start=START, end=END)
    singles = greedy_search(built, source, options, start=START, end=END)
    drawn = sample(built, source, Sampling(draws=2), options, start=START, end=END, generator=dice)
    for row, outputs in enumerate(found):
        assert 1 <= len(outputs) <= options.nbest
        assert len({each.ids for each in outputs}) == len(outputs)
        assert all(one.score >= two.score for one, two in pairwise(outputs))
        forced = tuple(options.prefix[row]) if options.prefix else ()
        for each in (*outputs, singles[row], *drawn[row]):
            free = each.ids[len(forced) :]
            assert each.ids[: len(forced)] == forced
            assert options.min_length <= len(each.ids) <= options.max_length
            assert END not in each.ids
            assert not set(free) & set(options.avoid)
            if options.no_repeat and not repeated(forced, options.no_repeat):
                assert not repeated(each.ids, options.no_repeat)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
def test_log_probabilities_leave_the_scores_alone(kind):
    scores = torch.randn(7, 311).to(kind)
    before = scores.clone()
    chances = log_probabilities(scores)
    assert torch.equal(scores, before)
    assert torch.equal(chances, torch.log_softmax(before.float(), -1))
    room = torch.full((9 * 311,), torch.nan)
    within = log_probabilities(scores, room)
    assert torch.equal(within, chances) and within.data_ptr() == room.data_ptr()
    assert torch.equal(scores, before)
