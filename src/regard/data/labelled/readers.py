"""The rows of labelled data as a task wants them: labels tidy, tags counted, images looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from regard.data.labelled.files import BadFiles
from regard.data.labelled.images import fault_of_image
from regard.data.labelled.masked import BadMasks, fault_of_pair
from regard.data.labelled.wanted import Wanted
from regard.data.report import Finding
from regard.data.rows import BadLines, Reader, Row


class Labelled(Reader):
    """Another reader's rows, looked at. Images are found from `folder` on, and their sources become whole paths."""

    def __init__(self, inner: Reader, wanted: Wanted, root: Path, folder: Path | None = None) -> None:
        self.inner, self.wanted, self.root = inner, wanted, root.resolve()
        self.folder = (folder or root).resolve()
        self.split, self.paths, self.has_links = inner.split, inner.paths, inner.has_links
        self._start()

    def _start(self) -> None:
        path = self.paths[0] if self.paths else self.folder
        self._bare = BadLines(path, "no-label", f"a {_one(self.wanted.target)} in every row")
        self._uneven = BadLines(path, "uneven-tags", "as many tags as words, both parted by spaces")
        self._images, self._masks = BadFiles(), BadMasks()
        self._sound: dict[Path, bool] = {}

    def rows(self) -> Iterator[Row]:
        self._start()
        look = self._look_at_image if self.wanted.source == "image" else self._look_at_text
        for row in self.inner.rows():
            label = row.target.strip()
            if not label and self.wanted.target != "nothing":
                self._bare.add(row.line, row.source)
            elif found := look(row._replace(target=label)):
                yield found

    def _look_at_text(self, row: Row) -> Row | None:
        if self.wanted.target != "tags":
            return row
        words, tags = row.source.split(), row.target.split()
        if len(words) != len(tags):
            self._uneven.add(row.line, f"{len(words)} words, {len(tags)} tags: {row.source} | {row.target}")
            return None
        return row._replace(source=" ".join(words), target=" ".join(tags))

    def _look_at_image(self, row: Row) -> Row | None:
        path = self.folder / row.source.strip()
        if path not in self._sound:  # an image with five captions is decoded once
            why = fault_of_image(path)
            self._sound[path] = not why
            if why:
                self._images.add(path, why)
        if not self._sound[path] or self.wanted.target != "mask":
            return row._replace(source=str(path)) if self._sound[path] else None
        mask = self.folder / row.target.strip()
        why = fault_of_image(mask) or fault_of_pair(path, mask)
        if why:
            self._masks.add(mask, why)
        return None if why else row._replace(source=str(path), target=str(mask))

    def findings(self) -> list[Finding]:
        return [
            *self.inner.findings(),
            *self._bare.findings("Give these rows one, or take them out."),
            *self._uneven.findings("Words and tags are counted between spaces: mend these lines, or take them out."),
            *self._images.findings(self.folder),
            *self._masks.findings(self.folder),
        ]

    def count(self) -> int:
        return self.inner.count()

    @cached_property
    def splits(self) -> Counter[str]:
        """How many rows of which split there are, where every row names its own: read once, to know what is lacking."""
        return Counter(row.split for row in self.inner.rows())

    def count_of(self, split: str) -> int:
        return self.splits[split] if self.split is None else super().count_of(split)

    def identity(self, row: Row) -> str:
        if self.wanted.apart:
            return row.target
        if self.wanted.source == "text":
            return row.source
        path = Path(row.source)
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else row.source

    @property
    def settings(self) -> str:
        sides = f"{self.wanted.source} {self.wanted.target}"
        stamps = f" {self.folder} {self._stamps()}" if self.wanted.source == "image" else ""
        return f"labelled {sides}{stamps} {self.inner.settings}"

    def _stamps(self) -> str:
        """A number that changes with the name, class, size or date of any image."""
        found = blake2b(digest_size=16)
        for row in self.inner.rows():
            try:
                status = (self.folder / row.source.strip()).stat()
                told = f"{row.source}\0{row.target}\0{status.st_size}\0{status.st_mtime_ns}\n"
                if self.wanted.target == "mask":
                    status = (self.folder / row.target.strip()).stat()
                    told += f"{status.st_size}\0{status.st_mtime_ns}\n"
            except (OSError, ValueError):
                told = f"{row.source}\0{row.target}\0missing\n"
            found.update(told.encode("utf-8", "surrogatepass"))
        return found.hexdigest()


def _one(target: str) -> str:
    """What one of them is called."""
    return {"text": "caption", "tags": "tag"}.get(target, target)
