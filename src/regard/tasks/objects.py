"""The object of a model's task: what a folder is opened as."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.engine import AUTO, aloud, silent
from regard.engine.home import model_home
from regard.errors import UsageError

# What a model that writes is opened as, by what it reads; a Translator where that is text.
WRITERS = {"nothing": "regard.tasks.language_model:LanguageModel"}


def goal_of(folder: str | Path) -> str:
    """The goal that a model folder's recipe names, read from its text alone; an old or exported one writes."""
    goal = _task(folder).get("goal", "write")
    return str(goal.get("part", "write") if isinstance(goal, dict) else goal)


def source_of(folder: str | Path) -> str:
    """What the recipe of a model folder reads, from its text alone; an old or exported one reads text."""
    source = _task(folder).get("source", "text")
    return str(source.get("part", "text") if isinstance(source, dict) else source)


def _task(folder: str | Path) -> dict[str, Any]:
    try:
        found = tomllib.loads((model_home(folder) / "recipe.toml").read_text(encoding="utf-8")).get("task", {})
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load(folder: str | Path, engine: str | None = AUTO, threads: int | None = None) -> Any:
    """The model of a model folder, the best one of a run folder, or an exported one, ready for use.

    It comes as the object of its task: a `Translator`, a `Classifier`, a `Tagger` ... The folder says which engine runs
    it (`regard export` writes folders for others than PyTorch). With "auto" a translator is run by CTranslate2 where
    that is installed and converts it exactly, which standard error is told, and by PyTorch for all else; any other
    `engine` is insisted on. `threads` is how many may compute, else all.
    """
    return open_model(folder, engine, threads, aloud)


def verb_of(folder: str | Path) -> str:
    """What the model of a folder is asked by, from the text of its recipe alone."""
    return str(_task(folder).get("verb", "translate"))


def open_model(
    folder: str | Path, engine: str | None = None, threads: int | None = None, say: Callable[[str], None] = silent
) -> Any:
    """The object that a model is used as: a Translator, a Classifier, a Tagger ..."""
    goal = goal_of(folder)
    if goal == "write" and (source := source_of(folder)) in WRITERS:
        module, _, name = WRITERS[source].partition(":")
        return _opened(folder, module, name, engine, threads)
    if goal == "write":
        from regard.translate.translator import Translator

        return Translator.load(folder, engine, threads, say)
    from regard.registry import find  # here, for it is not quick

    module, _, name = find("goal", goal).opens.partition(":")  # type: ignore[attr-defined]
    return _opened(folder, module, name, engine, threads)


def _opened(folder: str | Path, module: str, name: str, engine: str | None, threads: int | None) -> Any:
    """The object of this name, which PyTorch alone runs; without a name, one that answers and no more."""
    if engine not in (None, AUTO, "torch"):
        raise UsageError(
            f"{folder}: only models that read text and write text run in {engine}; this one was made to "
            f"{verb_of(folder)}.",
            hint="Leave the engine out.",
        )
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    if not module:
        from regard.tasks.using import Answerer

        return Answerer.load(folder)
    return getattr(import_module(module), name).load(folder)
