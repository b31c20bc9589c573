"""The benches of what is looked at: words erased, needles found; on models that are made up, so that it is known."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from regard.errors import UsageError
from regard.recipe import resolve

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import erasure
import needle

TEXTS = [f"{'x ' * before}good film {'y ' * after}".strip() for before, after in ((5, 7), (2, 11), (11, 0), (0, 13))]


class Reader:
    """Says whether `good` is there; looks at one word, by its name."""

    def __init__(self, watched="good"):
        self.watched = watched

    def answer(self, texts, record=True):
        return [self._one(text) for text in texts]

    def _one(self, text):
        words = (*text.split(), "</s>")
        weights = np.array([[0.9 if word == self.watched else 0.1 / len(words) for word in words]])
        seen = SimpleNamespace(words=words, weights=weights)
        return SimpleNamespace(label=str("good" in words), source=text, attention=(weights,), seen=seen)


def test_what_is_left_of_a_text():
    assert erasure.without(("a", "b", "c", "b"), (3, 0)) == "b c"
    assert erasure.without(("a",), ()) == "a"


def test_erasing_the_word_that_decides_changes_every_answer():
    found = erasure.erase(Reader(), TEXTS, count=1)
    assert (found.most, found.texts) == (100.0, len(TEXTS))
    assert found.random < 50


def test_erasing_a_word_that_is_looked_at_in_vain_changes_none():
    assert erasure.erase(Reader("film"), TEXTS, count=1).most == 0.0


def test_the_end_of_a_text_is_never_erased():
    answer = Reader("</s>").answer(["a b c"])[0]
    assert erasure.most_looked(answer, 3) == [0, 1, 2]


def test_texts_with_too_few_words_left_are_passed_over():
    assert erasure.erase(Reader(), [*TEXTS, "good film", "a good film now"], count=2).texts == len(TEXTS)
    with pytest.raises(UsageError, match="more than 6 words"):
        erasure.erase(Reader(), ["good film"])


def test_a_model_that_looks_at_nothing_is_refused():
    model = Reader()
    blind = SimpleNamespace(answer=lambda texts: [SimpleNamespace(attention=(), seen=None)])
    with pytest.raises(UsageError, match="looks at nothing"):
        erasure.erase(blind, TEXTS)
    assert erasure.erase(model, TEXTS).texts == len(TEXTS)


def test_words_that_judge_against_all_alike():
    words = ("The", "soup", "was", "Delicious,", "</s>")

    def looked(*weights):
        return SimpleNamespace(attention=(1,), seen=SimpleNamespace(words=words, weights=np.array([weights])))

    assert erasure.polar([looked(0.2, 0.2, 0.2, 0.2, 0.2)]) == pytest.approx(1.0)
    assert erasure.polar([looked(0.1, 0.1, 0.1, 0.6, 0.1)]) == pytest.approx(3.0)
    with pytest.raises(UsageError, match="none of these texts"):
        erasure.polar([])


def test_what_is_measured_of_needles():
    """Of seven positions two tell: one is found, one is missed, and one that does not tell is open."""
    weights = np.array([[0.0, 0.75, 0.0, 0.25, 0.0, 0.0, 0.0]])
    answer = SimpleNamespace(label="pos", source="w99 w0 w98 w97 w1 w96", seen=SimpleNamespace(weights=weights))
    found = needle.measure([answer, answer], ["pos", "neg"])
    assert found == needle.Found(accuracy=50.0, density=pytest.approx(2 / 7), f1=0.5, mass=0.75)


def test_gates_that_are_all_closed_are_measured_too():
    answer = SimpleNamespace(label="pos", source="w99 w0", seen=SimpleNamespace(weights=np.zeros((1, 3))))
    assert needle.measure([answer], ["neg"]) == needle.Found(0.0, 0.0, 0.0, 0.0)


def test_the_arms_of_the_needle_table_differ_by_their_price_alone():
    arms = needle.arms(40)
    relaxed = [f"relaxed gates, price {price:g}" for price in needle.RELAXED]
    assert list(arms) == ["soft attention", *(f"gates, price {price:g}" for price in needle.PRICES), *relaxed]
    prices = []
    for name, (recipe, settings) in arms.items():
        made = resolve(recipe, settings).model.settings["attend"].settings["choice"]
        if name in relaxed:
            assert (made.settings["warmup"], made.settings["straight_through"]) == (0, False)
        elif name != "soft attention":
            prices.append(made.settings["price"])
            assert (made.settings["anneal"], made.settings["warmup"]) == (40, 10)
    assert tuple(prices) == needle.PRICES
