"""Word links between pieces: a case by hand, links in batches, and batches that are otherwise the same."""

import numpy as np
import pytest
import torch

from regard.data.batches import InMemory
from regard.data.links import goals, piece_links
from regard.data.pair import Pair
from regard.data.pairs import pair_batches
from regard.data.tokenizer import Tokenizer
from regard.errors import BrokenData, MissingData

LETTERS = Tokenizer.train(["abcdefgh "], kind="characters")
SUBWORDS = Tokenizer.train(["lesen las gelesen liest buch bücher"] * 9, kind="bpe", size=290)
PAIRS = InMemory(
    [
        Pair("lesen las", "liest gelesen buch", ((0, 0), (0, 2), (1, 1)), ((1, 2),)),
        Pair("buch", "bücher", ((0, 0),)),
        Pair("las", "liest"),
    ]
)


def test_links_between_pieces_by_hand():
    """Words of two, one and one pieces against one and two; only sure links count."""
    found = piece_links("0-1 2-0 1?0", [0, 0, 1, 2], [0, 1, 1], where="here")
    assert found.tolist() == [[0, 1], [0, 2], [1, 1], [1, 2], [3, 0]]


def test_what_a_piece_should_look_at_by_hand():
    """Targets of 2 pieces and the end, sources of 3 and the end: rows sum to one, or to zero without links."""
    found = goals([np.array([[0, 0], [2, 0], [1, 1]]), None], targets=4, sources=4)
    assert found[0].tolist() == [[0.5, 0, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert found.shape == (2, 3, 4) and not found[1].any()


def test_a_link_outside_is_refused():
    with pytest.raises(BrokenData, match="pair 7: the link 0-2 points outside a pair of 1 and 2 words"):
        piece_links("0-2", [0, 0], [0, 1], where="pair 7")
    assert piece_links("", [], [], where="here").shape == (0, 2)


@pytest.mark.parametrize("sample", [0.0, 0.5])
def test_batches_carry_the_links_of_their_words(sample):
    """However the words are cut, the weight between two words is what their links say."""
    (batch,) = pair_batches(PAIRS, SUBWORDS, SUBWORDS, linked=True, sample=sample, seed=3)
    place = batch.rows.index(0)
    source = SUBWORDS.read([piece for piece in batch.source.data[place].tolist() if piece > 3])
    target = SUBWORDS.read([piece for piece in batch.target.data[place].tolist() if piece > 3])
    assert (source.text, target.text) == ("lesen las", "liest gelesen buch")
    columns, rows = SUBWORDS.piece_to_word(source), SUBWORDS.piece_to_word(target)
    linked = {(0, 0), (0, 2), (1, 1)}
    for row, word in enumerate(rows):
        sources = [column for column, other in enumerate(columns) if (other, word) in linked]
        expected = torch.zeros(batch.links.shape[-1])
        expected[sources] = 1 / len(sources)
        assert torch.allclose(batch.links[place, row], expected)
    assert not batch.links[place, len(rows) :].any()  # the end and the padding
    assert not batch.links[batch.rows.index(2)].any()


@pytest.mark.parametrize("sample", [0.0, 0.5])
def test_links_change_nothing_else(sample):
    plain = [
        pair_batches(PAIRS, SUBWORDS, SUBWORDS, sample=sample, seed=5, tokens=29, linked=each) for each in (False, True)
    ]
    for without, carrying in zip(*map(list, plain), strict=True):
        assert without.rows == carrying.rows and without.links is None
        assert torch.equal(without.source.data, carrying.source.data)
        assert torch.equal(without.target.data, carrying.target.data)
    assert plain[0].state() == plain[1].state()


def test_links_that_are_not_there():
    class Bare:
        def __len__(self):
            return 1

        def __getitem__(self, rows):
            return {"source": ["a"], "target": ["b"]}

    with pytest.raises(MissingData, match="expected pairs with word links"):
        pair_batches(Bare(), LETTERS, LETTERS, linked=True)
    assert len(list(pair_batches(Bare(), LETTERS, LETTERS))) == 1
