"""Captions as Flickr8k and Flickr30k come: a file of captions, a folder of images, and lists of who is in which split.

    Flickr8k.token.txt             1000268201_693b08cb0e.jpg#0<TAB>A child in a pink dress ...
    captions.txt                   image,caption   (the same as a table, as it is often passed on)
    Flicker8k_Dataset/  Images/    the images
    Flickr_8k.trainImages.txt      names of images, a line each; devImages, testImages

All may lie in one folder or in folders of it. Where there are lists, images of none of them are left aside; where there
are none, validation and test are cut off by image.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.files import Lines, count_marks
from regard.data.labelled.images import is_image
from regard.data.names import split_named
from regard.data.report import Finding, warning
from regard.data.rows import BadLines, Reader, Row
from regard.errors import BrokenData, MissingData

_TOKEN = re.compile(r"(?!.*lemma).*\btokens?(\.txt)?", re.I)
_TABLE = re.compile(r"captions\.txt", re.I)
_HEADER = re.compile(r'\s*"?image"?\s*,\s*"?caption"?\s*', re.I)
_LIST = re.compile(r".*?(train|dev|val|test)_?images\.txt", re.I)
_NUMBERED = re.compile(r"(.+?)#\d+\t(.*)")
_FOLDER = "expected a folder of images beside the captions"


class Captions(Reader):
    """The rows of a file of captions, each in the split that a list says; `split` where there are no lists."""

    has_links = False

    def __init__(self, path: Path, lists: Sequence[Path]) -> None:
        self.path, self.paths = path, (path, *lists)
        self.split = None if lists else "train"
        self.homes = dict(_listed(lists))
        self._bad = self._start()

    def _start(self) -> BadLines:
        self._lines, self._seen, self._aside = Lines(self.path), set[str](), set[str]()
        return BadLines(self.path, "no-caption", "the name of an image and its caption in every line")

    def rows(self) -> Iterator[Row]:
        self._bad = self._start()
        for line, text in enumerate(self._lines, start=1):
            if not text.strip() or (line == 1 and _HEADER.fullmatch(text)):
                continue
            parts = parted(text)
            if parts is None:
                self._bad.add(line, text)
                continue
            name, caption = parts
            split = self.homes.get(name) if self.homes else "train"
            (self._seen if split else self._aside).add(name)
            if split:
                yield Row(split, name, caption, None, line)

    def findings(self) -> list[Finding]:
        found = [*self._lines.findings(), *self._bad.findings("Write name.jpg#0<TAB>caption, or name.jpg,caption.")]
        missing = sorted(set(self.homes) - self._seen)
        if missing:
            message = f"{len(missing):,} images of the lists have no caption."
            found.append(warning("no-caption", message, self.path, examples=missing[:3]))
        return found

    def count(self) -> int:
        return count_marks(self.path, b"\n")

    @property
    def settings(self) -> str:
        return f"flickr {self.split}"

    @property
    def note(self) -> str:
        """What is left aside, in words."""
        for _ in self.rows():
            pass
        aside = f"; {len(self._aside):,} images of no list are left aside" if self._aside else ""
        return f"{self.path.name}: captions of {len(self._seen):,} images{aside}"


def parted(line: str) -> tuple[str, str] | None:
    """The image and the caption of a line; nothing where it is neither of the two forms."""
    numbered = _NUMBERED.fullmatch(line)
    if numbered:
        return numbered[1].strip(), numbered[2].strip()
    name, comma, caption = line.partition(",")
    caption = caption.strip()
    if not comma or not is_image(Path(name.strip().strip('"'))):
        return None
    if len(caption) > 1 and caption[0] == caption[-1] == '"':
        caption = caption[1:-1].replace('""', '"')
    return name.strip().strip('"'), caption.strip()


def find_flickr(path: Path) -> tuple[Captions, Path] | None:
    """A reader of the captions below a folder, and the folder of their images; nothing where there is no such file."""
    if not path.is_dir():
        return None
    files = [each for folder in _folders(path) for each in sorted(folder.iterdir()) if each.is_file()]
    known = [each for each in files if _TOKEN.fullmatch(each.name)] or [each for each in files if _is_table(each)]
    if not known:
        return None
    if len(known) > 1:
        told = ", ".join(str(each.relative_to(path)) for each in known)
        raise BrokenData(f"{path}: expected one file of captions; found {told}.", hint="Take the others away.")
    if parted(_first(known[0])) is None:
        return None
    reader = Captions(known[0], [each for each in files if _LIST.fullmatch(each.name)])
    return reader, _images(path, reader)


def _is_table(path: Path) -> bool:
    return bool(_TABLE.fullmatch(path.name)) and bool(_HEADER.fullmatch(next(iter(Lines(path)), "")))


def _first(path: Path) -> str:
    """The first line that is no header."""
    return next((line for line in Lines(path) if line.strip() and not _HEADER.fullmatch(line)), "")


def _folders(path: Path) -> list[Path]:
    """A folder and those in it, a folder in a folder of its own name included."""
    inner = [each for each in sorted(path.iterdir()) if each.is_dir() and not each.name.startswith((".", "__"))]
    return [path, *inner, *(each / each.name for each in inner if (each / each.name).is_dir())]


def _images(path: Path, reader: Captions) -> Path:
    """The folder in which the image of the first caption lies."""
    first = next(reader.rows(), None)
    if first is None:
        raise BrokenData(f"{reader.path}: expected captions of the images in the lists; found none.")
    folders = _folders(path)
    found = next((folder for folder in folders if (folder / first.source).is_file()), None)
    if found is None:
        there = ", ".join(each.name for each in folders[1:]) or "no folder"
        raise MissingData(f"{path}: {_FOLDER}; {first.source} is not in {there}.", hint="Put them into Images/.")
    return found


def _listed(lists: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Each image of the lists, and its split."""
    for path in lists:
        named = _LIST.fullmatch(path.name)
        split = split_named(named[1].lower()) if named else None
        yield from ((line.strip(), split) for line in Lines(path) if split and line.strip())
