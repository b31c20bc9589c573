"""A batch divided among processes: every pair once, evenly, with no more padding than each share needs."""

import pytest
import torch

from regard.data.batches import InMemory
from regard.data.pair import Pair
from regard.data.pairs import pair_batches
from regard.data.tokenizer import Tokenizer
from regard.types import Batch
from small import batch, pictures, words

SOURCES, TARGETS = (7, 5, 3, 2, 2), (11, 2, 5, 3, 2)


def shares(whole, count):
    return [whole.share(place, count) for place in range(count)]


def test_by_hand():
    """Of five pairs, two processes read the first, third and fifth, and the second and fourth."""
    whole = batch(SOURCES, TARGETS)
    one, two = shares(whole, 2)
    assert (one.source.data.shape, one.target.data.shape) == ((3, 7), (3, 11))
    assert (two.source.data.shape, two.target.data.shape) == ((2, 5), (2, 3))
    assert torch.equal(two.source.data, whole.source.data[[1, 3], :5])
    assert torch.equal(two.target.mask, whole.target.mask[[1, 3], :3])


def test_one_process_reads_the_batch_itself():
    whole = batch()
    assert whole.share(0, 1) is whole


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_every_pair_is_read_once(count):
    whole = batch(SOURCES, TARGETS)
    numbered = Batch(whole.source, whole.target, tuple(range(5)))
    found = shares(numbered, count)
    assert sorted(row for each in found if each for row in each.rows) == list(range(5))
    assert [each is None for each in found] == [place >= 5 for place in range(count)]
    pieces = sum(int(each.target.mask[:, 1:].sum()) for each in found if each)
    assert pieces == int(whole.target.mask[:, 1:].sum())


def test_links_go_with_their_pairs():
    tokenizer = Tokenizer.train(["a b c d e f g"], kind="words")
    pairs = [
        Pair("a b c", "a b", ((0, 0), (2, 1))),
        Pair("d", "d e f g", ((0, 3),)),
        Pair("e f", "e", ((1, 0),)),
    ]
    whole = next(iter(pair_batches(InMemory(pairs), tokenizer, tokenizer, linked=True, shuffle=False)))
    for place, each in enumerate(shares(whole, 2)):
        assert each.links.shape == (len(each.rows), each.target.mask.shape[1] - 1, each.source.mask.shape[1])
        assert each.links.sum() == whole.links[place::2].sum()


def test_pictures_keep_their_frame():
    whole = Batch(pictures([(3, 5), (2, 7), (5, 3)]), words(31, (3, 2, 5)))
    one, two = shares(whole, 2)
    assert torch.equal(one.source.data, whole.source.data[[0, 2]])
    assert torch.equal(two.source.mask, whole.source.mask[[1]])
