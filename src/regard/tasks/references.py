"""Several right answers: an image with five captions is asked about once, and any of them is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.evaluate.counts import Reference, count_chrf


def once_each(source: Any, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """Each image once, in the order of the corpus, with all that is right for it; whatever else is read, as it is.

    `source` is what reads the cells: a side, or a translator's tokenizer. Texts that stand in a corpus twice are
    asked twice: they are different lines.
    """
    if not getattr(source, "is_image", False):
        return cells, references
    found: dict[Any, list[Any]] = {}
    for cell, reference in zip(cells, references, strict=True):
        found.setdefault(cell, []).append(reference)
    if len(found) == len(cells):
        return cells, references
    return list(found), [each[0] if len(each) == 1 else tuple(each) for each in found.values()]


def texts_in(references: Sequence[Reference | None]) -> list[str]:
    """Every right answer by itself."""
    found: list[str] = []
    for each in references:
        found += [str(each or "")] if each is None or isinstance(each, str) else map(str, each)
    return found


def nearest(answer: str, reference: Reference) -> str:
    """The right answer that an answer is shown beside: itself if it is one of them, else the first."""
    if isinstance(reference, str):
        return reference
    return answer if answer in reference else str(reference[0])


def best_and_worst(answers: Sequence[str], references: Sequence[Reference], count: int) -> list[int]:
    """The places of so many answers: first half those nearest to their references by chrF, then those farthest away."""
    counted = count_chrf(answers, references, lower=True)
    values = [counted.take(np.array([place])).value() for place in range(len(answers))]
    ranked = sorted(range(len(answers)), key=lambda place: -values[place])
    some = min(count, len(ranked))
    return ranked[: (some + 1) // 2] + ranked[len(ranked) - some // 2 :]
