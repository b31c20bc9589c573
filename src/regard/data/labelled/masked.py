"""Images with masks: `images/` and `masks/` side by side, the same names in both, whatever their endings.

    images/001.png   masks/001.png       validation and test are cut off
    train/images/001.jpg   train/masks/001.png   val/...   test/...
    images/train/001.jpg   masks/train/001.png   ...

A mask may be called after its image with `_mask` behind (`001_mask.png`), and folders `imgs/`, `image/`, `labels/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from regard.data.labelled.classes import folders_in
from regard.data.labelled.files import BadFiles
from regard.data.labelled.images import UnreadableImage, is_image, opened_image
from regard.data.names import by_split, split_named
from regard.data.report import SHOWN, Finding, error
from regard.data.rows import Reader, Row

IMAGES, MASKS = ("images", "imgs", "image", "img"), ("masks", "mask", "labels", "annotations")
_SUFFIXES = ("_mask", "-mask", "_label", "_segmentation")
_ORIENTATION, _UPRIGHT = 0x0112, 4  # the tag of a photograph that says how it is turned; above, it lies on its side


class MaskFiles(Reader):
    """The pairs of two folders, by name; what has no partner is told."""

    has_links = False
    paths = ()  # their bytes are not kept with the corpus: `Labelled` notes names, sizes and dates

    def __init__(self, split: str, root: Path, images: Path, masks: Path) -> None:
        self.split: str = split
        self.root, self.folders = root, (images, masks)
        found, self._faults = _by_name(images), list[Finding]()
        partners = {_bare(name): path for name, path in _by_name(masks).items()}
        self.pairs = [(path, partners[name]) for name, path in found.items() if name in partners]
        self._tell(images, "no mask", sorted(set(found) - set(partners)), found)
        self._tell(masks, "no image", sorted(set(partners) - set(found)), partners)
        self.files = [(each, "") for pair in self.pairs for each in pair]

    def _tell(self, folder: Path, lack: str, names: Sequence[str], known: dict[str, Path]) -> None:
        if not names:
            return
        other = self.folders[1] if folder == self.folders[0] else self.folders[0]
        what = "one file has" if len(names) == 1 else f"{len(names):,} files have"
        message = f"{what} {lack} of the same name in {other}."
        examples = [str(known[name]) for name in names[:SHOWN]]
        advice = "A mask is called as its image is (001.jpg, 001.png or 001_mask.png): rename it, or take it out."
        self._faults.append(error("unpaired", message, folder, examples=examples, advice=advice))

    def rows(self) -> Iterator[Row]:
        for line, (image, mask) in enumerate(self.pairs, start=1):
            names = [each.relative_to(self.root).as_posix() for each in (image, mask)]
            yield Row(self.split, names[0], names[1], None, line)

    def findings(self) -> list[Finding]:
        return self._faults

    def count(self) -> int:
        return len(self.pairs)

    @property
    def settings(self) -> str:
        return f"masks {self.split} {len(self._faults)}"


def mask_readers(path: Path) -> list[MaskFiles]:
    """Readers of the images and masks below a folder, a reader a split; none where there are no such folders."""
    if not path.is_dir():
        return []
    found = {split: _pair(folder) for folder in folders_in(path) if (split := split_named(folder.name))}
    if any(found.values()):
        splits = {split: pair for split, pair in found.items() if pair}
    else:
        pair = _pair(path)
        if pair is None:
            return []
        inside = [{split: each for each in folders_in(side) if (split := split_named(each.name))} for side in pair]
        both = [split for split in inside[0] if split in inside[1]]
        splits = {split: (inside[0][split], inside[1][split]) for split in both} or {"": pair}
    order = sorted(splits, key=lambda split: by_split(split or "train"))
    return [MaskFiles(split or "train", path, *splits[split]) for split in order]


def is_unsplit(readers: Sequence[MaskFiles], path: Path) -> bool:
    """Whether no split is named anywhere."""
    return len(readers) == 1 and all(folder.parent == path for folder in readers[0].folders)


def fault_of_pair(image: Path, mask: Path) -> str | None:
    """Why a mask does not fit its image, in words; nothing where it does."""
    try:
        sizes = [_size(each) for each in (image, mask)]
    except UnreadableImage as why:
        return str(why)
    if sizes[0] != sizes[1]:
        told = [f"{width} x {height}" for width, height in sizes]
        return f"{told[1]} pixels; its image {image.name} has {told[0]}"
    return None


class BadMasks(BadFiles):
    """Masks that do not fit their images."""

    def findings(self, where: object) -> list[Finding]:
        """One finding for all of them, or none."""
        if not self._count:
            return []
        what = "one mask does not fit its image" if self._count == 1 else f"{self._count:,} masks do not fit"
        advice = "A mask has a pixel for every pixel of its image: make it again, or take both out."
        return [error("wrong-masks", f"{what}.", where, examples=self._first, advice=advice)]


def _size(path: Path) -> tuple[int, int]:
    """Width and height as people see the image."""
    with opened_image(path) as image:
        turned = image.getexif().get(_ORIENTATION, 1) > _UPRIGHT
        return (image.height, image.width) if turned else (image.width, image.height)


def _pair(folder: Path) -> tuple[Path, Path] | None:
    inside = {each.name.lower(): each for each in folders_in(folder)}
    images, masks = (next((inside[name] for name in names if name in inside), None) for names in (IMAGES, MASKS))
    return None if images is None or masks is None else (images, masks)


def _by_name(folder: Path) -> dict[str, Path]:
    return {each.stem: each for each in sorted(folder.iterdir()) if each.is_file() and is_image(each)}


def _bare(name: str) -> str:
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)
