"""Images that are to be made: what is read is nothing, or the label that an image has.

They are found as labelled images are, and turned round. Where no label is wanted any images in a folder will do,
wherever below it they lie; folders called train, val and test are splits.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.data.held_out import HeldOut, cut_note
from regard.data.labelled.classes import visible
from regard.data.labelled.files import ImageFiles
from regard.data.labelled.find import find_labelled
from regard.data.labelled.images import is_image
from regard.data.labelled.readers import Labelled
from regard.data.labelled.wanted import Columns, Wanted
from regard.data.names import by_split, split_named
from regard.data.plan import Plan
from regard.data.report import Finding
from regard.data.rows import Reader, Row
from regard.errors import MissingData

_ANY = "image"  # in the place of a label that nobody reads


class Turned(Reader):
    """Another reader's images as targets, with their labels, or nothing, as sources."""

    has_links = False

    def __init__(self, inner: Reader, source: str) -> None:
        self.inner, self.source = inner, source
        self.split, self.paths = inner.split, inner.paths

    def rows(self) -> Iterator[Row]:
        for row in self.inner.rows():
            yield row._replace(source=row.target if self.source == "label" else "", target=row.source, links=None)

    def findings(self) -> list[Finding]:
        return self.inner.findings()

    def count(self) -> int:
        return self.inner.count()

    def count_of(self, split: str) -> int:
        return self.inner.count_of(split)

    def identity(self, row: Row) -> str:
        return self.inner.identity(row._replace(source=row.target))

    @property
    def settings(self) -> str:
        return f"turned {self.source} {self.inner.settings}"


def find_generated(path: Path, source: str, columns: Columns, held_out: HeldOut) -> Plan:
    """Make a plan for a folder of images, with labels or without."""
    if source == "label":
        plan = find_labelled(path, Wanted("image", "label", columns), held_out)
        readers = tuple(Turned(each, source) for each in plan.readers)
        return Plan(plan.name, source, "image", readers, plan.cut, plan.notes, plan.missing)
    groups = _groups(path)
    if not groups:
        seen = sorted(entry.name for entry in path.iterdir())[:8] if path.is_dir() else [path.name]
        raise MissingData(
            f"{path}: expected a folder of images (.jpg, .png, .webp, .gif); found {', '.join(seen) or 'nothing'}.",
            hint="`regard data list` shows corpora that are ready to use.",
        )
    wanted = Wanted("image", "label")
    inner = [
        Labelled(ImageFiles(split or "train", path, [(each, _ANY) for each in files]), wanted, path)
        for split, files in groups.items()
    ]
    there, whole = {each.split for each in inner}, None in groups
    usual = ("val", "test") if whole else () if "val" in there or "train" not in there else ("val",)
    cut = held_out.cut(usual, there, str(path))
    notes = (cut_note(cut),) if cut else ()
    return Plan(str(path), source, "image", tuple(Turned(each, source) for each in inner), cut, notes)


def _groups(path: Path) -> dict[str | None, list[Path]]:
    """The images by split; all of them together where no folder is called by one."""
    if not path.is_dir():
        return {}
    named = {split_named(each.name): each for each in sorted(path.iterdir()) if each.is_dir()}
    splits = {split: _images(named[split]) for split in sorted(filter(None, named), key=by_split)}
    if any(splits.values()):
        return {split: files for split, files in splits.items() if files}
    found = _images(path)
    return {None: found} if found else {}


def _images(path: Path) -> list[Path]:
    """The images below a folder, by name."""
    return [each for each in sorted(path.rglob("*")) if each.is_file() and visible(each) and is_image(each)]
