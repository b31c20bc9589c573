"""Tables of labelled data: `.csv`, `.tsv`, `.jsonl`, and text files whose lines are `label<TAB>text`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.delimited import look_at_delimited
from regard.data.files import Lines, plain_name
from regard.data.labelled.columns import choose_named, choose_unnamed, is_header, is_unlike, names_tell, split_column
from regard.data.labelled.wanted import Wanted
from regard.data.names import split_named
from regard.data.report import shorten
from regard.data.tables import BREAKS, Cells, ColumnShape, JsonShape, TableShape, is_text, read_record
from regard.errors import BrokenData

_LINKS = "links"
_JSON_HINT = 'Write lines such as {"text": "I liked it.", "label": "pos"}'


def look_at_table(path: Path, wanted: Wanted) -> TableShape:
    """Find out which columns of a table hold what is wanted."""
    if plain_name(path).lower().endswith(".jsonl"):
        return _look_at_json(path, wanted)
    return _look_at_columns(path, wanted)


def header_of(path: Path) -> list[str]:
    """What the first line of a table may call its columns, without reading on."""
    first = next(iter(Lines(path)), "")
    if plain_name(path).lower().endswith(".jsonl"):
        return list(read_record(first) or ())
    cells = max((first.split(delimiter) for delimiter in "\t,;"), key=len)
    return [cell.strip().strip('"') for cell in cells]


def told_by(path: Path) -> tuple[str, str] | None:
    """The two sides that the names of a table's columns speak of, or nothing."""
    return names_tell(header_of(path))


def _look_at_columns(path: Path, wanted: Wanted) -> ColumnShape:
    sheet = look_at_delimited(path)
    head = sheet.head()
    if not head:
        raise BrokenData(f"{path}: expected rows; found only empty lines.")
    if is_header(sheet, head, wanted):
        sheet, rows = sheet.named(), head[1:]
        if not rows:
            raise BrokenData(f"{path}: expected rows below the header; found none.")
        names = [name or f"column {place + 1}" for place, name in enumerate(sheet.header)]
        cells: list[tuple[str, ...]] = list(zip(*rows, strict=True))
        split = split_column(names, cells)
        links = next((place for place, name in enumerate(names) if name.lower() == _LINKS), None)
        taken = {place for place in (split, links) if place is not None}
        text, label = choose_named(path, names, wanted, taken)
    else:
        cells = list(zip(*head, strict=True))
        named = (place for place, column in enumerate(cells) if all(map(split_named, column)))
        split, links = (next(named, None) if sheet.width > 2 else None), None
        text, label = choose_unnamed(sheet, head, wanted, split)
        if is_unlike(head, text, label):
            sheet = sheet.named()
    return ColumnShape(path, {wanted.source: text, wanted.target: label}, sheet, split, links)


@dataclass(frozen=True)
class LabelledJson(JsonShape):
    """Which keys of a .jsonl hold what; a label may be a number or a boolean, words and tags may be lists."""

    def _cells(self, line: str, keys: list[str]) -> Cells | None:
        record = read_record(line)
        if record is None:
            return None
        values = [_plain(record.get(key)) for key in keys]
        values += [_plain(record.get(key, "")) if key else "" for key in (self.split, self.links)]
        if any(value is None or not is_text(value) for value in values):
            return None
        source, target, split, links = (BREAKS.sub(" ", str(value)) for value in values)
        return Cells(source, target, split, links if self.links else None)

    @property
    def expected(self) -> str:
        return f"a JSON object with {' and '.join(repr(key) for key in self.texts.values())}"


def _plain(value: Any) -> str | None:
    """A value of JSON as the text of a cell; nothing where it is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        words = [_plain(each) for each in value if not isinstance(each, list)]
        whole = len(words) == len(value) and all(word and len(word.split()) == 1 for word in words)
        return " ".join(map(str, words)) if whole else None
    return None


def _look_at_json(path: Path, wanted: Wanted) -> LabelledJson:
    lines = Lines(path)
    first = next(iter(lines), None)
    if first is None:
        raise BrokenData(str(lines.findings()[0]))
    record = read_record(first)
    if not record:
        raise BrokenData(f"{path}:1: expected a JSON object a line; found {shorten(first)}", hint=_JSON_HINT)
    names = list(record)
    split = split_column(names, [[str(value)] for value in record.values()])
    links = next((place for place, name in enumerate(names) if name == _LINKS), None)
    taken = {place for place in (split, links) if place is not None}
    text, label = choose_named(path, names, wanted, taken)
    return LabelledJson(
        path,
        {wanted.source: names[text], wanted.target: names[label]},
        None if split is None else names[split],
        None if links is None else names[links],
    )
