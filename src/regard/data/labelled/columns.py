"""Which column of a table holds the texts and which the labels: told by their names, else by their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from regard.data.delimited import Delimited
from regard.data.labelled.images import IMAGES
from regard.data.labelled.wanted import BY_NAME, HINT, Wanted
from regard.data.names import split_named
from regard.data.report import shorten
from regard.errors import BrokenData, MissingData

# What such columns are usually called; the first of a line is taken even where others of it are there too.
_SOURCES = {
    "text": "text sentence review question content document comment tweet message body utterance phrase description "
    "headline query input source tokens words",
    "image": "file_name filename file image image_path path img",
}
_TARGETS = {
    "label": "label class category polarity sentiment topic intent emotion rating stars target output y",
    "tags": "tags ner_tags pos_tags labels tag ner pos upos label target",
    "mask": "mask mask_name mask_file segmentation annotation label",
    "text": "text caption captions description sentence title comment target output label",
}
# These say too little by themselves.
_VAGUE = frozenset(("target", "output", "y", "label", "labels", "pos", "tag", "source", "input"))
_SPLITS = frozenset(("split", "set", "partition"))
_CAPTIONED = frozenset(("file_name", "filename", "image", "image_path", "img")), frozenset(("text", "caption"))
_ENOUGH = 20  # rows from which on a column of labels must repeat itself


def sources_of(wanted: Wanted) -> list[str]:
    """What the column of texts, words or images may be called."""
    return _SOURCES[wanted.source].split()


def targets_of(wanted: Wanted) -> list[str]:
    """What the column of labels or tags may be called."""
    return _TARGETS[wanted.target].split()


def names_tell(names: Sequence[str]) -> tuple[str, str] | None:
    """The two sides that the names of columns speak of plainly (`text` and `label`), or nothing."""
    plain = {name.strip().lower() for name in names}
    if all(plain & known for known in _CAPTIONED) and not plain & set(_TARGETS["label"].split()):
        return "image", "text"
    for wanted in (Wanted("image", "label"), Wanted("text", "tags"), Wanted("text", "label")):
        targets = set(targets_of(wanted)) - (_VAGUE - {"label"} if wanted.target == "label" else _VAGUE)
        sources = set(sources_of(wanted)) - _VAGUE
        if wanted.source == "image" and plain & set(_SOURCES["text"].split()):
            continue
        if plain & targets and plain & sources:
            return wanted.source, wanted.target
    return None


def is_header(sheet: Delimited, head: list[list[str]], wanted: Wanted) -> bool:
    """Whether the first row names the columns: by words that such columns have, which do not come again below."""
    first = [cell.strip() for cell in head[0]]
    plain = [cell.lower() for cell in first]
    asked = {name for name in (wanted.columns.text, wanted.columns.label) if name and not name.isdecimal()}
    if asked & set(first):
        return True
    found = [any(name in known for name in plain) for known in (sources_of(wanted), targets_of(wanted))]
    if all(found):
        return True
    below = list(zip(*head[1:], strict=True)) or [()] * sheet.width
    fresh = all(cell and cell not in cells for cell, cells in zip(first, below, strict=True))
    return any(found) and fresh and all(len(cell.split()) <= 3 for cell in first)


def is_unlike(head: list[list[str]], text: int, label: int) -> bool:
    """Whether the first row is a header in words we do not know: its label stands alone where all others come again."""
    labels = Counter(row[label] for row in head)
    first = labels.pop(head[0][label])
    return first == 1 and len(labels) > 1 and min(labels.values()) > 1 and len(head[0][text].split()) <= 3


def split_column(names: Sequence[str], cells: Sequence[Sequence[str]]) -> int | None:
    """The column that names the split of every row: by its name and by what it holds."""
    for place, name in enumerate(names):
        if name.strip().lower() in _SPLITS and all(split_named(cell) for cell in cells[place]):
            return place
    return None


def choose_named(path: Path, names: Sequence[str], wanted: Wanted, taken: set[int]) -> tuple[int, int]:
    """The columns of texts and of labels among those that have names; `taken` are used otherwise."""
    asked = wanted.columns
    text = _asked(path, names, asked.text) if asked.text else _known(path, names, sources_of(wanted), "texts", taken)
    used = taken | ({text} if text is not None else set())
    label = _asked(path, names, asked.label) if asked.label else _known(path, names, targets_of(wanted), "labels", used)
    rest = [place for place in range(len(names)) if place not in taken | {text, label}]
    if text is None and label is not None and len(rest) == 1:
        text = rest[0]
    elif label is None and text is not None and len(rest) == 1:
        label = rest[0]
    if text is None or label is None:
        lacking = [
            what for place, what in ((text, wanted.source), (label, wanted.target.removesuffix("s"))) if place is None
        ]
        raise MissingData(
            f"{path}: expected columns such as {_called(wanted.source)} and {wanted.target}; found "
            f"{', '.join(names)}, none of them called like a {' or a '.join(lacking)}.",
            hint=HINT,
        )
    if text == label:
        raise BrokenData(f"{path}: the column {names[text]} was asked for twice.", hint=HINT)
    return text, label


def _called(source: str) -> str:
    return "file_name" if source == "image" else source


def _asked(path: Path, names: Sequence[str], asked: str) -> int:
    """The column that was asked for, by its name or its number."""
    plain = [name.lower() for name in names]
    if asked in names:
        return list(names).index(asked)
    if plain.count(asked.lower()) == 1:
        return plain.index(asked.lower())
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return int(asked) - 1
    raise MissingData(f"{path}: expected a column called '{asked}'; found {', '.join(names)}.", hint=HINT)


def _known(path: Path, names: Sequence[str], known: Sequence[str], what: str, taken: set[int]) -> int | None:
    """The only column that has one of the usual names, or the one with the most usual of all."""
    found = [place for place, name in enumerate(names) if name.lower() in known and place not in taken]
    best = [place for place in found if names[place].lower() == known[0]]
    if len(best) == 1 or len(found) == 1:
        return (best or found)[0]
    if not found:
        return None
    told = ", ".join(names[place] for place in found)
    raise BrokenData(f"{path}: expected one column of {what}; found {len(found)}: {told}.", hint=HINT)


def choose_unnamed(sheet: Delimited, head: list[list[str]], wanted: Wanted, split: int | None) -> tuple[int, int]:
    """The columns of texts and of labels in a table without a header: exactly two must be left."""
    path, asked = sheet.path, wanted.columns
    names = [f"column {place + 1}" for place in range(sheet.width)]
    if asked != BY_NAME:
        return choose_named(path, names, wanted, set() if split is None else {split})
    places = [place for place in range(sheet.width) if place != split]
    if len(places) != 2:
        shown = " | ".join(shorten(head[0][place], 30) for place in places)
        found = f"{len(places)} columns {sheet.parted}: {shown}" if len(places) > 1 else f"one column: {shown}"
        raise MissingData(f"{path}:1: expected a column of texts and one of labels; found {found}.", hint=HINT)
    columns = list(zip(*head, strict=True))
    one, other = places
    if wanted.target == "tags":
        return one, other
    if wanted.source == "image":
        turned = not _are_images(columns[one]) and _are_images(columns[other])
        return (other, one) if turned else (one, other)
    label = _label_of_two(columns[one], columns[other])
    if label is None:
        raise BrokenData(
            f"{path}: expected a column of labels, with few different values; both columns have many: "
            + " | ".join(shorten(head[0][place], 30) for place in places),
            hint=HINT,
        )
    return (other, one) if label == 0 else (one, other)


def _label_of_two(one: Sequence[str], other: Sequence[str]) -> int | None:
    """Which of two columns holds labels: the one with fewer values; of few rows, the one with fewer letters."""
    if len(one) >= _ENOUGH:
        sizes = len(set(one)), len(set(other))
        if 2 * min(sizes) > len(one):
            return None
    else:
        sizes = sum(map(len, one)), sum(map(len, other))
    return None if sizes[0] == sizes[1] else int(sizes[1] < sizes[0])


def _are_images(cells: Sequence[str]) -> bool:
    return all(cell.strip().lower().endswith(IMAGES) for cell in cells)
