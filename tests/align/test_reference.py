"""The statistical aligner: its beliefs by hand and by brute force, EM that never goes back, and what has no links."""

import gzip
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align import bitext, reference
from regard.align.bitext import LONGEST, Bitext, runs
from regard.align.positions import Diagonal, Jumps, Uniform
from regard.align.reference import MODELS, Plan, Way, reference_links, train
from regard.align.symmetrise import METHODS
from regard.errors import UnknownName, UsageError
from regard.evaluate import aer, read_links

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
GERMAN = ["das haus", "das buch", "ein buch", "das kleine haus", "ein kleines haus"]
ENGLISH = ["the house", "the book", "a book", "the little house", "a little house"]
letters = st.text("abcde", min_size=1, max_size=1)
lines = st.lists(letters, max_size=7)


def cut(texts):
    return [text.split() for text in texts]


@pytest.mark.parametrize("model", MODELS)
def test_a_corpus_whose_links_are_known(model):
    """Only one reading explains them all: each word has its own, in order."""
    found = reference_links(cut(GERMAN * 7), cut(ENGLISH * 7), model=model)
    assert found == [((0, 0), (1, 1)), ((0, 0), (1, 1)), ((0, 0), (1, 1)), *[((0, 0), (1, 1), (2, 2))] * 2] * 7


def test_words_that_change_places():
    """The HMM follows words, not the diagonal, once it has seen them apart."""
    sources, targets = ["a b", "b c", "a c", "c d", "a", "d"], ["B A", "C B", "C A", "D C", "A", "D"]
    found = reference_links(cut(sources * 11), cut(targets * 11), wanted=range(6))
    assert found == [((0, 1), (1, 0))] * 4 + [((0, 0),)] * 2


def test_model_one_by_hand():
    """Two given words of chance 0.3 and 0.1, null 0.5 with p0 = 0.2: joints 0.12, 0.04 and 0.1."""
    words, null = np.array([[[0.3, 0.1]]], np.float32), np.array([[0.5]], np.float32)
    found = Uniform(null=0.2).believe(words, null, np.array([1]), np.array([2]))
    assert found.cells[0, 0] == pytest.approx([0.12 / 0.26, 0.04 / 0.26])
    assert found.null[0, 0] == pytest.approx(0.1 / 0.26)
    assert found.likelihood == pytest.approx(np.log(0.26))


def test_the_diagonal_by_hand():
    """The second of two words, three given ones: h = -2/3, -1/3, 0."""
    near = np.exp(4 * np.array([-2 / 3, -1 / 3, 0]))
    joint = 0.92 * near / near.sum() * [0.2, 0.3, 0.5]
    words = np.array([[[0.1, 0.1, 0.1]], [[0.2, 0.3, 0.5]]], np.float32)
    found = Diagonal().believe(words, np.full((2, 1), 0.7, np.float32), np.array([2]), np.array([3]))
    assert found.cells[1, 0] == pytest.approx(joint / (joint.sum() + 0.7 * 0.08), rel=1e-5)


def test_the_tension_learns_what_was_believed():
    """After the M step the expected h is the one that was gathered: the slope of the likelihood is zero."""
    dice = np.random.default_rng(3)
    model, args = Diagonal(), (dice.random((5, 7, 3), np.float32), dice.random((5, 7), np.float32))
    lengths = np.full(7, 5), np.full(7, 3)
    found = model.believe(*args, *lengths)
    near = -np.abs((np.arange(1, 6) / 5)[:, None] - np.arange(1, 4) / 3)
    model.learn()
    share = np.exp(model.tension * near)
    share /= share.sum(-1, keepdims=True)
    mass = found.cells.sum(-1).sum(1)
    assert (mass * (share * near).sum(-1)).sum() == pytest.approx((found.cells.sum(1) * near).sum(), rel=1e-4)


def brute_force(model, words, null):
    """Posteriors of the HMM from all paths: each step at a given word, or at null with the position before."""
    steps, given = words.shape
    jump = {d: model.jump[d + LONGEST] for d in range(-given, given + 1)}
    cells, nulls, total = np.zeros((steps, given)), np.zeros(steps), 0.0
    for path in itertools.product(range(2 * given), repeat=steps):
        chance, before = 1.0, -1
        for step, state in enumerate(path):
            place, silent = state % given, state >= given
            if silent:
                chance *= model.null * null[step] * (1 / given if step == 0 else place == before)
            else:
                reach = sum(jump[to - before] for to in range(given))
                chance *= (1 - model.null) * jump[place - before] / reach * words[step, place]
            before = place
        total += chance
        for step, state in enumerate(path):
            if state < given:
                cells[step, state] += chance
            else:
                nulls[step] += chance
    return cells / total, nulls / total, np.log(total)


def test_jumps_are_what_all_paths_say():
    """Two pairs of unequal lengths in one block, against a sum over every path of each."""
    dice = np.random.default_rng(5)
    model = Jumps(null=0.3)
    written, given = np.array([4, 2]), np.array([3, 2])
    words, null = dice.random((4, 2, 3), np.float32), dice.random((4, 2), np.float32)
    for pair in range(2):
        words[written[pair] :, pair] = words[:, pair, given[pair] :] = null[written[pair] :, pair] = 0
    found = model.believe(words, null, written, given)
    likelihood = 0.0
    for pair, (w, g) in enumerate(zip(written, given, strict=True)):
        cells, nulls, each = brute_force(model, words[:w, pair, :g].astype(float), null[:w, pair].astype(float))
        assert found.cells[:w, pair, :g] == pytest.approx(cells, rel=1e-4)
        assert found.null[:w, pair] == pytest.approx(nulls, rel=1e-4)
        likelihood += each
    assert found.likelihood == pytest.approx(likelihood, rel=1e-5)
    assert not found.cells[2:, 1].any() and not found.cells[:, 1, 2:].any()


def test_jumps_learn_to_go_back():
    """Where words only fit in reverse order, steps of -1 become the likeliest."""
    model, words = Jumps(), np.full((5, 3, 5), 0.001, np.float32)
    words[np.arange(5), :, 4 - np.arange(5)] = 0.9
    for _ in range(3):
        model.believe(words, np.full((5, 3), 0.001, np.float32), np.full(3, 5), np.full(3, 5))
        model.learn()
    assert model.jump.argmax() - LONGEST == -1
    assert model.jump.sum() == pytest.approx(1) and model.jump.min() > 0


@pytest.mark.parametrize("positions", [Uniform, Diagonal])
@given(pairs=st.lists(st.tuples(lines, lines), min_size=1, max_size=9))
@settings(deadline=None, max_examples=25)
def test_the_likelihood_never_falls(positions, pairs):
    text = Bitext([source for source, _ in pairs], [target for _, target in pairs])
    ways = Way(text), Way(text, backward=True)
    found = np.array(list(train(text, ways, Plan(positions, 0.0, False, "union"), rounds=(0, 7))))
    assert (np.diff(found, axis=0) >= -1e-4 * np.maximum(1, np.abs(found[1:]))).all()


def test_each_given_word_writes_with_chances_that_sum_to_one():
    text = Bitext(cut(GERMAN), cut(ENGLISH))
    ways = Way(text), Way(text, backward=True)
    list(train(text, ways, MODELS["hmm"]))
    for way, owner in zip(ways, (text.of_source, text.of_target), strict=True):
        assert np.bincount(owner, way.chance)[1:] == pytest.approx(1, abs=1e-5)
        assert way.null.sum() == pytest.approx(1, abs=1e-5)


def test_a_prior_keeps_rare_words_from_explaining_everything():
    """By hand: exp(psi(c + a) - psi(sum + 2a)) for counts 3 and 0, of which psi(4) = 1.256118, psi(1) = -0.577216."""
    found = reference._learnt(np.array([0.0, 3.0, 0.0]), np.array([0.0, 3.0, 3.0]), np.array([1, 2, 2]), 1.0)
    assert found[1:] == pytest.approx(
        np.exp([1.256118 - 1.506118, -0.577216 - 1.506118]), rel=1e-5
    )  # psi(5) = 1.506118
    assert found[0] == 0


def test_a_word_with_no_counterpart_comes_from_null():
    """`so` is in every target, whatever the source says: no source word can claim it."""
    sources, targets = (
        ["a b", "b c", "c a", "a", "b", "c"] * 7,
        ["so A B", "so B C", "so C A", "so A", "so B", "so C"] * 7,
    )
    found = reference_links(cut(sources), cut(targets), wanted=range(3))
    assert found == [((0, 1), (1, 2))] * 3


def test_empty_and_endless_lines_have_no_links():
    sources = [*cut(GERMAN), [], ["das"], [], ["das"] * (LONGEST + 1)]
    targets = [*cut(ENGLISH), ["the"], [], [], ["the"]]
    found = reference_links(sources, targets)
    assert found[5:] == [()] * 4 and all(found[:5])
    assert reference_links([[]], [[]]) == [()] and reference_links([], []) == []


@pytest.mark.parametrize("method", ["posterior", *METHODS])
def test_the_order_of_pairs_and_what_is_wanted_do_not_matter(method):
    whole = reference_links(cut(GERMAN), cut(ENGLISH), method=method)
    assert reference_links(cut(GERMAN[::-1]), cut(ENGLISH[::-1]), method=method) == whole[::-1]
    assert reference_links(cut(GERMAN), cut(ENGLISH), method=method, wanted=[3, 1]) == [whole[3], whole[1]]


@given(pairs=st.lists(st.tuples(lines, lines), max_size=11), size=st.integers(1, 90))
@settings(deadline=None)
def test_every_cell_knows_its_words(pairs, size):
    with pytest.MonkeyPatch.context() as patch:  # however small the turns
        patch.setattr(bitext, "CELLS", size)
        patch.setattr(bitext, "WINDOW", size)
        patch.setattr(bitext, "TURN", size % 5 + 1)
        text = Bitext([source for source, _ in pairs], [target for _, target in pairs])
    assert len({*zip(text.of_source.tolist(), text.of_target.tolist(), strict=True)}) == text.entries
    rows = []
    for block in text.blocks:
        rows += block.rows.tolist()
        real = (block.source > 0)[:, :, None] & (block.target > 0)[:, None, :]
        assert (text.of_source[block.cells] == np.where(real, block.source[:, :, None], 0)).all()
        assert (text.of_target[block.cells] == np.where(real, block.target[:, None, :], 0)).all()
        assert ((block.source > 0).sum(1) == [len(pairs[row][0]) for row in block.rows]).all()
    assert sorted(rows) == [row for row, (source, target) in enumerate(pairs) if source and target]


def test_runs_by_hand():
    assert runs(np.array([7, 2, 5]), np.array([2, 0, 3])).tolist() == [7, 8, 5, 6, 7]


def test_what_is_asked_wrongly():
    with pytest.raises(UnknownName, match="hmn"):
        reference_links([["a"]], [["b"]], model="hmn")
    with pytest.raises(UnknownName, match="grow-diag"):
        reference_links([["a"]], [["b"]], method="grow-diag")
    with pytest.raises(UsageError, match="found 1 and 2"):
        reference_links([["a"]], [["b"], ["c"]])


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "europarl").is_dir(), reason="the shared Europarl sample and gold links are not here")
def test_gold_links_of_real_sentences():
    """A thousand pairs of text are enough for an error of less than a quarter."""

    def read(path, count=None):
        with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
            return [line.rstrip("\n") for line in itertools.islice(file, count)]

    rows = [line.split("\t") for line in read("word_alignment/gold.de-en.tsv.gz")]
    german = [row[0] for row in rows] + read("europarl/train.de.gz", 1000)
    english = [row[1] for row in rows] + read("europarl/train.en.gz", 1000)
    found = reference_links(cut(map(str.lower, german)), cut(map(str.lower, english)), wanted=range(len(rows)))
    gold = read_links([row[2] for row in rows])
    assert aer(found, gold.sure, gold.possible).aer < 0.25
