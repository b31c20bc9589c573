"""What is counted of labels and tags: answers that are right, classes that are found, words that are rightly tagged.

A label is what stands in the data, white space at both ends aside; upper and lower case differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from regard.errors import UsageError
from regard.evaluate.bootstrap import Sparse
from regard.evaluate.counts import Counted, Reference, matched, percent, signed


def one_right(answers: Sequence[str], references: Sequence[Reference]) -> tuple[list[str], list[str]]:
    """Answers and right answers without white space around them, after a look at whether each has one."""
    given = matched(answers, references)
    several = [place for place, each in enumerate(given) if len(each) > 1]
    if several:
        raise UsageError(
            f"references: expected one right label for each answer; row {several[0] + 1} has {len(given[several[0]])}.",
            hint="A metric that takes several right answers is exact_match.",
        )
    return [answer.strip() for answer in answers], [each[0].strip() for each in given]


def numbered(*columns: Sequence[str]) -> tuple[list[str], list[np.ndarray]]:
    """The classes that occur in some columns, in order, and the columns as numbers of classes."""
    classes = sorted({label for column in columns for label in column})
    number = {label: place for place, label in enumerate(classes)}
    return classes, [np.array([number[label] for label in column], np.int64) for column in columns]


def count_accuracy(answers: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Accuracy's counts: is the answer right; and a one."""
    found, wanted = one_right(answers, references)
    rows = np.array([(one == other, 1) for one, other in zip(found, wanted, strict=True)], np.int64)
    return Counted("accuracy", rows, percent, signed)


def count_macro_f1(answers: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Macro F1's counts, of K classes: where the right class stands, the answered one, and their match, 3K + 1 of them.

    Of a thousand classes all but three counts of a row are zero, so that rows are kept sparse. F1 of a class is
    2 right / (occurs + answered), and the mean is over the classes that occur or are answered.
    """
    classes, (found, wanted) = numbered(*one_right(answers, references))
    size = len(classes)
    match = np.where(found == wanted, 2 * size + found, 3 * size)  # the last column is for what is wrong
    columns = np.stack([wanted, size + found, match], axis=1)

    def formula(sums: list[int]) -> float:
        occurs, answered, right = np.array(sums[:-1]).reshape(3, size)
        there = occurs + answered
        return float(100 * np.mean(2 * right[there > 0] / there[there > 0]))

    return Counted("macro F1", Sparse(columns, np.ones_like(columns), 3 * size + 1), formula, signed)


def count_tags(answers: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Tag accuracy's counts: the words that are rightly tagged, and all words. Tags stand between spaces."""
    found, wanted = one_right(answers, references)
    rows = []
    for number, (one, other) in enumerate(zip(found, wanted, strict=True), start=1):
        tags, right = one.split(), other.split()
        if len(tags) != len(right):
            raise UsageError(
                f"line {number}: expected {len(right)} tags, one for each word; the answer has {len(tags)}.",
                hint="Tags are separated by spaces; look for a line lost, or for a word that was cut in two.",
            )
        rows.append((sum(tag == true for tag, true in zip(tags, right, strict=True)), len(right)))
    return Counted("tag accuracy", np.array(rows, np.int64), percent, signed)


def count_filled(answers: Sequence[str], references: Sequence[Reference]) -> Counted:
    """Fill accuracy's counts: the hidden pieces that are found, and all of them. They stand between spaces."""
    return replace(count_tags(answers, references), name="fill accuracy")
