"""The modules of the page, and how they become one script.

In a browser that fetches them, they are ES modules. A page in one file cannot fetch: there each module becomes a
function of its own, called once, in an order in which every module comes after those it imports.

Of the language's ways to import and export, the modules keep to two, each at the start of a line:

    import { one, other } from "./module.js";
    export function | async function | class | const name
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files

from regard.errors import UsageError

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z]+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.M)
_OTHER = re.compile(r"^(?:import|export)\b.*", re.M)


def read(name: str) -> str:
    """The text of a file of this folder."""
    return files(__name__).joinpath(name).read_text(encoding="utf-8")


def join(entry: str, source: Callable[[str], str] = lambda name: read(f"{name}.js")) -> str:
    """The module `entry` and all that it imports, as one script without imports."""
    joined: dict[str, str] = {}
    _add(entry, source, joined, ())
    return '"use strict";\n' + "".join(joined.values())


def _add(name: str, source: Callable[[str], str], joined: dict[str, str], above: tuple[str, ...]) -> None:
    """Add a module after those it imports; `above` are the modules that are waiting for it."""
    if name in above:
        raise UsageError(f"the modules import one another in a circle: {' -> '.join((*above, name))}.")
    if name in joined:
        return
    text = source(name)
    for _, other in _IMPORT.findall(text):
        _add(other, source, joined, (*above, name))
    joined[name] = _wrapped(name, text)


def _wrapped(name: str, text: str) -> str:
    """A module as a function that is called once and returns what it exports."""
    exports = _EXPORT.findall(text)
    body = _EXPORT.sub("", _IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_variable(found[2])};\n", text))
    left = _OTHER.search(body)
    if left:
        raise UsageError(
            f"{name}.js: the joiner does not know '{left[0]}'.",
            hint='Write import { name } from "./module.js"; or export before a function, class or const.',
        )
    return f"const {_variable(name)} = (() => {{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"


def _variable(name: str) -> str:
    return f"${name}"
