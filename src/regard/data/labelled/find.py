"""Finding labelled data in a folder: tables, a folder or a file a class, images, captions, files of words with tags.

Tables and files of words are named by split (`train.csv`, `dev.tsv.gz`, `test.jsonl`); folders and files a class may
stand under `train/`, `val/` and `test/`. Where no split is named, validation and test are cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import Lines, plain_name
from regard.data.held_out import USUAL, HeldOut, cut_note
from regard.data.labelled.classes import class_readers, folders_in, has_class_folders, visible
from regard.data.labelled.conll import ENDINGS, Words, is_words, look_at_words
from regard.data.labelled.files import TextFiles, stem_and_ending
from regard.data.labelled.flickr import find_flickr
from regard.data.labelled.formula_lists import formula_readers
from regard.data.labelled.masked import is_unsplit, mask_readers
from regard.data.labelled.readers import Labelled
from regard.data.labelled.tables import look_at_table, told_by
from regard.data.labelled.wanted import Wanted
from regard.data.names import by_split, split_named, split_of_stem
from regard.data.plan import Plan
from regard.data.report import Finding, error
from regard.data.rows import Reader
from regard.errors import MissingData, UsageError

TABLES = ("csv", "tsv", "jsonl")
_LINES = ("txt", "data", "dat")  # `label<TAB>text`, where there is a tab
METADATA = ("metadata.csv", "metadata.jsonl")
_EXPECTED = {
    ("text", "label"): "a table (.csv, .tsv, .jsonl) with text and label, a folder a class of .txt files, or a file a "
    "class (pos.txt, neg.txt)",
    (
        "image",
        "label",
    ): "a folder a class of images (.jpg, .png, .webp, .gif), or metadata.jsonl with file_name and label",
    ("image", "text"): "metadata.jsonl (or .csv) with file_name and text beside the images, Flickr8k's own files "
    "(Flickr8k.token.txt or captions.txt), or im2latex's lists",
    (
        "image",
        "mask",
    ): "folders images/ and masks/ with the same names in both (or train/images, train/masks, val/...), "
    "or metadata.jsonl with file_name and mask",
    ("text", "tags"): "files of a word and its tag a line (train.conll), or a table (.csv, .tsv, .jsonl) with text and "
    "tags",
}


@dataclass(frozen=True)
class Found:
    """What makes up a corpus. `whole`: no split is named anywhere."""

    readers: Sequence[Labelled]
    whole: bool
    notes: tuple[str, ...] = ()
    missing: tuple[Finding, ...] = ()


def find_labelled(path: Path, wanted: Wanted, held_out: HeldOut = USUAL) -> Plan:
    """Make a plan for a folder or a file of labelled data."""
    found = _flickr(path, wanted) or _masks(path, wanted) or _formulas(path, wanted) or _tables(path, wanted)
    found = found or _split_folders(path, wanted) or _unsplit(path, wanted)
    if found is None:
        seen = sorted(entry.name for entry in path.iterdir())[:8] if path.is_dir() else [path.name]
        raise MissingData(
            f"{path}: expected {wanted.source} -> {wanted.target}: {_EXPECTED[wanted.source, wanted.target]}; "
            f"found {', '.join(seen) or 'no files at all'}.",
            hint="`regard data list` shows corpora that are ready to use.",
        )
    return finish_plan(path, wanted, found, held_out)


def _flickr(path: Path, wanted: Wanted) -> Found | None:
    """Images with captions as Flickr8k comes."""
    known = find_flickr(path) if (wanted.source, wanted.target) == ("image", "text") else None
    if known is None:
        return None
    reader, images = known
    return Found([Labelled(reader, wanted, path, images)], reader.split is not None, (reader.note,))


def _masks(path: Path, wanted: Wanted) -> Found | None:
    """Images and masks in folders called so."""
    readers = mask_readers(path) if wanted.target == "mask" else []
    if not readers:
        return None
    told = " and ".join(f"{folder.relative_to(path)}/" for folder in readers[0].folders)
    return Found([Labelled(each, wanted, path) for each in readers], is_unsplit(readers, path), (f"{told}, by name",))


def files_of(path: Path, wanted: Wanted) -> list[Path]:
    """The tables and files of words in a folder, or the file itself if it is one."""
    paths = [path] if path.is_file() else [each for each in sorted(path.iterdir()) if visible(each) and each.is_file()]
    return [each for each in paths if _is_table(each, wanted, alone=path.is_file())]


def _is_table(path: Path, wanted: Wanted, *, alone: bool) -> bool:
    stem, ending = stem_and_ending(path)
    kind = ending.lower()
    if kind in TABLES or (wanted.target == "tags" and kind in ENDINGS):
        return True
    if kind not in _LINES or not (alone or split_of_stem(stem)):
        return False
    return is_words(path) if wanted.target == "tags" else _has_tabs(path)


def _has_tabs(path: Path) -> bool:
    return "\t" in next((line for line in Lines(path) if line.strip()), "")


def _tables(path: Path, wanted: Wanted) -> Found | None:
    """Tables named by split; or the only one there is."""
    files = files_of(path, wanted)
    if path.is_dir() and wanted.target != "tags":
        sides = (wanted.source, wanted.target)
        told = [each for each in files if plain_name(each) in METADATA or told_by(each) == sides]
        if (
            wanted.target == "label"
            and not told
            and any(has_class_folders(folder, wanted) for folder in (path, *_named_folders(path).values()))
        ):
            return None  # the folders are the classes, whatever else lies there
        files = told or files if wanted.source == "image" else files
    if not files:
        return None
    splits = {each: split_of_stem(stem_and_ending(each)[0]) for each in files}
    used = [each for each in files if splits[each]] or files
    read = [_read(each, splits[each] or "train", wanted, path) for each in used]
    whole = used is files and not any(splits.values()) and any(reader.split is not None for reader, _ in read)
    if whole and len(read) > 1:
        raise UsageError(
            f"{path}: several corpora lie there, and no file is called train: {', '.join(each.name for each in used)}.",
            hint=f"Choose one by its file, as in --data {used[0]}",
        )
    readers = sorted((reader for reader, _ in read), key=lambda reader: by_split(reader.split or "train"))
    aside = [each.name for each in files if each not in used]
    notes = [*_alike(read), *([f"left aside: {', '.join(aside[:4])}"] if aside else [])]
    return Found(readers, whole, tuple(notes), tuple(_repeated(path, readers)))


def _formulas(path: Path, wanted: Wanted) -> Found | None:
    """im2latex's own lists."""
    if (wanted.source, wanted.target) != ("image", "text") or not path.is_dir():
        return None
    readers = [Labelled(each, wanted, path) for each in formula_readers(path)]
    return Found(readers, False, (f"{readers[0].paths[0].name}: formulas, by their numbers",)) if readers else None


def _alike(read: Sequence[tuple[Labelled, str]]) -> Iterator[str]:
    """How files are read, those that are alike together."""
    alike: dict[str, list[str]] = {}
    for reader, note in read:
        alike.setdefault(note, []).append(reader.paths[0].name)
    return (f"{', '.join(files)}: {note}" for note, files in alike.items() if note)


def _read(file: Path, split: str, wanted: Wanted, root: Path) -> tuple[Labelled, str]:
    """A reader of one table or file of words, and what to say about how it is read."""
    folder = root if root.is_dir() else root.parent
    ending = stem_and_ending(file)[1].lower()
    inner: Reader
    if wanted.target == "tags" and (ending in ENDINGS or (ending not in ("csv", "jsonl") and is_words(file))):
        shape = look_at_words(file, wanted)
        inner, note = Words(shape, split), shape.note
    else:
        table = look_at_table(file, wanted)
        inner, note = table.reader(wanted.source, wanted.target, split), table.note
    return Labelled(inner, wanted, folder, file.parent), note


def _repeated(path: Path, readers: Sequence[Reader]) -> Iterator[Finding]:
    """Files that both claim to be the same split."""
    claims: dict[str, list[str]] = {}
    for reader in readers:
        if reader.split is not None:
            claims.setdefault(reader.split, []).append(reader.paths[0].name)
    for split, files in claims.items():
        if len(files) > 1:
            message = f"expected one file for {split}; found {', '.join(files)}."
            yield error("two-files", message, path, advice="Keep one of them in the folder.")


def _named_folders(path: Path) -> dict[str, Path]:
    """The folders called train, val, test ..., by split."""
    return {split: folder for folder in folders_in(path) if (split := split_named(folder.name))}


def _split_folders(path: Path, wanted: Wanted) -> Found | None:
    """Classes, or one table, under folders named by split."""
    readers: list[Labelled] = []
    read: list[tuple[Labelled, str]] = []
    for split, folder in sorted(_named_folders(path).items(), key=lambda each: by_split(each[0])):
        tables = [each for each in files_of(folder, wanted) if wanted.source == "text" or plain_name(each) in METADATA]
        if len(tables) == 1:
            read.append(_read(tables[0], split, wanted, path))
            readers.append(read[-1][0])
            continue
        here = class_readers(folder, split, wanted, path)
        readers += [Labelled(reader, wanted, path) for reader in here if reader.split == split]
    return Found(readers, False, (*_alike(read), _told(readers))) if readers else None


def _unsplit(path: Path, wanted: Wanted) -> Found | None:
    """Classes that lie there without a split, or with it in the names of files (`train.pos`)."""
    here = class_readers(path, None, wanted, path)
    readers = [Labelled(reader, wanted, path if path.is_dir() else path.parent) for reader in here]
    if not readers:
        return None
    first = here[0]
    by_lines = isinstance(first, TextFiles) and not first.whole  # else a file is one text, whatever it is called
    named = by_lines and any(split_of_stem(stem_and_ending(each)[0]) for each in first.paths)
    return Found(readers, not named, (_told(readers),))


def _told(readers: Sequence[Labelled]) -> str:
    inner = readers[0].inner
    files = getattr(inner, "files", ())
    if not files:
        return ""
    labels = sorted({label for _, label in files})
    way = "a line a text, a file a class" if getattr(inner, "whole", True) is False else "a folder a class"
    return f"{way}: {', '.join(labels[:8])}{' ...' if len(labels) > 8 else ''}"


def finish_plan(path: Path, wanted: Wanted, found: Found, held_out: HeldOut) -> Plan:
    """The plan, with the splits that must be cut off from training and what there is to say about it all."""
    there: set[str | None] = set()
    for reader in found.readers:
        there |= set(reader.splits) if reader.split is None else {reader.split}
    usual: tuple[str, ...] = ()
    if found.whole:
        usual = ("val", "test")
    elif "train" in there and "val" not in there and not found.missing:
        usual = ("val",)
    cut = held_out.cut(usual, there, str(path))
    notes = [note for note in found.notes if note] + (
        [cut_note(cut, "class" if wanted.apart else "source line")] if cut else []
    )
    target = "class" if wanted.apart else wanted.target
    return Plan(str(path), wanted.source, target, tuple(found.readers), cut, tuple(notes), found.missing)
