"""BLEU, chrF and exact match: by hand, against sacreBLEU itself, and with intervals that mean something."""

import math
import random
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from regard.errors import UnknownName, UsageError
from regard.evaluate import bleu, chrf, compare, count_bleu, count_exact, exact_match
from regard.evaluate.bootstrap import DRAWS, interval, resample

WORDS = ["a", "an", "the", "dog", "cat", "house", "reads", "sees", "old", "red", "book", "."]


def corpus(size, wrong, seed=3):
    """References of random words, and outputs in which a share of the words is another one."""
    dice = random.Random(seed)
    references = [" ".join(dice.choices(WORDS, k=dice.randint(5, 17))) for _ in range(size)]
    return spoil(references, wrong, seed + 1), references


def spoil(references, wrong, seed):
    dice = random.Random(seed)

    def turn(word):
        return dice.choice(WORDS) if dice.random() < wrong else word

    return [" ".join(map(turn, line.split())) for line in references]


# --- by hand -----------------------------------------------------------------------------------------------


def test_the_same_text_scores_a_hundred():
    _, references = corpus(11, 0)
    for score in (bleu(references, references), chrf(references, references), exact_match(references, references)):
        assert score.value == score.low == score.high == pytest.approx(100)


def test_nothing_in_common_scores_nothing():
    for metric in (bleu, chrf, exact_match):
        assert metric(["xx yy zz ww"], ["a b c d"]).value == 0


def test_bleu_by_hand():
    """`a b c d e` for `a b c d f`: 4 of 5 words, 3 of 4 pairs, 2 of 3 triples, 1 of 2 quadruples; no brevity."""
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d e"], ["a b c d f"]).value == pytest.approx(expected)


def test_bleu_punishes_what_is_too_short():
    """Five words of seven, all right: every precision is one, and what is left is exp(1 - 7/5)."""
    assert bleu(["a b c d e"], ["a b c d e f g"]).value == pytest.approx(100 * math.exp(1 - 7 / 5))


def test_bleu_sums_over_the_corpus_and_is_no_mean_of_sentences():
    """6 of 7 words, 4 of 5 pairs, 2 of 3 triples, and the one quadruple; 7 words for 7."""
    found = bleu(["a b c d", "e f x"], ["a b c d", "e f g"]).value
    assert found == pytest.approx(100 * (6 / 7 * 4 / 5 * 2 / 3 * 1) ** (1 / 4))


def test_chrf_by_hand():
    """`ab` for `ac`: one of two characters, no pair; precision and recall are 1/2 and 0 on average 1/4."""
    assert chrf(["ab"], ["ac"]).value == pytest.approx(25)


def test_exact_match_by_hand():
    score = exact_match(["1992-05-03 ", "1992-05-04", "x"], ["1992-05-03", "1992-05-05", "X"])
    assert score.value == pytest.approx(100 / 3)
    assert exact_match(["x ", "y"], ["X", "z"], lower=True).value == pytest.approx(50)


def test_any_of_several_references_will_do():
    outputs, references = ["big house now here", "x"], [("large house", "big house now here"), ("x",)]
    assert exact_match(outputs, references).value == 100
    assert bleu(outputs, references).value == pytest.approx(100)
    assert exact_match(outputs, references).signature.startswith("nrefs:var|")


# --- against sacreBLEU -------------------------------------------------------------------------------------

REAL = (
    ["The dog ran, didn't it?", "A man's reading a book.", "U.S. trade fell 3.5% on Monday."],
    ["The dog was running, wasn't it?", "a man reads a book.", "On Monday, U.S. trade fell by 3.5 %."],
)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "none", "zh"])
def test_bleu_is_sacrebleus(lower, tokenize):
    metric = BLEU(lowercase=lower, tokenize=tokenize)
    theirs = metric.corpus_score(REAL[0], [REAL[1]], n_bootstrap=DRAWS)
    ours = bleu(*REAL, lower=lower, tokenize=tokenize)
    assert ours.value == theirs.score
    assert ours.signature == metric.get_signature().format()
    assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, rel=1e-5)  # theirs is in half our precision


@pytest.mark.parametrize("lower", [False, True])
def test_chrf_is_sacrebleus(lower):
    metric = CHRF(lowercase=lower)
    theirs = metric.corpus_score(REAL[0], [REAL[1]], n_bootstrap=DRAWS)
    ours = chrf(*REAL, lower=lower)
    assert ours.value == theirs.score
    assert (ours.name, ours.signature) == (theirs.name, metric.get_signature().format())
    assert (ours.high - ours.low) / 2 == pytest.approx(theirs._ci, rel=1e-5)


def test_several_references_are_sacrebleus():
    outputs, first = corpus(13, 0.3)
    second = spoil(first, 0.4, 9)
    pairs = list(zip(first, second, strict=True))
    theirs = BLEU().corpus_score(outputs, [first, second])
    assert bleu(outputs, pairs).value == theirs.score
    assert bleu(outputs, pairs).signature.startswith("nrefs:2|")
    some = [given if place % 2 else given[:1] for place, given in enumerate(pairs)]
    holes = [line if place % 2 else None for place, line in enumerate(second)]
    assert bleu(outputs, some).value == BLEU().corpus_score(outputs, [first, holes]).score
    assert bleu(outputs, some).signature.startswith("nrefs:var|")


@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30)), min_size=1, max_size=5))
@settings(deadline=None, max_examples=60)
def test_any_text_scores_as_in_sacrebleu(pairs):
    outputs, references = [a for a, _ in pairs], [b for _, b in pairs]
    assert count_bleu(outputs, references).value() == BLEU().corpus_score(outputs, [references]).score


# --- intervals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [bleu, chrf, exact_match])
def test_the_interval_holds_the_score_and_shrinks_with_more_sentences(metric):
    outputs, references = corpus(523, 0.1)
    few, many = metric(outputs[:67], references[:67]), metric(outputs, references)
    for score in (few, many):
        assert score.low < score.value < score.high
    assert many.high - many.low < 0.6 * (few.high - few.low)  # about the root of 67/523, 0.36


def test_the_interval_is_as_wide_as_theory_says():
    """A share p of n has the standard deviation sqrt(p (1 - p) / n); 95 % lie within 1.96 of them."""
    score = exact_match(["x"] * 400 + ["y"] * 100, ["x"] * 500)
    assert score.value == 80
    assert score.high - score.low == pytest.approx(2 * 1.96 * 100 * math.sqrt(0.8 * 0.2 / 500), rel=0.1)


def test_the_interval_depends_on_the_seed_alone():
    outputs, references = corpus(59, 0.2)
    assert bleu(outputs, references) == bleu(outputs, references)
    other = bleu(outputs, references, seed=5)
    assert (other.low, other.high) != (bleu(outputs, references).low, bleu(outputs, references).high)
    assert other.value == bleu(outputs, references).value
    assert "|seed:5|" in other.signature


def test_a_draw_is_a_sum_over_as_many_sentences():
    rows = np.array([[1, 2], [1, 3], [1, 7]])
    sums = resample(rows)
    assert sums.shape == (DRAWS, 2)
    assert set(sums[:, 0]) == {3}
    assert sums[:, 1].min() == 6 and sums[:, 1].max() == 21
    assert sums[:, 1].mean() == pytest.approx(12, abs=0.5)


def test_the_interval_cuts_a_fortieth_off_each_end():
    values = np.arange(80.0)[::-1]
    assert interval(values) == (2, 77)


def test_a_score_is_written_to_be_quoted():
    assert str(exact_match(["x"], ["x"])).startswith(
        "exact match|nrefs:1|bs:1000|seed:12345|case:mixed|space:stripped|"
    )
    assert str(exact_match(["x"], ["x"])).endswith(" = 100.0 (95 % interval 100.0 to 100.0)")


# --- two systems -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["bleu", "chrf", "exact_match"])
def test_compare_finds_a_real_difference(metric):
    better, references = corpus(211, 0.05)
    worse = spoil(references, 0.3, 17)
    found = compare(better, worse, references, metric)
    assert found.value > 10
    assert 0 < found.low < found.value < found.high
    assert found.p < 0.005
    turned = compare(worse, better, references, metric)
    assert (turned.value, turned.low, turned.high, turned.p) == (-found.value, -found.high, -found.low, found.p)


def test_compare_finds_none_between_equal_systems():
    outputs, references = corpus(101, 0.2)
    same = compare(outputs, outputs, references)
    assert (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_compare_is_seldom_wrong_about_systems_of_one_quality():
    """Of 40 pairs of systems that differ by chance, some 2 lie below p = 0.05; 8 have a chance of one in a thousand."""
    _, references = corpus(97, 0)
    found = [
        compare(spoil(references, 0.2, seed), spoil(references, 0.2, seed + 1000), references, "exact_match").p
        for seed in range(40)
    ]
    assert sum(p < 0.05 for p in found) < 8
    assert max(found) > 0.5


def test_pairing_sees_what_separate_intervals_hide():
    """One output in twenty is mended, none made worse: the intervals overlap, the difference is sure."""
    outputs, references = corpus(400, 0.15)
    better = [references[place] if place % 20 == 0 else text for place, text in enumerate(outputs)]
    assert bleu(better, references).low < bleu(outputs, references).high
    assert compare(better, outputs, references).p < 0.01


def test_compare_takes_a_metric_with_settings():
    found = compare(["A b c d"], ["x"], ["a B c d"], partial(count_bleu, lower=True))
    assert found.value == pytest.approx(100)
    assert "|case:lc|" in found.signature
    assert str(found).startswith(f"BLEU|{found.signature}: difference +100.0 [+100.0, +100.0], p = 1.000")
    assert compare(["A"], ["b"], ["a"], partial(count_exact, lower=True)).value == 100


# --- mistakes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", [bleu, chrf, exact_match])
def test_mistakes_are_told(metric):
    with pytest.raises(UsageError, match="found 3 outputs, 2 references"):
        metric(["a", "b", "c"], ["a", "b"])
    with pytest.raises(UsageError, match="at least one sentence; found none"):
        metric([], [])
    with pytest.raises(UsageError, match="references: expected one for each of 2 outputs; found none"):
        metric(["a", "b"], [])
    with pytest.raises(UsageError, match="1 of 3 sentences have none, first sentence 2"):
        metric(["a", "b", "c"], [["a"], [], ["c"]])
    with pytest.raises(UsageError, match="outputs: expected a list of sentences; found one text"):
        metric("abc", ["a", "b", "c"])
    with pytest.raises(UsageError, match="references: expected a list of sentences; found one text"):
        metric(["a", "b", "c"], "abc")


def test_compare_tells_mistakes():
    with pytest.raises(UsageError, match="found 2 outputs_a, 1 outputs_b"):
        compare(["a", "b"], ["a"], ["a", "b"])
    with pytest.raises(UnknownName, match="Did you mean 'bleu'"):
        compare(["a"], ["a"], ["a"], "blue")


def test_an_unknown_tokenizer_is_told():
    with pytest.raises(UnknownName, match="Did you mean '13a'"):
        bleu(["a"], ["a"], tokenize="v13a")


def test_a_tokenizer_whose_package_is_missing_is_told(monkeypatch):
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_ja_mecab.MeCab", None)
    with pytest.raises(UsageError, match="'ja-mecab' needs a package that is not here"):
        bleu(["a"], ["a"], tokenize="ja-mecab")


def test_a_difference_that_is_written_as_zero_has_no_p():
    """Outputs far too short: both have a BLEU of hardly anything, and one of them always has less."""
    references = [" ".join(f"w{number}" for number in range(place, place + 61)) for place in range(101)]
    outputs = [[" ".join(each.split()[:length]) for each in references] for length in (7, 5)]
    found = compare(*outputs, references)
    assert 0 < found.low <= found.value <= found.high < 0.05
    assert found.p < 0.01, "chance would not do as well"
    assert found.told() == "+0.0 (less than 0.05 apart)"
    assert str(found).endswith("difference +0.0 (less than 0.05 apart)")


def test_a_single_sentence_tells_nothing_of_others():
    assert compare(["a b c d"], ["a b c"], ["a b c d"]).p == 1
    assert compare(["a b c d"] * 2, ["a b c"] * 2, ["a b c d"] * 2).p < 0.01
