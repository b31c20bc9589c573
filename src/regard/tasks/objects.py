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


def goal_of(folder: str | Path) -> str:
    """The goal that a model folder's recipe names, read from its text alone; an old or exported one writes."""
    return _part(folder, "goal", "write")


def reads_of(folder: str | Path) -> str:
    """What the model of a folder reads, likewise; an old or exported one reads text."""
    return _part(folder, "source", "text")


def translates(folder: str | Path) -> bool:
    """Does the model of a folder read text and write text?"""
    return (goal_of(folder), reads_of(folder)) == ("write", "text")


def _part(folder: str | Path, name: str, usual: str) -> str:
    found = _task(folder).get(name, usual)
    return str(found.get("part", usual) if isinstance(found, dict) else found)


def _task(folder: str | Path) -> dict[str, Any]:
    try:
        found = tomllib.loads((model_home(folder) / "recipe.toml").read_text(encoding="utf-8")).get("task", {})
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def load(folder: str | Path, engine: str | None = AUTO, threads: int | None = None) -> Any:
    """The model of a model folder, the best one of a run folder, or an exported one, ready for use.

    It comes as the object of its task: a `Translator`, a `Captioner`, a `Classifier` ... The folder says which engine
    runs it (`regard export` writes folders for others than PyTorch). With "auto" a translator is run by CTranslate2
    where that is installed and converts it exactly, which standard error is told, and by PyTorch for all else; any
    other `engine` is insisted on. `threads` is how many may compute, else all.
    """
    return open_model(folder, engine, threads, aloud)


def verb_of(folder: str | Path) -> str:
    """What the model of a folder is asked by, from the text of its recipe alone."""
    return str(_task(folder).get("verb", "translate"))


def open_model(
    folder: str | Path, engine: str | None = None, threads: int | None = None, say: Callable[[str], None] = silent
) -> Any:
    """The object that a model is used as: a Translator, a Captioner, a Classifier ..."""
    if translates(folder):
        from regard.translate.translator import Translator

        return Translator.load(folder, engine, threads, say)
    if engine not in (None, AUTO, "torch"):
        raise UsageError(
            f"{folder}: only models that read text and write text run in {engine}; this one was made to "
            f"{verb_of(folder)}.",
            hint="Leave the engine out.",
        )
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    from regard.registry import find  # here, for it is not quick

    goal: Any = find("goal", goal_of(folder))
    module, _, name = goal.opens_by.get(reads_of(folder), goal.opens).partition(":")
    if not module:
        from regard.tasks.using import Answerer

        return Answerer.load(folder)
    return getattr(import_module(module), name).load(folder)
