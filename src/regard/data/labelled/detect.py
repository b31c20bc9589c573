"""What a corpus is for, where nobody said: labelled data shows in its columns, its folders or its files' endings.

Plain text is a single text file, or files of it that are named by split.
"""

from __future__ import annotations

from pathlib import Path

from regard.data.builtin import BUILTIN
from regard.data.labelled.classes import class_readers, folders_in
from regard.data.labelled.conll import ENDINGS
from regard.data.labelled.files import stem_and_ending
from regard.data.labelled.find import TABLES, files_of
from regard.data.labelled.flickr import find_flickr
from regard.data.labelled.formula_lists import has_formula_lists
from regard.data.labelled.masked import mask_readers
from regard.data.labelled.tables import told_by
from regard.data.labelled.wanted import Wanted, is_labelled
from regard.data.names import read_name, split_named, split_of_stem
from regard.data.plain.find import is_plain_file
from regard.data.plain.wanted import NOTHING, is_plain
from regard.errors import DataError, UsageError

TASKS = ("translate", "classify", "tag", "caption", "latex", "segment", "generate", "episodes")
_PLAIN = (NOTHING, "text")
_LABELS = {"image": Wanted("image", "label"), "text": Wanted("text", "label")}


def sides_of(data: str | Path) -> tuple[str, str] | None:
    """What is read and what is wanted where data is plainly labelled, or plain text; nothing where it is neither."""
    if isinstance(data, str) and data in BUILTIN:
        known = BUILTIN[data].languages
        return next((sides for sides in known if is_labelled(*sides) or is_plain(*sides)), None)
    path = Path(data).expanduser()
    if not path.exists():
        return None
    try:
        return _told_by_captions(path) or _told_by_files(path) or _told_by_folders(path) or _told_by_texts(path)
    except OSError:
        return None  # whoever opens it says why


def sides_for(task: str | None, data: str | Path) -> tuple[str, str] | None:
    """The same for a task that was named: `generate` is of plain text, all others but `translate` of labelled data."""
    if task is None:
        return sides_of(data)
    if task not in TASKS:
        raise UsageError(f"no task is called '{task}'; there are {', '.join(TASKS)}.", hint="Leave --task out.")
    if task == "generate":
        return _PLAIN
    if task == "episodes":
        return "image", "class"
    if task in ("tag", "caption", "latex"):
        return ("text", "tags") if task == "tag" else ("image", "text")
    if task == "segment":
        return "image", "mask"
    if task == "classify":
        return ("image", "label") if (sides_of(data) or ("text",))[0] == "image" else ("text", "label")
    return None


def _told_by_captions(path: Path) -> tuple[str, str] | None:
    """Flickr8k's own files; what is wrong with them is said by whoever opens them."""
    try:
        return ("image", "text") if find_flickr(path) else None
    except DataError:
        return "image", "text"


def _told_by_files(path: Path) -> tuple[str, str] | None:
    if path.is_dir() and has_formula_lists(path):
        return "image", "text"
    for file in files_of(path, Wanted("text", "tags")):
        ending = stem_and_ending(file)[1].lower()
        if ending in ENDINGS:
            return "text", "tags"
        if ending in TABLES and (told := told_by(file)):
            return told
    return None


def _told_by_folders(path: Path) -> tuple[str, str] | None:
    """A folder a class, or a file a class, unless the files are two languages of the same lines."""
    if mask_readers(path):
        return "image", "mask"
    folders = [path, *(folder for folder in folders_in(path) if split_named(folder.name))]
    for sides in (("image", "text"), ("image", "label")):
        if any(_told_by_files(folder) == sides for folder in folders[1:]):
            return sides
    if any(class_readers(folder, "train", _LABELS["image"], path) for folder in folders if folder.is_dir()):
        return "image", "label"
    pairs = path.is_file() or any(each.is_file() and read_name(each) for each in path.iterdir())
    if not pairs and any(class_readers(folder, "train", _LABELS["text"], path) for folder in folders):
        return "text", "label"
    return None


def _told_by_texts(path: Path) -> tuple[str, str] | None:
    """A text file, or a folder with one, or with some that are named by split; nothing that could be two languages."""
    if path.is_file():
        return _PLAIN if is_plain_file(path) else None
    files = [each for each in path.iterdir() if each.is_file()]
    named = [each for each in files if is_plain_file(each) and split_of_stem(stem_and_ending(each)[0])]
    texts = named or [each for each in files if is_plain_file(each)]
    alone = bool(named) or len(texts) == len(files) == 1
    return _PLAIN if alone and not any(read_name(each) for each in files if each not in texts) else None
