"""Finding a corpus in a folder: which files hold which split in which language, and how to read them.

Files of lines (`train.de`, `train.en`) come first; where there are none, the tables (`.tsv`, `.csv`,
`.jsonl`, `.tmx`) are the corpus. What lies there and is not used is said in the notes of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.held_out import USUAL, HeldOut, cut_note
from regard.data.languages import ANONYMOUS, pick
from regard.data.names import TABLES, Name, by_split, read_name
from regard.data.plan import Plan
from regard.data.report import Finding, error, fault
from regard.data.rows import Parallel, Reader, Shape
from regard.data.tables import look_at_columns, look_at_jsonl
from regard.data.tmx import look_at_tmx
from regard.errors import BrokenData, MissingData, UsageError

_EXPECTED = "train.de train.en val.de val.en test.de test.en (also .gz), or .tsv, .csv, .jsonl or .tmx files"
_Look = Callable[[Path, tuple[str, str] | None, tuple[str, ...]], Shape]
_LOOKS: dict[str, _Look] = {
    "tsv": look_at_columns,
    "csv": look_at_columns,
    "jsonl": look_at_jsonl,
    "tmx": look_at_tmx,
}
_KEEP_ONE = "Keep one of them in the folder."


@dataclass(frozen=True)
class Choice:
    """The two languages as the files call them, as the user does, and what to say about the choice."""

    source: str
    target: str
    asked: tuple[str, str]
    note: str = ""


@dataclass(frozen=True)
class Found:
    """What makes up a corpus, and what there is to say about it. `whole`: no split is named anywhere."""

    way: Choice
    readers: list[Reader]
    whole: bool
    missing: list[Finding]
    aside: list[str]
    notes: tuple[str, ...] = ()


def find(path: Path, source: str | None = None, target: str | None = None, held_out: HeldOut = USUAL) -> Plan:
    """Make a plan for a folder or a single file of pairs; `held_out` says what is cut off where splits are missing."""
    asked = tuple(name for name in (source, target) if name)
    names = list(_names(path, asked))
    if any(name.kind == "lines" for name in names):
        return _finish(path, _find_lines(path, names, source, target), held_out)
    if tables := [name for name in names if name.kind in TABLES]:
        return _finish(path, _find_tables(path, tables, source, target), held_out)
    seen = sorted(entry.name for entry in path.iterdir())[:8] if path.is_dir() else [path.name]
    raise MissingData(
        f"{path}: expected a corpus: {_EXPECTED}; found {', '.join(seen) or 'no files at all'}.",
        hint="Name the files by split and language. `regard data list` shows corpora that are ready to use.",
    )


def _names(path: Path, asked: tuple[str, ...]) -> Iterator[Name]:
    """The files of a folder; for a single file of lines, those with the same stem."""
    if path.is_dir():
        yield from _understood(path, asked)
        return
    name = read_name(path, asked)
    if name is not None and name.kind == "lines":
        yield from (other for other in _understood(path.parent, asked) if other.stem == name.stem)
    elif name is not None:
        yield name


def _understood(folder: Path, asked: tuple[str, ...]) -> Iterator[Name]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and (name := read_name(path, asked)):
            yield name


def _find_lines(path: Path, names: list[Name], source: str | None, target: str | None) -> Found:
    lines = [name for name in names if name.kind == "lines"]
    used = [name for name in lines if name.split] or lines
    stems = sorted({name.stem for name in used})
    if not used[0].split and len(stems) > 1:
        raise _several(path, stems, used[0].path)
    way = choose(path, list(dict.fromkeys(str(name.language) for name in used)), source, target)
    missing: list[Finding] = []
    readers: list[Reader] = []
    aside = [name.path.name for name in names if name not in used and name.kind != "links"]
    for split in sorted({name.split or "train" for name in used}, key=by_split):
        here = [name for name in used if (name.split or "train") == split]
        if _is_for_others(split, here, way):
            aside += [name.path.name for name in here]
            continue
        first, second = (_side(path, split, language, here, missing) for language in (way.source, way.target))
        if first and second:
            readers.append(_parallel(split, first, second, names, way))
    return Found(way, readers, used[0].split is None, missing, aside)


def _is_for_others(split: str, names: list[Name], way: Choice) -> bool:
    """Whether a test is there in two languages or more, only not in both of ours."""
    languages = {name.language for name in names}
    is_test = split not in ("train", "val")
    return is_test and len(languages) > 1 and not {way.source, way.target} <= languages


def _side(path: Path, split: str, language: str, names: list[Name], missing: list[Finding]) -> Name | None:
    """The file of one side of a split; a fault where there is none, or more than one."""
    found = [name for name in names if name.language == language]
    if len(found) == 1:
        return found[0]
    others = ", ".join(name.path.name for name in (found or names))
    if found:
        message = f"expected one file for {language} in {split}; found {others}."
        missing.append(error("two-files", message, path, advice=_KEEP_ONE))
    else:
        message = f"expected {names[0].stem}.{language} (or .gz) beside {others}; there is no such file."
        advice = f"Add it, or take {others} away if {split} is not wanted."
        missing.append(error("missing-file", message, path, advice=advice))
    return None


def _parallel(split: str, source: Name, target: Name, names: list[Name], way: Choice) -> Parallel:
    """The two files of a split, with the file of links that belongs to them if there is one."""
    for name in names:
        if name.kind != "links" or name.stem != source.stem:
            continue
        if name.pair in (None, (way.source, way.target)):
            return Parallel(split, source.path, target.path, name.path)
        if name.pair == (way.target, way.source):
            return Parallel(split, source.path, target.path, name.path, turned=True)
    return Parallel(split, source.path, target.path)


def _find_tables(path: Path, names: list[Name], source: str | None, target: str | None) -> Found:
    asked = tuple(name for name in (source, target) if name)
    fitting = [name for name in names if not _other_pair(name, source, target)]
    if not fitting:
        pairs = ", ".join(sorted({"-".join(name.pair) for name in names if name.pair}))
        raise MissingData(f"{path}: expected files for {' and '.join(asked)}; found the pairs {pairs}.")
    used = [name for name in fitting if name.split] or fitting
    aside = [name.path.name for name in fitting if name not in used]
    tables, broken = _look_at_all(path, used, asked)
    if len({frozenset(shape.languages) for _, shape in tables}) > 1:
        pairs = ", ".join(sorted({"-".join(shape.languages) for _, shape in tables}))
        raise UsageError(f"{path}: several pairs of languages lie there: {pairs}.", hint=_CHOOSE)
    way = choose(path, tables[0][1].languages, source, target)
    whole = [name for name, shape in tables if name.split is None and not shape.has_splits]
    parted = [(name, shape) for name, shape in tables if name not in whole]
    if not parted and len(whole) > 1:
        raise _several(path, [name.path.name for name in whole], whole[0].path)
    chosen = sorted(parted or tables, key=lambda table: by_split(table[0].split or "train"))
    readers = [shape.reader(way.source, way.target, name.split or "train") for name, shape in chosen]
    aside += [name.path.name for name in whole] if parted else []
    return Found(way, readers, not parted, [*broken, *_repeated(path, readers)], aside, tuple(_told(chosen)))


def _told(tables: list[tuple[Name, Shape]]) -> Iterator[str]:
    """How the tables were read, those that are alike together."""
    alike: dict[str, list[str]] = {}
    for name, shape in tables:
        alike.setdefault(shape.note, []).append(name.path.name)
    return (f"{', '.join(files)}: {note}" for note, files in alike.items() if note)


_CHOOSE = "Choose with --from and --to."


def _look_at_all(
    path: Path, names: list[Name], asked: tuple[str, ...]
) -> tuple[list[tuple[Name, Shape]], list[Finding]]:
    """The shapes of the tables, and what is wrong with those that have none."""
    tables: list[tuple[Name, Shape]] = []
    broken: list[Finding] = []
    for name in names:
        try:
            tables.append((name, _LOOKS[name.kind](name.path, name.pair, asked)))
        except BrokenData as failure:
            broken.append(error("broken-file", failure.message, "", advice=failure.hint or ""))
    if not tables:
        raise fault(str(path), broken)
    return tables, broken


def _other_pair(name: Name, source: str | None, target: str | None) -> bool:
    """Whether the name of a table says that it does not hold a language that was asked for."""
    return name.pair is not None and any(asked and not pick(asked, name.pair) for asked in (source, target))


def _several(path: Path, found: Sequence[str], one: Path) -> UsageError:
    return UsageError(
        f"{path}: several corpora lie there, and no file is called train: {', '.join(found)}.",
        hint=f"Choose one by a file of it, as in --data {one}",
    )


def _repeated(path: Path, readers: list[Reader]) -> list[Finding]:
    """Tables that both claim to be the same split."""
    claims: dict[str, list[str]] = {}
    for reader in readers:
        if reader.split is not None:
            claims.setdefault(reader.split, []).append(reader.paths[0].name)
    return [
        error("two-files", f"expected one file for {split}; found {', '.join(files)}.", path, advice=_KEEP_ONE)
        for split, files in claims.items()
        if len(files) > 1
    ]


def choose(path: Path, names: Sequence[str], source: str | None, target: str | None) -> Choice:
    """The direction: what was asked for, or the only two languages there are."""
    if set(names) == set(ANONYMOUS) and source and target and not (pick(source, names) and pick(target, names)):
        return Choice(*ANONYMOUS, (source, target))  # columns without names, in order
    found = [None if asked is None else _asked_language(path, asked, names) for asked in (source, target)]
    rest = [name for name in names if name not in found]
    if len(names) < 2:
        raise MissingData(
            f"{path}: expected two languages side by side; found only {', '.join(names)}.",
            hint="Put the file of the other language beside it, with the same name and its own ending.",
        )
    if None in found and len(rest) != found.count(None):
        raise UsageError(
            f"{path}: expected two languages; found {len(names)}: {', '.join(names)}.",
            hint=f"Choose with --from and --to, as in --from {names[0]} --to {names[-1]}",
        )
    first, second = (name or rest.pop(0) for name in found)
    if first == second:
        raise UsageError(f"{path}: --from and --to both ask for {first}.", hint=f"There are {', '.join(names)}.")
    note = "" if source and target else f"languages: from {first} to {second}, the only two there"
    return Choice(first, second, (source or first, target or second), note)


def _asked_language(path: Path, asked: str, names: Sequence[str]) -> str:
    found = pick(asked, names)
    if found is None:
        raise MissingData(
            f"{path}: expected a text in '{asked}'; found {', '.join(names)}.",
            hint="Name the languages with --from and --to as the files do.",
        )
    return found


def _finish(path: Path, found: Found, held_out: HeldOut) -> Plan:
    """The plan, with the splits that must be cut off from training and what there is to say about it all."""
    splits = {reader.split for reader in found.readers}
    usual: tuple[str, ...] = ()
    if found.whole:
        usual = ("val", "test")
    elif "train" in splits and not splits & {"val", None} and not found.missing:
        usual = ("val",)
    cut = held_out.cut(usual, splits, str(path))
    notes = [found.way.note] if found.way.note else []
    notes += found.notes
    if cut:
        notes.append(cut_note(cut))
    if found.aside:
        more = f" and {len(found.aside) - 4} more" if len(found.aside) > 4 else ""
        notes.append(f"left aside: {', '.join(found.aside[:4])}{more}")
    return Plan(str(path), *found.way.asked, tuple(found.readers), cut, tuple(notes), tuple(found.missing))
