"""Are the words that a classifier looks at those that it answers by? Erase them, and see whether the answer changes.

From each text the words looked at most are taken out, and in turn as many at random; told is how many answers change.
Texts that have too few words left are passed over. With `--polar` also: how much is looked at words that judge (of the
built-in reviews), against what they would have if all words were looked at alike. Example:

    python benchmarks/erasure.py runs/one runs/two --data reviews --polar
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import Any

import numpy as np

from regard.data.corpus import Corpus
from regard.data.reviews_words import NEGATIVE, POSITIVE
from regard.errors import RegardError, UsageError
from regard.tasks.classifier import Classification, Classifier

DRAWS = 5  # random erasures of each text


@dataclass(frozen=True)
class Erased:
    """Shares of the answers that change, in percent, and the texts they are of."""

    most: float
    random: float
    texts: int

    def __str__(self) -> str:
        gap = self.most - self.random
        return f"looked at most {self.most:.1f}, at random {self.random:.1f}, difference {gap:.1f} ({self.texts} texts)"


def without(words: Sequence[str], places: Iterable[int]) -> str:
    """A text without the words at some places."""
    gone = set(places)
    return " ".join(word for place, word in enumerate(words) if place not in gone)


def erase(model: Classifier, texts: Sequence[str], count: int = 3, seed: int = 0) -> Erased:
    """Answers to texts from which `count` words were taken, against the answers to the texts as they stand."""
    answers = [each for each in model.answer(texts) if _seen(each) and len(_seen(each).words) > 2 * count + 1]
    if not answers:
        raise UsageError(f"expected texts of more than {2 * count} words; found none.", hint="Write a smaller --count.")
    random, words = Random(seed), [_seen(each).words[:-1] for each in answers]  # the end of a text is no word of it
    most = [without(each, most_looked(answer, count)) for each, answer in zip(words, answers, strict=True)]
    drawn = [[without(each, random.sample(range(len(each)), count)) for each in words] for _ in range(DRAWS)]
    changed = [_changed(model, answers, texts) for texts in (most, *drawn)]
    return Erased(changed[0], fmean(changed[1:]), len(answers))


def polar(answers: Iterable[Classification]) -> float:
    """The weight of words that judge, over what they would have if every word had the same; over texts with some."""
    found = []
    for seen in map(_seen, answers):
        marked = [word.strip(".,;:!?").lower() in POSITIVE | NEGATIVE for word in seen.words]
        if any(marked):
            found.append(float(seen.weights.mean(0)[marked].sum()) * len(marked) / sum(marked))
    if not found:
        raise UsageError("none of these texts has a word that judges.", hint="--polar is for the data `reviews`.")
    return fmean(found)


def most_looked(answer: Classification, count: int) -> list[int]:
    """The places of the words looked at most, the end of the text left out."""
    weights = _seen(answer).weights.mean(0)[:-1]
    return [int(place) for place in np.argsort(-weights, kind="stable")[:count]]


def _changed(model: Classifier, before: Sequence[Classification], texts: Sequence[str]) -> float:
    after = model.answer(texts, record=False)
    return 100 * fmean(one.label != two.label for one, two in zip(before, after, strict=True))


def _seen(answer: Classification) -> Any:
    """The words of a text, the end last, and the weight of each for every query."""
    if not answer.attention:
        raise UsageError("this model looks at nothing.", hint="Name a model with attention over text.")
    return answer.seen


def main() -> None:
    """Read the command line, print a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="classifiers of text, as `regard train` leaves them")
    parser.add_argument("--data", required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--count", type=int, default=3, help="words to erase")
    parser.add_argument("--polar", action="store_true", help="also how much is looked at words that judge")
    asked = parser.parse_args()
    try:
        texts = list(Corpus.open(asked.data, reads="text", wants="label").split(asked.split)["source"])
        for name in asked.models:
            model = Classifier.load(name)
            told = str(erase(model, texts, asked.count))
            more = f"; words that judge: {polar(model.answer(texts)):.2f} times uniform" if asked.polar else ""
            sys.stdout.write(f"{name}: {told}{more}\n")
    except RegardError as wrong:
        sys.exit(f"erasure.py: {wrong}")


if __name__ == "__main__":
    main()
