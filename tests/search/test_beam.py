"""Beam search against a plain one written with lists, against every possible output, and by hand."""

from itertools import product
from math import log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import ModelError, UsageError
from regard.search import Options, beam_search, force, greedy_search
from regard.search.backpointers import Finished
from regard.search.beam import Beam
from regard.search.largest import largest
from regard.search.loop import search
from regard.search.rows import Rows
from regard.types import Batch
from search.tables import END, START, alone, sharp, some, table_model
from small import DECODERS, model, overrides

LENGTHS = (7, 5, 2)


@settings(deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(7, 1999), st.booleans())
def test_the_largest_are_those_of_topk(seed, count, size, ties):
    draw = torch.Generator().manual_seed(seed)
    numbers = torch.randn(3, size, generator=draw)
    if ties:
        numbers = numbers.round()
    numbers[0, torch.randint(size, (size // 2,), generator=draw)] = -torch.inf
    values, places = largest(numbers, count)
    assert torch.equal(values, numbers.topk(count).values)
    assert torch.equal(numbers.gather(1, places), values)
    assert all(len(set(row)) == count for row in places.tolist())


def path_score(table, length, ids, options):
    """Likelihood and score of one output, from the formulas."""
    likelihood, covered, before = 0.0, torch.zeros(length), START
    for step, piece in enumerate((*ids, END)):
        likelihood += float(table.chances(length, step, before)[piece])
        covered += table.weights(length, step, before)
        before = piece
    penalty = options.beta * sum(log(min(float(each), 1.0)) for each in covered)
    return likelihood, likelihood / ((6 + len(ids)) / 6) ** options.alpha + penalty


def plain_beam(table, length, size, options):
    """Beam search for one sentence, with lists and no haste; it never gives up before its limit."""
    limit = min(2 * length + 10, options.max_length)
    alive, finished = [(0.0, ())], []
    for step in range(limit + 1):
        candidates = []
        for likelihood, ids in alive:
            chances = table.chances(length, step, ids[-1] if ids else START).double()
            pieces = [END] if step == limit else range(size)
            candidates += [(likelihood + float(chances[piece]), (*ids, piece)) for piece in pieces]
        best = sorted(candidates, reverse=True)[: options.beam - len(finished)]
        finished += [ids[:-1] for _, ids in best if ids[-1] == END]
        alive = [each for each in best if each[1][-1] != END]
    scored = sorted(((path_score(table, length, ids, options)[1], ids) for ids in finished), reverse=True)
    return scored[: options.nbest]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([0.0, 0.6, 1.5]),
    st.sampled_from([0.0, 0.4]),
    st.integers(1, 8),
)
def test_it_finds_what_a_plain_beam_search_finds(seed, beam, nbest, alpha, beta, longest):
    size = 7
    options = Options(beam=beam, nbest=min(beam, nbest), alpha=alpha, beta=beta, max_length=longest)
    built = table_model(size, seed)
    found = beam_search(built, some(LENGTHS), options, start=START, end=END)
    for length, outputs in zip(LENGTHS, found, strict=True):
        expected = plain_beam(built.predict, length, size, options)
        assert [each.ids for each in outputs] == [ids for _, ids in expected]
        assert [each.score for each in outputs] == pytest.approx([score for score, _ in expected], abs=1e-5)
        likelihoods = [path_score(built.predict, length, each.ids, options)[0] for each in outputs]
        assert [each.likelihood for each in outputs] == pytest.approx(likelihoods, abs=1e-5)


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (0.6, 0.0), (0.6, 0.5)])
@pytest.mark.parametrize("seed", range(3))
def test_a_beam_as_wide_as_the_space_finds_the_best_of_all(alpha, beta, seed):
    size, longest = 4, 3
    every = [ids for count in range(longest + 1) for ids in product((0, 1, 3), repeat=count)]
    options = Options(beam=len(every), nbest=len(every), alpha=alpha, beta=beta, max_length=longest)
    built = table_model(size, seed)
    found = beam_search(built, some(LENGTHS), options, start=START, end=END)
    first = beam_search(built, some(LENGTHS), Options(len(every), 1, alpha, beta, 0, longest), start=START, end=END)
    for row, length in enumerate(LENGTHS):
        ranked = sorted(every, key=lambda ids: -path_score(built.predict, length, ids, options)[1])
        assert [each.ids for each in found[row]] == ranked
        assert first[row][0].ids == ranked[0]


class Stubborn(Beam):
    """A beam that never gives a hypothesis up."""

    def hopeful(self, finished, rows):
        return super().hopeful(finished, rows) | True


def test_giving_up_saves_steps_and_changes_nothing():
    options = Options(beam=5, nbest=2, max_length=11)
    saved = 0
    for seed in range(20):
        built, source = table_model(7, seed), some(LENGTHS)
        found = beam_search(built, source, options, start=START, end=END)
        spent = sum(built.predict.rows)
        built.predict.rows.clear()
        stubborn = search(built, source, options, Stubborn(options), start=START, end=END, record=False)
        assert [[each.ids for each in row] for row in found] == [[each.ids for each in row] for row in stubborn]
        saved += sum(built.predict.rows) - spent
    assert saved > 100


def test_a_row_is_given_up_exactly_when_its_best_hope_is_gone():
    """The best that a row can become is its likelihood now, at its full length: 7 pieces and the end."""
    beam = Beam(Options(beam=3, nbest=2, alpha=1.0))
    beam.begin(torch.tensor([7, 7]))
    double = {"dtype": torch.float64}
    likelihood = torch.tensor([-6.4, -6.6, -9.0], **double)
    rows = Rows(torch.tensor([0, 0, 1]), torch.tensor([3, 4, 5]), likelihood)
    one = Finished(*torch.tensor([[0], [1], [0]]), *torch.tensor([[-2.0], [-2.0]], **double))
    assert beam.hopeful(one, rows).tolist() == [True, True, True]  # two are wanted: the board is not full
    two = Finished(*torch.tensor([[0], [2], [0]]), *torch.tensor([[-3.0], [-3.0]], **double))
    assert beam.hopeful(two, rows).tolist() == [True, False, True]  # -6.4 / (13 / 6) = -2.95, -6.6 / (13 / 6) = -3.05
    assert beam.room.tolist() == [1, 3]


def test_what_has_ended_leaves_the_batch():
    built = table_model(7)
    chances = built.predict.logits.fill_(-9.0)
    chances[..., 3] = 0.0
    chances[2, 1, :, END] = 9.0  # the shortest source ends after one piece, the next after three
    chances[5, 3, :, END] = 9.0
    found = greedy_search(built, some(LENGTHS), Options(max_length=6), start=START, end=END)
    assert [len(each.ids) for each in found] == [6, 3, 1]
    assert built.predict.rows == [3, 3, 2, 2, 1, 1, 1]
    built.predict.rows.clear()
    found = beam_search(built, some(LENGTHS), Options(beam=2, alpha=0, max_length=6), start=START, end=END)
    assert [len(row[0].ids) for row in found] == [6, 3, 1]
    assert built.predict.rows == [3, 6, 4, 4, 2, 2, 2]


def test_a_hand_made_garden_path():
    """Greedy takes the likelier first piece; a beam of two finds that the other one leads further."""
    built = table_model(5)
    logits = built.predict.logits.fill_(-torch.inf)
    logits[:, 0, START, 3], logits[:, 0, START, 4] = log(0.6), log(0.4)
    logits[:, 1, 3, END], logits[:, 1, 3, 0] = log(0.5), log(0.5)
    logits[:, 1, 4, END] = 0.0
    logits[:, 2, 0, END] = 0.0
    options = Options(beam=2, nbest=2, alpha=0.0)
    (greedy,) = greedy_search(built, some((3,)), options, start=START, end=END)
    assert greedy.ids == (3,) or greedy.ids == (3, 0)
    assert greedy.likelihood == pytest.approx(log(0.3))
    ((first, second),) = beam_search(built, some((3,)), options, start=START, end=END)
    assert first.ids == (4,)
    assert first.likelihood == first.score == pytest.approx(log(0.4))
    assert second.likelihood == pytest.approx(log(0.3))


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_beam_of_one_is_greedy_search(decoder):
    beta = 0.0 if decoder == "plain" else 0.3
    for options in (Options(1, 1, 0.0, 0.0, max_length=9), Options(1, 1, 0.9, beta, max_length=9, no_repeat=2)):
        for seed in range(3):
            built, source = sharp(decoder, seed), some((7, 5, 2, 1), seed)
            one = beam_search(built, source, options, start=START, end=END, record=True)
            fast = greedy_search(built, source, options, start=START, end=END, record=True)
            for (beam,), greedy in zip(one, fast, strict=True):
                assert beam.ids == greedy.ids
                assert (beam.score, beam.likelihood) == pytest.approx((greedy.score, greedy.likelihood), abs=1e-6)
                for layer, same in zip(beam.weights, greedy.weights, strict=True):
                    assert torch.allclose(layer, same, atol=1e-6)


def test_a_wider_beam_nearly_always_finds_something_likelier():
    better = worse = 0
    for seed in range(40):
        built, source = sharp(DECODERS[seed % len(DECODERS)], seed), some((7, 5, 2), seed)
        options = Options(beam=7, alpha=0.0, max_length=9)
        wide = beam_search(built, source, options, start=START, end=END)
        narrow = greedy_search(built, source, options, start=START, end=END)
        for (beam,), greedy in zip(wide, narrow, strict=True):
            better += beam.likelihood > greedy.likelihood + 1e-6
            worse += beam.likelihood < greedy.likelihood - 1e-6
    assert worse <= 8  # of 120: a beam may drop what would have paid later
    assert better >= 30


def test_alpha_makes_outputs_longer():
    lengths = []
    for alpha in (0.0, 0.6, 1.2):
        outputs = [
            beam_search(table_model(7, seed), some(LENGTHS), Options(alpha=alpha, max_length=11), start=START, end=END)
            for seed in range(15)
        ]
        lengths.append(sum(len(row[0].ids) for found in outputs for row in found))
    assert lengths[0] < lengths[1] < lengths[2]


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_sentence_finds_the_same_alone_and_in_any_batch(decoder):
    options = Options(beam=4, nbest=3, beta=0.0 if decoder == "plain" else 0.2, max_length=9)
    for seed in range(3):
        built, source = sharp(decoder, seed), some((7, 1, 5, 2), seed)
        together = beam_search(built, source, options, start=START, end=END, record=True)
        for row, many in enumerate(together):
            (single,) = beam_search(built, alone(source, row), options, start=START, end=END, record=True)
            assert [each.ids for each in single] == [each.ids for each in many]
            for one, other in zip(single, many, strict=True):
                assert (one.score, one.likelihood) == pytest.approx((other.score, other.likelihood), abs=1e-4)
                for layer, same in zip(one.weights, other.weights, strict=True):
                    assert torch.allclose(layer, same, atol=1e-5)


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_model_that_never_ends_is_ended(decoder):
    built = sharp(decoder)
    readout = built.predict.readout
    bias = readout.product()[1]
    for never in (-1e9, -torch.inf):
        with torch.no_grad():
            bias[END] = never
        options = Options(beam=3, nbest=3, max_length=4)
        for row in beam_search(built, some((3, 1)), options, start=START, end=END):
            assert [len(each.ids) for each in row] == [4, 4, 4]
            assert all(each.likelihood == pytest.approx(-1e9, rel=1e-6) for each in row)
            assert row[0].likelihood >= row[1].likelihood >= row[2].likelihood
        for each in greedy_search(built, some((3, 1)), options, start=START, end=END):
            assert len(each.ids) == 4


def test_search_leaves_the_model_as_it_was_and_uses_no_dropout():
    built = sharp("luong").train()
    built.predict.dropout = 0.9
    options, source = Options(beam=3, max_length=7), some(LENGTHS)
    found = [beam_search(built, source, options, start=START, end=END) for _ in range(3)]
    assert built.training
    assert len({tuple(row[0].ids for row in each) for each in found}) == 1
    assert not found[0][0][0].weights


def test_nothing_in_nothing_out():
    empty = some(LENGTHS)
    empty = type(empty)(empty.data[:0], empty.mask[:0])
    assert beam_search(sharp("luong"), empty, start=START, end=END) == []
    assert greedy_search(sharp("luong"), empty, start=START, end=END) == []
    assert force(sharp("luong"), Batch(empty, empty)) == []


def test_faults_are_told():
    with pytest.raises(UsageError, match="predicts a label.\n.*model.label"):
        beam_search(model(overrides("predict", "label")), some(LENGTHS), start=START, end=END)
    with pytest.raises(UsageError, match="does not attend"):
        beam_search(sharp("plain"), some(LENGTHS), Options(beta=0.2), start=START, end=END)
    built = sharp("luong").train()
    with torch.no_grad():
        built.predict.join.weight.fill_(torch.nan)
    with pytest.raises(ModelError, match="not numbers"):
        beam_search(built, some(LENGTHS), start=START, end=END)
    assert built.training
