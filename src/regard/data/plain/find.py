"""Finding plain text: a file, or a folder of files, named by split or not.

train.txt val.txt test.txt     splits by name (also train.txt.gz, ptb.train.txt, wiki.valid.tokens)
book.txt                       one file: validation and test are cut off from it
letters/*.txt                  a document a file
train/*.txt test/*.txt         documents in folders named by split
train.en val.en                one language of a corpus of pairs, where it is asked for

A file with empty lines in it is one document, as it stands; one without holds a text a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.files import plain_name
from regard.data.held_out import USUAL, HeldOut, cut_note
from regard.data.names import by_split, split_named, split_of_stem
from regard.data.plain.files import STRETCH, TextFile, has_empty_lines
from regard.data.plain.wanted import DOCUMENTS, LINES
from regard.data.plan import Plan
from regard.errors import MissingData

ENDINGS = ("txt", "text", "tokens", "md")
_REMARKS = ("readme", "license", "licence", "notes", "copying", "citation", "authors")
_MANY = 20  # documents from which on they are held out whole


@dataclass(frozen=True)
class Found:
    """A file, the split that its name says, and whether it is one of many documents."""

    path: Path
    split: str | None
    one_of_many: bool = False


def find_plain(path: Path, sides: tuple[str, str], asked: str | None = None, held_out: HeldOut = USUAL) -> Plan:
    """Make a plan for plain text. `asked` is "lines", "documents", or a language, by the ending of its files."""
    files = [Found(path, None)] if path.is_file() else _in_folder(path, asked)
    if not files:
        seen = sorted(entry.name for entry in path.iterdir())[:8]
        raise MissingData(
            f"{path}: expected plain text: a .txt file, train.txt val.txt test.txt, or a folder of documents "
            f"(.{', .'.join(ENDINGS)}, also .gz); found {', '.join(seen) or 'no files at all'}.",
            hint="Of a corpus of pairs, name the language: --to en",
        )
    used = [each for each in files if each.split] or files
    named = bool(used[0].split)
    many = len(used) >= _MANY
    readers = [_reader(each, sides, asked, whole=many) for each in sorted(used, key=_order)]
    splits = {reader.split for reader in readers}
    usual = ("val",) if named and "val" not in splits else () if named else ("val", "test")
    cut = held_out.cut(usual if "train" in splits else (), splits, str(path))
    notes = _notes(readers, files, used)
    if cut:
        notes.append(cut_note(cut).replace("a hash of the source line", _cut_by(readers)))
    return Plan(str(path), *sides, tuple(readers), cut, tuple(notes))


def is_plain_file(path: Path) -> bool:
    """Whether the name of a file says that it holds plain text."""
    stem, _, ending = plain_name(path).rpartition(".")
    return ending.lower() in ENDINGS and bool(stem) and stem.lower() not in _REMARKS


def _in_folder(path: Path, asked: str | None) -> list[Found]:
    """Files named by split, documents in folders named by split, or documents."""
    here = [each for each in sorted(path.iterdir()) if not each.name.startswith(".")]
    files = [each for each in here if each.is_file() and is_plain_file(each)]
    if asked not in (None, LINES, DOCUMENTS):
        files = [each for each in here if each.is_file() and plain_name(each).endswith(f".{asked}")]
    found = [Found(each, split_of_stem(plain_name(each).rpartition(".")[0])) for each in files]
    if found:
        named = any(each.split for each in found)
        return found if named else [Found(each.path, None, one_of_many=len(found) > 1) for each in found]
    return [
        Found(each, split, one_of_many=True)
        for folder in here
        if folder.is_dir() and (split := split_named(folder.name))
        for each in sorted(folder.rglob("*"))
        if each.is_file() and is_plain_file(each)
    ]


def _reader(found: Found, sides: tuple[str, str], asked: str | None, *, whole: bool) -> TextFile:
    document = asked == DOCUMENTS or (asked is None and (found.one_of_many or has_empty_lines(found.path)))
    return TextFile(found.path, found.split or "train", sides, document=document, whole=whole)


def _order(found: Found) -> tuple[tuple[int, str], str]:
    return by_split(found.split or "train"), str(found.path)


def _cut_by(readers: Sequence[TextFile]) -> str:
    """What is held out together."""
    if not any(each.document for each in readers):
        return "a hash of the line"
    return "a hash of the file" if readers[0].whole else f"a hash of each stretch of {STRETCH} lines"


def _notes(readers: Sequence[TextFile], files: Sequence[Found], used: Sequence[Found]) -> list[str]:
    """How the files are read, and which are not."""
    notes = []
    for document, told in ((False, "a text a line"), (True, "one document, line breaks and all")):
        named = [each.path.name for each in readers if each.document == document]
        if named:
            more = f" and {len(named) - 4} more" if len(named) > 4 else ""
            notes.append(f"{', '.join(named[:4])}{more}: {told}{'' if len(named) == 1 else ', each'}")
    aside = [each.path.name for each in files if each not in used]
    return [*notes, f"left aside: {', '.join(aside[:4])}"] if aside else notes
