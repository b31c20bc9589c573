"""Classes told by folders and files: `pos/1.txt`, `cat/7.jpg`, `pos.txt`, `rt-polarity.pos`, `train.pos`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regard.data.labelled.files import Classes, ImageFiles, TextFiles, stem_and_ending
from regard.data.labelled.images import is_image
from regard.data.labelled.wanted import Wanted
from regard.data.names import NOT_TEXT, by_split, split_named, split_of_stem
from regard.data.rows import Reader

_UNLABELLED = frozenset(
    ("unsup", "unlabeled", "unlabelled")
)  # folders of texts that have no class, beside those that do
_REMARKS = frozenset(("readme", "license", "licence", "notes", "copying", "citation", "authors"))


def visible(path: Path) -> bool:
    """Whether a file or folder is no hidden one of the system's."""
    return not path.name.startswith((".", "__"))


def folders_in(path: Path) -> list[Path]:
    """The folders of a folder, by name."""
    return [each for each in sorted(path.iterdir()) if each.is_dir() and visible(each)] if path.is_dir() else []


def class_readers(path: Path, split: str | None, wanted: Wanted, root: Path) -> list[Reader]:
    """Readers of what lies in a folder with a folder or a file a class; nothing where there is no such thing."""
    if wanted.target != "label":
        return []
    if files := list(_class_folders(path, wanted)):
        folder_split = split or "train"
        if wanted.source == "image":
            return [ImageFiles(folder_split, root, files)]
        return [TextFiles(folder_split, files, whole=True)]
    return list(_class_files(path, split)) if wanted.source == "text" else []


def has_class_folders(path: Path, wanted: Wanted) -> bool:
    """Whether there is a folder with texts (or images) that could be a class."""
    return next(_class_folders(path, wanted), None) is not None


def _class_folders(path: Path, wanted: Wanted) -> Iterator[tuple[Path, str]]:
    fits = is_image if wanted.source == "image" else _is_text
    for folder in folders_in(path):
        if split_named(folder.name) in ("train", "val", "test") or folder.name.lower() in _UNLABELLED:
            continue
        yield from ((file, folder.name) for file in sorted(folder.rglob("*")) if file.is_file() and fits(file))


def _is_text(path: Path) -> bool:
    return visible(path) and stem_and_ending(path)[1].lower() == "txt"


def _class_files(path: Path, split: str | None) -> Iterator[Reader]:
    """A line a text: `pos.txt` is called by its class; `rt-polarity.pos` has it as its ending."""
    if path.is_file():
        stem = stem_and_ending(path)[0]
        files = [each for each in _texts(path.parent) if stem_and_ending(each)[0] == stem]
    else:
        files = _texts(path)
    plain = [each for each in files if stem_and_ending(each)[1].lower() == "txt"]
    plain = [each for each in plain if not split_of_stem(stem_and_ending(each)[0])]
    if len(plain) > 1:
        yield TextFiles(split or "train", [(each, stem_and_ending(each)[0]) for each in plain], whole=False)
        return
    groups: dict[str, list[tuple[Path, str]]] = {}
    for each in files:
        stem, ending = stem_and_ending(each)
        if ending and not NOT_TEXT.fullmatch(ending.lower()):
            groups.setdefault(stem, []).append((each, ending))
    classes: dict[str, Classes] = {stem: group for stem, group in groups.items() if len(group) > 1}
    named = {stem: group for stem, group in classes.items() if split_of_stem(stem)}
    if not named and len(classes) == 1:
        named = classes
    splits = {split or split_of_stem(stem) or "train": group for stem, group in named.items()}
    for name in sorted(splits, key=by_split):
        yield TextFiles(name, splits[name], whole=False)


def _texts(folder: Path) -> list[Path]:
    found = (each for each in sorted(folder.iterdir()) if each.is_file() and visible(each))
    return [each for each in found if stem_and_ending(each)[0].lower() not in _REMARKS]
