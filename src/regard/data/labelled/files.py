"""Labels that stand in the names of files: a folder a class (`pos/1.txt`), or a file a class (`pos.txt`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.files import Lines, count_marks, plain_name
from regard.data.report import SHOWN, Finding, error, warning
from regard.data.rows import Reader, Row

Classes = Sequence[tuple[Path, str]]  # files, and the class of each


class TextFiles(Reader):
    """Texts whose class is told by their file: one text a file (`whole`), or one a line."""

    has_links = False

    def __init__(self, split: str, files: Classes, *, whole: bool) -> None:
        self.split: str = split
        self.files, self.whole = tuple(files), whole
        self.paths = tuple(path for path, _ in files)
        self._start()

    def _start(self) -> None:
        self._faults: list[Finding] = []
        self._empty: list[str] = []
        self._empties = 0

    def rows(self) -> Iterator[Row]:
        self._start()
        for path, label in self.files:
            lines = Lines(path)
            if self.whole:
                text = " ".join(" ".join(line.split()) for line in lines).strip()
                yield from self._row(text, label, 1, path)
            else:
                for line, text in enumerate(lines, start=1):
                    yield from self._row(text, label, line, path)
            self._faults += lines.findings()

    def _row(self, text: str, label: str, line: int, path: Path) -> Iterator[Row]:
        if text and not text.isspace():
            yield Row(self.split, text, label, None, line)
            return
        self._empties += 1
        if len(self._empty) < SHOWN:
            self._empty.append(str(path) if self.whole else f"{path}:{line}")

    def findings(self) -> list[Finding]:
        # An empty file that is one text of many is told with the others; line endings of thousands of files are not.
        hidden = ("empty-file", "line-endings") if self.whole else ()
        found = _first_of_each(finding for finding in self._faults if finding.code not in hidden)
        if self._empties:
            what = "one text is" if self._empties == 1 else f"{self._empties:,} texts are"
            advice = "Nothing can be learnt from them: take them out."
            message = f"{what} empty and left out."
            found.append(warning("empty-texts", message, self.split, examples=self._empty, advice=advice))
        return found

    def count(self) -> int:
        return len(self.paths) if self.whole else sum(count_marks(path, b"\n") for path in self.paths)

    @property
    def settings(self) -> str:
        return f"texts {self.split} {self.whole} {[label for _, label in self.files]}"


def _first_of_each(findings: Iterator[Finding]) -> list[Finding]:
    """Of thousands of files with the same fault, the first few."""
    kept: dict[str, list[Finding]] = {}
    for finding in findings:
        kept.setdefault(finding.code, []).append(finding)
    return [finding for same in kept.values() for finding in same[:SHOWN]]


class ImageFiles(Reader):
    """Images whose class is the name of their folder; each row's source is the path from the corpus's folder."""

    has_links = False
    paths = ()  # their bytes are not kept with the corpus: `Labelled` notes names, sizes and dates

    def __init__(self, split: str, root: Path, files: Classes) -> None:
        self.split: str = split
        self.root, self.files = root, tuple(files)

    def rows(self) -> Iterator[Row]:
        for line, (path, label) in enumerate(self.files, start=1):
            yield Row(self.split, path.relative_to(self.root).as_posix(), label, None, line)

    def findings(self) -> list[Finding]:
        return []

    def count(self) -> int:
        return len(self.files)

    @property
    def settings(self) -> str:
        return f"images {self.split}"


class BadFiles:
    """Gathers files that cannot be used: how many, and the first few with the reason."""

    def __init__(self) -> None:
        self._count = 0
        self._first: list[str] = []

    def add(self, path: Path, why: str) -> None:
        """Note one bad file."""
        self._count += 1
        if len(self._first) < SHOWN:
            self._first.append(f"{path}: {why}")

    def findings(self, where: object) -> list[Finding]:
        """One finding for all of them, or none."""
        if not self._count:
            return []
        what = "one image cannot" if self._count == 1 else f"{self._count:,} images cannot"
        advice = "Fetch or write them again, or take them out (and their rows)."
        return [error("broken-images", f"{what} be read.", where, examples=self._first, advice=advice)]


def stem_and_ending(path: Path) -> tuple[str, str]:
    """`rt-polarity.pos.gz` is `rt-polarity` and `pos`."""
    stem, dot, ending = plain_name(path).rpartition(".")
    return (stem, ending) if dot else (ending, "")
