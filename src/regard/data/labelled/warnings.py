"""What can be the matter with labels: one small function for each kind of fault, as `data.warnings` has for pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from regard.data.report import Finding, error, shorten, warning
from regard.data.rows import Row
from regard.data.survey import Survey
from regard.data.warnings import Case, case, duplicates, odd_characters, of_all, overlap, unknown

_RARE = 5  # rows of a label in train below which it can hardly be learnt
_UNSEEN = 0.01  # share of rows with labels that train never has, from which on it is an error
_UNEQUAL = 10  # how many times as frequent as the rarest the most frequent label may be without a word
_ALL_DIFFERENT, _ENOUGH = 0.5, 20  # share of different labels that are none, of so many rows
_SHOWN = 8  # labels named in one message


class LabelSurvey(Survey):
    """What one split of labelled data holds: a survey of its texts, and how often each label or tag occurs."""

    def __init__(self, split: str, target: str) -> None:
        super().__init__(split)
        self.labels: Counter[str] = Counter()
        self._tags = target == "tags"

    def see(self, row: Row) -> None:
        """Take one row."""
        super().see(row)
        self.labels.update(row.target.split() if self._tags else (row.target,))


def label_warnings(source: str, target: str, surveys: Mapping[str, LabelSurvey]) -> Iterator[Case]:
    """Every fault of the content of a labelled corpus."""
    train = surveys.get("train")
    what = "tags" if target == "tags" else "labels"
    for survey in surveys.values():
        if source == "text":
            yield from _texts(survey, train, target)
        if train is not None and survey is not train:
            yield from _unseen(train, survey, what)
    if train is not None:
        yield from (Case(finding) for finding in _of_train(train, target, what))


def caption_warnings(surveys: Mapping[str, Survey]) -> Iterator[Case]:
    """Every fault of the content of a corpus of images with captions."""
    train = surveys.get("train")
    for survey in surveys.values():
        yield from odd_characters(survey)
        yield from duplicates(survey)
        if train is not None and survey is not train:
            yield from overlap(train, survey)
            yield from unknown("caption", train.target, survey.target, survey.split)


def class_warnings(surveys: Mapping[str, LabelSurvey]) -> Iterator[Case]:
    """Every fault of a corpus of images of which no split shall have a class of another."""
    train = surveys.get("train")
    for survey in surveys.values():
        if len(survey.labels) < 2:
            message = f"expected images of two classes or more; found {_named(survey.labels) or 'none'}."
            yield Case(error("one-label", message, survey.split, advice="Add folders of other classes."))
        alone = Counter({label: count for label, count in survey.labels.items() if count == 1})
        if alone:
            message = f"classes of a single image: {_named(alone)}."
            advice = "An episode shows one image of a class and asks about another: add some, or they are left out."
            yield Case(warning("rare-labels", message, survey.split, advice=advice))
        shared = Counter({label: count for label, count in survey.labels.items() if train and label in train.labels})
        if shared and survey is not train:
            message = f"classes that stand in train too: {_named(shared)}."
            advice = "What is asked about shall be new: put each class into one split."
            yield Case(warning("shared-classes", message, survey.split, advice=advice))


def _texts(survey: LabelSurvey, train: LabelSurvey | None, target: str) -> Iterator[Case]:
    yield from _empty(survey)
    yield from odd_characters(survey)
    yield from duplicates(survey)
    if target == "label":
        yield from _contradictions(survey)
    if train is not None and survey is not train:
        yield from overlap(train, survey)
        yield from unknown("text", train.source, survey.source, survey.split)


def _empty(survey: LabelSurvey) -> Iterator[Case]:
    found = survey.empty
    if found.count == survey.pairs:
        yield Case(error("empty-texts", "every text is empty.", survey.split))
    elif found.count:
        message = f"{of_all(found.count, survey, 'texts')} are empty."
        yield case("empty-texts", message, survey, found.places, "Nothing can be learnt from them: take them out.")


def _contradictions(survey: LabelSurvey) -> Iterator[Case]:
    """The same text with two labels."""
    both = np.stack([survey.source_hashes, survey.pair_hashes], 1)
    distinct = np.unique(both, axis=0)
    texts, counts = np.unique(distinct[:, 0], return_counts=True)
    found = np.flatnonzero(np.isin(survey.source_hashes, texts[counts > 1]))
    if len(found):
        _, first, group = np.unique(survey.source_hashes[found], return_index=True, return_inverse=True)
        order = found[np.argsort(first[group], kind="stable")]  # side by side, in the order they come
        message = f"{of_all(len(found), survey, 'texts')} stand there with two labels or more."
        yield case("two-labels", message, survey, order, "At most one of them can be answered right: look at them.")


def _unseen(train: LabelSurvey, survey: LabelSurvey, what: str) -> Iterator[Case]:
    """Labels of a held-out split that training never sees, and so can never be answered."""
    strange = Counter({label: count for label, count in survey.labels.items() if label not in train.labels})
    if not strange:
        return
    share = strange.total() / max(survey.labels.total(), 1)
    message = f"{what} that never stand in train: {_named(strange)} ({share:.1%} of the split)."
    advice = "Put some of these rows into train, or take them out. Are the labels spelled alike?"
    tell = error if share > _UNSEEN and what == "labels" else warning
    yield Case(tell("unseen-labels", message, survey.split, advice=advice))


def _of_train(train: LabelSurvey, target: str, what: str) -> Iterator[Finding]:
    labels = train.labels
    if len(labels) < 2:
        advice = "Nothing is to be told apart: add rows of another class." if labels else ""
        yield error(
            "one-label", f"expected two {what} or more; found {_named(labels) or 'none'}.", "train", advice=advice
        )
        return
    if target == "label" and train.pairs >= _ENOUGH and len(labels) > _ALL_DIFFERENT * train.pairs:
        message = f"{len(labels):,} different labels in {train.pairs:,} rows: {_named(labels)}."
        advice = "Is this the column of labels? --label COLUMN names another."
        yield warning("many-labels", message, "train", advice=advice)
        return
    rare = Counter({label: count for label, count in labels.items() if count < _RARE})
    if rare:
        advice = "They can hardly be learnt: add rows, or join them with other classes."
        yield warning("rare-labels", f"{what} with fewer than {_RARE} rows: {_named(rare)}.", "train", advice=advice)
    (first, most), (last, least) = labels.most_common()[0], labels.most_common()[-1]
    if target == "label" and most >= _UNEQUAL * least:
        share = most / labels.total()
        message = f"very unequal classes: {shorten(first, 30)} {most:,}, {shorten(last, 30)} {least:,}."
        advice = f"Whoever always answers {shorten(first, 30)} is right in {share:.1%}: look at more than the accuracy."
        yield warning("unequal-labels", message, "train", advice=advice)


def _named(labels: Counter[str]) -> str:
    """Labels with their counts, the most frequent first."""
    told = [f"{shorten(label, 30)} {count:,}" for label, count in labels.most_common(_SHOWN)]
    more = len(labels) - _SHOWN
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def label_note(surveys: Mapping[str, LabelSurvey], target: str) -> str:
    """Which labels there are, for the notes of a report."""
    survey = surveys.get("train") or next(iter(surveys.values()))
    what = target if target == "tags" else "labels"
    return f"{len(survey.labels)} {what} in {survey.split}: {_named(survey.labels)}"
