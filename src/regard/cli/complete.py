"""What a shell can complete: recipes, corpora, kinds of parts, and the settings of the recipe at hand.

A shell asks anew at every press of the key, so nothing heavy may be imported. Only the settings of a recipe cannot be
known without the parts themselves, which need torch: they are listed once and kept in the cache.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.registry import Maker, Setting

Values = dict[str, list[str]]  # a setting's whole key -> what can be written behind it


def recipes() -> list[tuple[str, str]]:
    """Every recipe that comes with Regard, and its title."""
    from regard.recipe.read import NAMED, read
    from regard.recipe.resolve import describe

    return [(name, describe(read(name).entries.get("about"), []).title) for name in NAMED]


def corpora() -> list[tuple[str, str]]:
    """Every corpus that has a name."""
    return [*built_in_corpora(), *downloadable_corpora()]


def built_in_corpora() -> list[tuple[str, str]]:
    """Those that Regard makes itself."""
    from regard.data.builtin import BUILTIN

    return [(corpus.name, corpus.about) for corpus in BUILTIN.values()]


def downloadable_corpora() -> list[tuple[str, str]]:
    """Those that can be fetched."""
    from regard.data.catalogue import DOWNLOADS

    return [(corpus.name, corpus.about) for corpus in DOWNLOADS.values()]


def kinds() -> list[tuple[str, str]]:
    """Every kind of part."""
    from regard.registry import KINDS

    return [(kind, about) for kind, (about, _) in KINDS.items()]


def settings(incomplete: str) -> list[str]:
    """The settings of the recipes that the command names; behind a whole key, what can be written there.

    A shell may part words at an equals sign: so the values are offered as soon as the key alone is whole.
    """
    from regard.errors import RegardError

    found: Values = {}
    for recipe in _recipes_at_hand():
        try:
            found |= _known(recipe)
        except RegardError:  # the command itself will say what is wrong with it
            continue
    key = incomplete.partition("=")[0]
    values = [f"{key}={value}" for value in found.get(key, ())]
    return [*values, *(f"{other}=" for other in found if other != key)]


def _recipes_at_hand() -> Iterator[str]:
    """The recipes among the words that the shell has so far; an arm of `compare` may have a label and settings.

    From where the shell puts them: a command line that ends in an option without its value is not parsed.
    """
    from regard.recipe.read import NAMED

    written = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    for word in _words(written):
        name = next(iter(word.rpartition(": ")[2].split()), "")
        if name in NAMED or (name.endswith(".toml") and Path(name).is_file()):
            yield name


def _words(text: str) -> list[str]:
    """The words of a command line, of which the last may have a quote that is not closed yet."""
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.commenters = True, ""
    found: list[str] = []
    try:
        found.extend(words)
    except ValueError:
        found.append(words.token)
    return found


def _known(recipe: str) -> Values:
    """The settings of a recipe: from the cache if nothing has changed since."""
    from regard.data.files import cache_folder
    from regard.recipe.read import find

    path = cache_folder() / "completion" / f"{_fingerprint(find(recipe))}.json"
    try:
        kept: Values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = _listed(recipe)
        _keep(path, json.dumps(kept))
    return kept


def _fingerprint(recipe: Path) -> str:
    """Changes whenever Regard's own files or the recipe do."""
    home = Path(__file__).parents[1]
    paths = [*sorted(home.rglob("*.py")), *sorted((home / "recipes").glob("*.toml")), recipe]
    return blake2b("".join(f"{path}{path.stat().st_mtime_ns}" for path in paths).encode(), digest_size=16).hexdigest()


def _keep(path: Path, text: str) -> None:
    """Best kept, and no matter where it cannot be."""
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError:
        return


def _listed(recipe: str) -> Values:
    """Every setting of a recipe, of its parts and of theirs."""
    from regard.recipe import resolve

    resolved = resolve(recipe)
    return dict([*_walk(resolved.model, ""), *_walk(resolved.task, "task."), *_walk(resolved.train, "train.")])


def _walk(maker: Maker, above: str) -> Iterator[tuple[str, list[str]]]:
    from regard.registry import Maker, find
    from regard.registry import settings as settings_of

    for setting in settings_of(find(maker.kind, maker.name)).values():
        value = maker.settings[setting.name]
        key = f"{above}{setting.name}"
        yield key, _values(setting, value)
        if isinstance(value, Maker):
            yield from _walk(value, f"{key}.")


def _values(setting: Setting, value: Any) -> list[str]:
    """What can be written: the parts of its kind, its options, or else what stands there now."""
    import typing

    from regard.registry import names

    if setting.kind is not None:
        optional = type(None) in typing.get_args(setting.type)
        return [*names(setting.kind), *(["none"] if optional else [])]
    if typing.get_origin(setting.type) is typing.Literal:
        return [str(option) for option in typing.get_args(setting.type)]
    if isinstance(value, bool):
        return ["true", "false"]
    return [json.dumps(value, separators=(",", ":")) if isinstance(value, list | tuple) else str(value)]
