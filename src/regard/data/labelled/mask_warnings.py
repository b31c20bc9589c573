"""What can be the matter with masks: values that are not meant, classes that are hardly there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from regard.data.labelled.images import UnreadableImage
from regard.data.masks import MOST_CLASSES, name_of, read_values
from regard.data.report import error, warning
from regard.data.rows import Row
from regard.data.survey import Survey
from regard.data.warnings import Case

_LOOKED = 1_000  # masks of a split that are looked at
_RARE = 0.001  # share of the pixels below which a class is hardly learnt
_SHOWN = 8


class MaskSurvey(Survey):
    """What the masks of one split hold: how many pixels of each value."""

    def __init__(self, split: str) -> None:
        super().__init__(split)
        self.pixels: Counter[int] = Counter()

    def see(self, row: Row) -> None:
        """Take one row."""
        super().see(row)
        if self.pairs > _LOOKED:
            return
        try:
            values, counts = np.unique(read_values(row.target), return_counts=True)
        except UnreadableImage:
            return  # it was told with the files
        self.pixels.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def mask_warnings(surveys: Mapping[str, MaskSurvey]) -> Iterator[Case]:
    """Every fault of the content of a corpus of images with masks."""
    train = surveys.get("train")
    if train is None or not train.pixels:
        return
    advice = 'Say which are meant, and the nearest is taken: -s task.target.classes=["0","255"]. Masks as JPEG are '
    advice += "blurred: save them as PNG."
    if len(train.pixels) > MOST_CLASSES:
        message = f"{len(train.pixels):,} different values in the masks: {_named(train.pixels)}."
        yield Case(warning("many-values", message, "train", advice=advice))
        return
    if len(train.pixels) < 2:
        message = f"expected masks of two values or more; found {_named(train.pixels)}."
        yield Case(error("one-value", message, "train", advice="Nothing is to be told apart: look at the masks."))
        return
    rare = Counter({value: count for value, count in train.pixels.items() if count < _RARE * train.pixels.total()})
    if rare:
        message = f"values of fewer than {_RARE:.1%} of the pixels: {_named(rare, train.pixels.total())}."
        yield Case(warning("rare-values", message, "train", advice="They can hardly be learnt: are they meant?"))
    for survey in surveys.values():
        strange = Counter({each: count for each, count in survey.pixels.items() if each not in train.pixels})
        if strange:
            message = f"values that never stand in train: {_named(strange)}."
            yield Case(warning("unseen-values", message, survey.split, advice=advice))


def mask_note(surveys: Mapping[str, MaskSurvey]) -> str:
    """Which values there are, for the notes of a report."""
    survey = surveys.get("train") or next(iter(surveys.values()))
    return f"{len(survey.pixels)} values in the masks of {survey.split}: {_named(survey.pixels)} of the pixels"


def _named(pixels: Counter[int], total: int = 0) -> str:
    """Values with their shares, the most frequent first."""
    whole = total or max(1, pixels.total())
    told = [f"{name_of(value)} {count / whole:.2%}" for value, count in pixels.most_common(_SHOWN)]
    more = len(pixels) - _SHOWN
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
