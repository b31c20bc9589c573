"""The statistical aligner's links of a corpus: of the right pairs, both sides of them, and kept."""

import pytest

from regard.align import corpus_links
from regard.align.corpus_links import held_out_links, training_links
from regard.data.corpus import Corpus
from regard.data.tokenizer import train_pair
from regard.evaluate import aer, read_links


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(tmp_path_factory.mktemp("cache")))
        opened = Corpus.open("phrasebook", source="en", target="fr", size=1500)
        train = opened.split("train")
        yield opened, train_pair(train["source"], train["target"], kind="words", size=3000)


def error(lines, split):
    """The alignment error of links against the gold ones of the same pairs."""
    gold = read_links(split["links"][: len(lines)])
    return aer(read_links(lines).sure, gold.sure, gold.possible).aer


def test_links_of_held_out_pairs_are_between_their_two_sides(corpus):
    opened, pair = corpus
    lines, learnt = held_out_links(opened, pair, 53)
    assert len(lines) == 53
    assert learnt == 53 + len(opened.split("train"))
    assert error(lines, opened.split("val")) < 0.35
    for line, source, target in zip(lines, opened.split("val")["source"], opened.split("val")["target"], strict=False):
        ends = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert all(one < len(source.split()) and other < len(target.split()) for one, other in ends)


def test_links_of_training_pairs(corpus):
    opened, pair = corpus
    lines = training_links(opened, pair)
    assert len(lines) == len(opened.split("train"))
    assert error(lines, opened.split("train")) < 0.35


def test_links_are_kept(corpus, monkeypatch):
    opened, pair = corpus
    known = held_out_links(opened, pair, 53), training_links(opened, pair)
    monkeypatch.setattr(corpus_links, "reference_links", None)  # nobody is asked again
    assert (held_out_links(opened, pair, 53), training_links(opened, pair)) == known
