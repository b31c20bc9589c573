"""Engines: what runs a model. Source ids and options in, hypotheses out; text is the translator's affair.

pytorch         the model itself, every part there is, or a folder that `regard export --to torch` wrote
ctranslate2     a folder that `regard export --to ctranslate2` wrote
onnx            a folder that `regard export --to onnx` wrote

To add one: a file with `open_folder(folder, threads)` that gives an `Engine`, and its line in `ENGINES`. An exported
folder names its engine in `export.json`; a folder without that file is a model folder, which PyTorch runs.

auto            a model folder converted for CTranslate2 and kept, where that is possible; PyTorch for all else
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from regard.align.record import Aligner
from regard.errors import ModelError, UnknownName, UsageError
from regard.search import Hypothesis, Options

Ids = Sequence[int]

MANIFEST = "export.json"
OWN, AUTO = "torch", "auto"
ENGINES = {  # a module is imported when its engine is asked for
    OWN: "regard.engine.pytorch",
    "ctranslate2": "regard.engine.ctranslate2",
    "onnx": "regard.engine.onnx",
}


@runtime_checkable
class Engine(Protocol):
    """What every engine offers. Sources end with the end; targets have neither start nor end.

    condensed: it records less than the engine behind it (`whole`) could.
    """

    condensed: bool

    @property
    def sizes(self) -> tuple[int, int]:
        """How many pieces the vocabularies of source and target have."""
        ...

    def whole(self) -> Engine:
        """The engine that can do and record most: itself, or the one behind it."""
        ...

    @property
    def workers(self) -> int:
        """How many searches may run side by side, each in a thread of its own, to keep the engine busy."""
        ...

    def pool(self, workers: int) -> AbstractContextManager[Executor]:
        """The threads for so many searches side by side."""
        ...

    def continuous(self) -> bool:
        """Does a search of many sentences let them in as others leave, so that it wants many at once?"""
        ...

    def search(
        self, sources: Sequence[Ids], options: Options, *, record: bool, tokens: int | None = None
    ) -> list[list[Hypothesis]]:
        """The best outputs of each sentence, best first; `record` keeps what they looked at.

        `tokens` is how many padded positions may be at work at a time, where batching is continuous.
        """
        ...

    def force(self, sources: Sequence[Ids], targets: Sequence[Ids], *, record: bool) -> list[Hypothesis]:
        """Given outputs as if they had been found."""
        ...

    def reader(self, aligner: Aligner | None) -> Aligner | None:
        """The heads that align, as they are to be found in what this engine records."""
        ...


def silent(line: str) -> None:
    """Says nothing."""


def aloud(line: str) -> None:
    """Says it on standard error."""
    sys.stderr.write(f"{line}\n")


def open_engine(
    folder: Path, name: str | None = None, threads: int | None = None, say: Callable[[str], None] = silent
) -> Engine:
    """The engine of a folder: the one it was exported for, or PyTorch. `name` insists on one.

    With "auto" a model folder is run by CTranslate2 where it can be; `say` hears of that.
    """
    found = engine_of(folder)
    if name == AUTO:
        if found == OWN:
            return import_module("regard.engine.auto").open_folder(folder, threads, say)
        name = None
    if name is not None and name not in ENGINES:
        raise UnknownName("engine", name, [AUTO, *ENGINES])
    if name is not None and name != found:
        raise UsageError(f"{folder} is a folder for the engine {found}; asked for {name}.", hint=_instead(found, name))
    return import_module(ENGINES[found]).open_folder(folder, threads)


def engine_of(folder: Path) -> str:
    """The engine that a folder is for."""
    if not (folder / MANIFEST).is_file():
        return OWN
    name = str(read_manifest(folder).get("engine", ""))
    if name not in ENGINES:
        raise ModelError(
            f"{folder / MANIFEST}: expected an engine of {', '.join(ENGINES)}; found '{name}'.",
            hint="It may have been exported by a newer Regard: install that, or export the model again.",
        )
    return name


def read_manifest(folder: Path) -> dict[str, Any]:
    """What an export says of itself."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / MANIFEST}: expected JSON; {error}.", hint="Export the model again.") from error
    if not isinstance(told, dict):
        raise ModelError(f"{folder / MANIFEST}: expected a JSON object; found {str(told)[:80]}.")
    return told


def _instead(found: str, name: str) -> str:
    if name == OWN:
        return "Give the model folder that it was exported from."
    if found == OWN:
        return f"Export it first, and give what was exported: regard export MODEL --to {name} --out DIR"
    return f"Leave the engine out, or export the model again: regard export MODEL --to {name} --out DIR"
