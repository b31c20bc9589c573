"""Reading recipes: files, names, `extends`, and settings from the command line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from regard.errors import Problem, RecipeError, UnknownName
from regard.recipe.moved import moved
from regard.recipe.tree import Leaf, Table, lay_over, nest

# Every recipe that comes with Regard, by name.
NAMED: dict[str, Path] = {
    entry.name.removesuffix(".toml"): Path(str(entry))
    for entry in sorted(
        resources.files("regard").joinpath("recipes").iterdir(), key=lambda found: found.name.split(".")[0]
    )
    if entry.name.endswith(".toml")
}
_HEADER = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_.\- \"]+?)\s*=")


def read(recipe: str | Path, overrides: Sequence[str] = (), problems: list[Problem] | None = None) -> Table:
    """The tree of a recipe given by name or file, with what it extends below it and overrides above it.

    Overrides that cannot be read go to `problems`, so that they are told beside the recipe's other mistakes; a
    file that cannot be read is told at once, since whatever it lacks would be told as a mistake too.
    """
    told = [] if problems is None else problems
    tree = _follow(find(recipe), (), told)
    if told:
        raise RecipeError(told)
    for text in overrides:
        tree = _overridden(tree, text, told)
    if told and problems is None:
        raise RecipeError(told)
    return tree


def find(recipe: str | Path) -> Path:
    """The file of a recipe: a name that Regard knows, or a path."""
    if str(recipe) in NAMED:
        return NAMED[str(recipe)]
    path = Path(recipe)
    if path.is_dir() and (path / "recipe.toml").is_file():
        return path / "recipe.toml"
    if not path.is_file():
        raise UnknownName("recipe or recipe file", str(recipe), NAMED)
    return path


def _follow(path: Path, seen: tuple[Path, ...], problems: list[Problem]) -> Table:
    """The tree of one file, laid over the trees it extends."""
    tree = _parse(path, problems)
    base = tree.entries.pop("extends", None)
    if base is None:
        return tree
    if not isinstance(base, Leaf) or not isinstance(base.value, str):
        problems.append(
            Problem(base.where, "extends", "expected the name or file of a recipe.", 'Write extends = "rnnsearch".')
        )
        return tree
    if path.resolve() in seen:
        chain = " -> ".join(each.stem for each in (*seen, path))
        problems.append(Problem(base.where, "extends", f"recipes extend one another in a circle: {chain}."))
        return tree
    beside = path.parent / base.value
    try:
        below = find(beside if beside.is_file() else base.value)
    except UnknownName as error:
        problems.append(Problem(base.where, "extends", error.message, error.hint))
        return tree
    extended = _follow(below, (*seen, path.resolve()), problems)
    extended.entries.pop("reproduce", None)  # the claim is that of one system
    merged = lay_over(extended, tree)
    return merged if isinstance(merged, Table) else tree


def _parse(path: Path, problems: list[Problem]) -> Table:
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        problems.append(Problem(f"{path}:{line[1] if line else len(text.splitlines())}", "TOML", f"{error}."))
        return Table(str(path))
    except UnicodeDecodeError as error:
        problems.append(Problem(str(path), "TOML", f"not UTF-8 at byte {error.start}.", "Save the file as UTF-8."))
        return Table(str(path))
    return moved(_placed(values, (), str(path), _lines(text)))


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key and table, which the standard library's reader does not tell."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _split(header[1])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault(table + _split(key[1]), number)
    return found


def _split(key: str) -> tuple[str, ...]:
    return tuple(piece.strip().strip('"') for piece in key.split("."))


def _placed(values: dict[str, Any], at: tuple[str, ...], path: str, lines: dict[tuple[str, ...], int]) -> Table:
    """The values with their places; what has no line of its own has that of the table around it."""
    entries: dict[str, Leaf | Table] = {}
    for key, value in values.items():
        here = (*at, key)
        entries[key] = (
            _placed(value, here, path, lines) if isinstance(value, dict) else Leaf(value, _where(here, path, lines))
        )
    return Table(_where(at, path, lines), entries)


def _where(at: tuple[str, ...], path: str, lines: dict[tuple[str, ...], int]) -> str:
    while at and at not in lines:
        at = at[:-1]
    return f"{path}:{lines[at]}" if at in lines else path


def _overridden(tree: Table, text: str, problems: list[Problem]) -> Table:
    key, equals, written = text.partition("=")
    where = f"-s {text}"
    if not equals or not re.fullmatch(r"\s*\w[\w\-]*(\.\w[\w\-]*)*\s*", key):
        problems.append(Problem(where, key.strip() or "?", "expected key=value.", "Write -s encode.layers=2."))
        return tree
    merged = lay_over(tree, moved(nest(key.strip(), _value(written.strip()), where)))
    return merged if isinstance(merged, Table) else tree


def _value(written: str) -> Any:
    """A TOML value; what is not one is text, so that nobody needs quotes within quotes."""
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        return written
