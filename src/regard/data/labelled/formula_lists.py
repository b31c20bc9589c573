"""im2latex's own layout: a file of formulas, a line each, and for each split a list that says which is in which image.

    im2latex_formulas.lst   a formula a line, counted from 0
    im2latex_train.lst      `0 60ee748793 basic`: the formula's number, the image's name, how it was drawn
    formula_images/         60ee748793.png

and the files that its authors made of it for training: `formulas.norm.lst`, `train_filter.lst` (`60ee748793.png 0`)
and `images_processed/`. The lists are called train, validate and test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.data.files import Lines, count_marks
from regard.data.labelled.images import is_image
from regard.data.report import Finding
from regard.data.rows import BadLines, Reader, Row

FORMULAS = ("im2latex_formulas.norm.lst", "formulas.norm.lst", "im2latex_formulas.lst", "formulas.lst")
IMAGES = ("formula_images", "images_processed", "formula_images_processed", "images")
_SPLITS = ("train", "validate", "val", "test")
_ENDINGS = (".lst", "_filter.lst")


class FormulaList(Reader):
    """The images of one split, by the number of their formula."""

    has_links = False

    def __init__(self, split: str, formulas: Path, listed: Path, images: str) -> None:
        self.split: str = split
        self.paths = (formulas, listed)
        self.images = images
        self._start()

    def _start(self) -> None:
        self._faults: list[Finding] = []
        expected = "the number of a formula and the name of an image"
        self._bad = BadLines(self.paths[1], "bad-list", expected)

    def rows(self) -> Iterator[Row]:
        self._start()
        formulas, listed = (Lines(path) for path in self.paths)
        written = list(formulas)
        for line, text in enumerate(listed, start=1):
            found = _number_and_name(text)
            if found is None or not found[0] < len(written):
                self._bad.add(line, text)
                continue
            number, name = found
            yield Row(self.split, f"{self.images}/{name}", written[number], None, line)
        self._faults = [*formulas.findings(), *listed.findings()]

    def findings(self) -> list[Finding]:
        return [*self._faults, *self._bad.findings("Formulas are counted from 0, in the order of their file.")]

    def count(self) -> int:
        return count_marks(self.paths[1], b"\n")

    @property
    def settings(self) -> str:
        return f"formulas {self.split} {self.images}"


def has_formula_lists(path: Path) -> bool:
    """Whether a folder is laid out as im2latex is."""
    return next(formula_readers(path), None) is not None


def formula_readers(path: Path) -> Iterator[FormulaList]:
    """A reader for each split that has a list."""
    formulas = next((path / name for name in FORMULAS if (path / name).is_file()), None)
    if formulas is None:
        return
    images = next((name for name in IMAGES if (path / name).is_dir()), ".")
    for name in _SPLITS:
        listed = next(
            (
                each
                for ending in _ENDINGS
                for start in ("im2latex_", "")
                if (each := path / f"{start}{name}{ending}").is_file()
            ),
            None,
        )
        if listed is not None:
            yield FormulaList("val" if name == "validate" else name, formulas, listed, images)


def _number_and_name(line: str) -> tuple[int, str] | None:
    """A formula's number and an image's file, whichever comes first; a name without an ending is a PNG's."""
    words = line.split()
    if len(words) < 2:
        return None
    number, name = words[:2] if words[0].isdecimal() else (words[1], words[0])
    if not number.isdecimal():
        return None
    return int(number), name if is_image(Path(name)) else f"{name}.png"
