"""The vocabulary is scored for some rows after others: the same is found as for all at once."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.search import Options, Sampling, beam_search, greedy_search, rows, sample
from regard.search.rows import EVEN, FEWEST, NUMBERS, slices
from regard.search.shortlist import Shortlist
from regard.search.strategy import Strategy
from search.tables import END, FEW, START, sharp, some
from small import DECODERS, SOURCE

LIST = Shortlist.of([END, 7], {piece: [piece % FEW, (piece * 5) % FEW] for piece in range(SOURCE)}, SOURCE)
OPTIONS = {
    "plain": Options(beam=4, nbest=3, max_length=9),
    "penalties": Options(beam=3, alpha=0.6, beta=0.3, max_length=9),
    "rules": Options(beam=4, min_length=3, max_length=8, no_repeat=2, avoid=(5,), prefix=((7, 6), (), (4,), ())),
    "shortlist": Options(beam=3, max_length=9, shortlist=LIST),
}


@given(st.integers(0, 3_000), st.integers(1, 100_000))
def test_slices_are_all_rows_once_and_no_more_than_fit(count, width):
    parts = list(slices(count, width))
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(count))
    sizes = [part.stop - part.start for part in parts]
    assert all(size <= max(FEWEST, NUMBERS // width) + EVEN for size in sizes)
    assert all(size % EVEN == 0 for size in sizes[:-1])
    assert all(size > 0 for size in sizes)


def found(built, options):
    """By every strategy."""
    source = some((7, 5, 2, 3))
    kept = {"start": START, "end": END, "record": True}
    drawn = sample(built, source, Sampling(draws=3), options, generator=torch.Generator().manual_seed(3), **kept)
    greedy = [[each] for each in greedy_search(built, source, options, **kept)]
    return [*beam_search(built, source, options, **kept), *greedy, *drawn]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_in_slices_the_same_is_found(decoder, options, monkeypatch):
    built, counts, narrow = sharp(decoder), [], Strategy.narrow
    options = replace(options, beta=0.0) if decoder == "plain" else options  # which looks at nothing
    whole = found(built, options)
    monkeypatch.setattr(Strategy, "narrow", lambda *given: counts.append(len(given[1])) or narrow(*given))
    for name, number in (("FEWEST", 1), ("EVEN", 1), ("NUMBERS", 3 * FEW)):
        monkeypatch.setattr(rows, name, number)
    sliced = found(built, options)
    assert max(counts) <= 3 if options.shortlist is None else counts
    for one, other in zip(whole, sliced, strict=True):
        assert [each.ids for each in one] == [each.ids for each in other]
        for ours, theirs in zip(one, other, strict=True):
            assert ours.likelihood == pytest.approx(theirs.likelihood, abs=1e-5)
            assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(ours.weights, theirs.weights, strict=True))
