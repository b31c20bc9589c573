"""Batches: nothing lost, nothing repeated, never too large, and the same again after a restore."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batches import Batches, InMemory, Tally
from regard.data.pair import Pair
from regard.data.pairs import pair_batches
from regard.data.tokenizer import END, PAD, START, Tokenizer, train_pair
from regard.errors import BrokenData, UsageError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
LETTERS = Tokenizer.train(["abcdefgh"], kind="characters")
SUBWORDS = Tokenizer.train(["abcdefgh abc abcd fgh"] * 9, kind="bpe", size=280)


def corpus(lengths: list[tuple[int, int]]) -> InMemory:
    letters, others = "abcdefgh" * 9, "hgfedcba" * 9
    return InMemory([Pair(letters[:source], others[:target]) for source, target in lengths])


def batches(lengths: list[tuple[int, int]], **settings) -> Batches:
    return pair_batches(corpus(lengths), LETTERS, LETTERS, **settings)


def content(stream: Batches) -> list[tuple]:
    """One epoch, as values that can be compared."""
    return [(batch.rows, batch.source.data.tolist(), batch.target.data.tolist()) for batch in stream]


lengths = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60)
sizes = st.fixed_dictionaries(
    {
        "tokens": st.integers(1, 300),
        "pool": st.integers(1, 70),
        "seed": st.integers(),
        "shuffle": st.booleans(),
        "mixed": st.booleans(),
    }
)


@given(lengths, sizes)
@settings(deadline=None, max_examples=60)
def test_an_epoch_has_every_pair_once(lengths, sizes):
    stream = batches(lengths, **sizes)
    for _ in range(2):
        rows = [row for batch in stream for row in batch.rows]
        assert sorted(rows) == list(range(len(lengths)))
        assert stream.tally.pairs == len(lengths) and stream.tally.left_out == 0


@given(lengths, sizes)
@settings(deadline=None, max_examples=60)
def test_no_batch_is_too_large_but_one_long_pair(lengths, sizes):
    for batch in batches(lengths, **sizes):
        positions = batch.source.data.numel() + batch.target.data.numel()
        assert positions <= sizes["tokens"] or len(batch.rows) == 1


@given(lengths, sizes)
@settings(deadline=None, max_examples=60)
def test_batches_hold_the_framed_pairs(lengths, sizes):
    stream = batches(lengths, **sizes)
    positions = real = 0
    for batch in stream:
        for place, row in enumerate(batch.rows):
            pair = stream.split.pairs[row]
            source, target = batch.source.data[place], batch.target.data[place]
            assert source[batch.source.mask[place]].tolist() == [*LETTERS.encode(pair.source).ids, END]
            assert target[batch.target.mask[place]].tolist() == [START, *LETTERS.encode(pair.target).ids, END]
        for side in (batch.source, batch.target):
            assert side.data.dtype == torch.int64 and side.mask.any(0).all()  # no column of padding alone
            assert (side.data[~side.mask] == PAD).all()
            assert (side.mask.long().diff() <= 0).all()  # padding follows what is real
            positions, real = positions + side.mask.numel(), real + int(side.mask.sum())
    assert (stream.tally.positions, stream.tally.real) == (positions, real)
    assert stream.tally.padding == pytest.approx(1 - real / positions)


@given(lengths, sizes, st.integers(0, 50), st.sampled_from([None, 20]), st.sampled_from([0.0, 0.4]))
@settings(deadline=None, max_examples=50)
def test_after_a_restore_come_the_same_batches(lengths, sizes, stop, longest, sample):
    lengths = [*lengths, (3, 3)]  # one that is never too long
    made = {"longest": longest, "sample": sample, **sizes}
    split = corpus(lengths)
    first = pair_batches(split, SUBWORDS, SUBWORDS, **made)
    assert sum(1 for _ in islice(first.forever(), stop)) == stop
    state = json.loads(json.dumps(first.state()))
    second = pair_batches(split, SUBWORDS, SUBWORDS, **made)
    second.restore(state)
    for one, other in islice(zip(first.forever(), second.forever(), strict=True), 12):
        assert one.rows == other.rows and torch.equal(one.source.data, other.source.data)
        assert torch.equal(one.target.data, other.target.data)
        assert first.tally == second.tally and first.epoch == second.epoch


def test_a_restore_in_the_middle_of_a_loop_takes_effect_at_once():
    stream = batches([(length, length) for length in range(30)], tokens=60)
    state, rows = stream.state(), []
    for batch in stream.forever():
        rows.append(batch.rows)
        if len(rows) == 3:
            stream.restore(state)
        if len(rows) == 6:
            break
    assert rows[:3] == rows[3:]


def test_epochs_differ_and_seeds_decide():
    pairs = [(number % 9, number % 7) for number in range(80)]
    stream = batches(pairs, tokens=80)
    first, second = content(stream), content(stream)
    assert first != second and stream.epoch == 2
    again, other = batches(pairs, tokens=80), batches(pairs, tokens=80, seed=1)
    assert content(again) == first and content(again) == second and content(other) != first
    still = batches(pairs, tokens=80, shuffle=False)
    assert content(still) == content(still)


def test_lengths_are_mixed_over_an_epoch_but_not_within_a_batch():
    pairs = [(number % 40, number % 40) for number in range(2_000)]
    widths = [batch.source.data.shape[1] for batch in batches(pairs, tokens=400)]
    assert widths != sorted(widths)
    stream = batches(pairs, tokens=400)
    content(stream)
    assert stream.tally.padding < 0.05


def test_mixed_batches_are_drawn_from_all_lengths():
    pairs = [(number % 40, number % 40) for number in range(2_000)]
    stream = batches(pairs, tokens=800, mixed=True)
    spreads = sorted(int(lengths.max() - lengths.min()) for lengths in (batch.target.mask.sum(1) for batch in stream))
    assert spreads[len(spreads) // 2] > 25  # of 39
    assert stream.tally.padding > 0.3
    rows = [row for batch in batches(pairs, tokens=800, mixed=True, shuffle=False) for row in batch.rows]
    assert rows == list(range(2_000))
    with pytest.raises(UsageError, match="mixed is True, was None"):
        stream.restore(batches(pairs, tokens=800).state())


def test_sampling_differs_from_epoch_to_epoch():
    stream = pair_batches(corpus([(30, 30)] * 3), SUBWORDS, SUBWORDS, sample=0.5)
    (one,), (other,) = list(stream), list(stream)
    cuts = [sorted(batch.source.data.tolist()) for batch in (one, other)]
    assert cuts[0] != cuts[1]


def test_long_pairs_are_left_out_and_counted():
    stream = batches([(5, 5), (6, 5), (5, 6), (2, 3)], longest=5, pool=2)
    assert sorted(row for batch in stream for row in batch.rows) == [0, 3]
    assert stream.tally.left_out == 2
    assert str(stream.tally).endswith("padding, 2 pairs left out as too long")
    list(stream)
    assert stream.tally.left_out == 2  # of this epoch, not of all


def test_the_total_counts_every_epoch_however_often_it_stops():
    lengths = [(2, 3)] * 5 + [(3, 2)] * 6 + [(40, 40)]
    whole, parted = (batches(lengths, tokens=29, longest=20, seed=7) for _ in range(2))
    for _ in range(3):
        given = list(whole)
    assert (whole.tally.pairs, whole.total.pairs, whole.total.left_out) == (11, 33, 1)
    assert whole.total.batches == 3 * len(given)
    assert whole.total.padding == pytest.approx(whole.tally.padding)
    assert whole.epochs == 3.0
    stream = parted.forever()
    for _ in range(3 * len(given)):
        next(stream)
        state = json.loads(json.dumps(parted.state()))
        parted = batches(lengths, tokens=29, longest=20, seed=7)
        parted.restore(state)
        stream = parted.forever()
    assert parted.total == whole.total


def test_a_tally_reads_well():
    assert str(Tally(2, 3_000, 0, 100, 95)) == "2 batches, 3,000 pairs, 5.0% padding"


def test_mistakes_are_named():
    with pytest.raises(UsageError, match="batches: tokens is a number of 1 or more; found 0"):
        batches([(1, 1)], tokens=0)
    with pytest.raises(BrokenData, match="the split has none"):
        batches([])
    with pytest.raises(BrokenData, match="all 2 examples are longer than 3 pieces"):
        list(batches([(4, 4), (5, 1)], longest=3))
    state = batches([(1, 1)] * 5, seed=3).state()
    with pytest.raises(UsageError, match="seed is 4, was 3; rows is 6, was 5"):
        batches([(1, 1)] * 6, seed=4).restore(state)


def test_a_dataset_is_a_split():
    datasets = pytest.importorskip("datasets")
    rows = {"source": ["abc", "a"], "target": ["cba", "a"], "links": ["", ""]}
    stream = pair_batches(datasets.Dataset.from_dict(rows), LETTERS, LETTERS)
    assert sorted(row for batch in stream for row in batch.rows) == [0, 1]


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the repository")
def test_padding_on_multi30k_is_under_eight_percent():
    files = [DATA / "multi30k" / f"train.{language}.gz" for language in ("de", "en")]
    german, english = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    split = InMemory([Pair(source, target) for source, target in zip(german, english, strict=True)])
    stream = pair_batches(split, *train_pair(german, english), tokens=4096)
    assert sum(len(batch.rows) for batch in stream) == 29_000
    assert stream.tally.padding < 0.08
