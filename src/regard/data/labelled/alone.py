"""Images of which nothing is wanted but themselves: any folder of them, whatever else it knows of them.

Where each has a label the rows keep it, which nobody learns from: it tells afterwards whether like images have like
codes. Of captions nothing is kept.

data/*.png                         images
data/train/*.png data/val/*.png    images in folders named by split
whatever else is labelled or captioned data
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from regard.data.held_out import USUAL, HeldOut
from regard.data.labelled.classes import folders_in
from regard.data.labelled.detect import sides_of
from regard.data.labelled.files import ImageFiles
from regard.data.labelled.find import Found, find_labelled, finish_plan
from regard.data.labelled.images import is_image
from regard.data.labelled.readers import Labelled
from regard.data.labelled.wanted import BY_NAME, Columns, Wanted
from regard.data.names import by_split, split_named
from regard.data.plan import Plan
from regard.data.report import Finding
from regard.data.rows import Reader, Row
from regard.errors import MissingData

NOTHING = "nothing"


def find_images(path: Path, columns: Columns = BY_NAME, held_out: HeldOut = USUAL) -> Plan:
    """Make a plan for a folder of images."""
    sides = sides_of(path) if path.is_dir() or path.suffix.lower() in (".csv", ".tsv", ".jsonl") else None
    if sides and sides[0] == "image":
        plan = find_labelled(path, Wanted("image", sides[1], columns), held_out)
        told = plan.readers if sides[1] == "label" else tuple(Untold(each) for each in plan.readers)
        return replace(plan, target=NOTHING, readers=told)
    splits = {split: folder for folder in folders_in(path) if (split := split_named(folder.name))}
    named = splits or {"train": path}
    wanted, readers = Wanted("image", NOTHING), list[Labelled]()
    for split, folder in sorted(named.items(), key=lambda each: by_split(each[0])):
        files = (
            [each for each in sorted(folder.rglob("*")) if each.is_file() and is_image(each)] if path.is_dir() else []
        )
        if files:
            readers.append(Labelled(ImageFiles(split, path, [(each, "") for each in files]), wanted, path))
    if not readers:
        seen = sorted(entry.name for entry in path.iterdir())[:8] if path.is_dir() else [path.name]
        raise MissingData(
            f"{path}: expected a folder of images (.jpg, .png, .webp, .gif); found {', '.join(seen) or 'nothing'}.",
            hint="Images may lie in it, in folders train/, val/ and test/, or in a folder a class.",
        )
    return finish_plan(path, wanted, Found(readers, not splits), held_out)


class Untold(Reader):
    """Images with captions as images alone, each once."""

    def __init__(self, inner: Reader) -> None:
        self.inner = inner
        self.split, self.paths, self.has_links = inner.split, inner.paths, False

    def rows(self) -> Iterator[Row]:
        seen = set[str]()
        for row in self.inner.rows():
            if row.source not in seen:
                seen.add(row.source)
                yield row._replace(target="", links=None)

    def findings(self) -> list[Finding]:
        return self.inner.findings()

    @cached_property
    def _images(self) -> dict[str, set[str]]:
        """Those of each split: read once, to know how many there are."""
        found: dict[str, set[str]] = {}
        for row in self.inner.rows():
            found.setdefault(row.split, set()).add(row.source)
        return found

    def count(self) -> int:
        return sum(map(len, self._images.values()))

    def count_of(self, split: str) -> int:
        return len(self._images.get(split, ()))

    def identity(self, row: Row) -> str:
        return self.inner.identity(row)

    @property
    def settings(self) -> str:
        return f"images alone {self.inner.settings}"
