"""The object of a model's task: what a folder is opened as."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from regard.engine import silent
from regard.engine.home import model_home
from regard.registry import find
from regard.tasks.using import Answerer


def goal_of(folder: str | Path) -> str:
    """The goal that a model folder's recipe names, read from its text alone; an old or exported one writes."""
    try:
        task = tomllib.loads((model_home(folder) / "recipe.toml").read_text(encoding="utf-8")).get("task", {})
    except (OSError, ValueError):
        return "write"
    goal = task.get("goal", "write")
    return str(goal.get("part", "write") if isinstance(goal, dict) else goal)


def open_model(
    folder: str | Path, engine: str | None = None, threads: int | None = None, say: Callable[[str], None] = silent
) -> Any:
    """The object that a model is used as: a Translator, a Classifier, a Tagger ..."""
    goal = goal_of(folder)
    if goal == "write":
        from regard.translator import Translator

        return Translator.load(folder, engine, threads, say)
    module, _, name = find("goal", goal).opens.partition(":")  # type: ignore[attr-defined]
    if not module:
        return Answerer.load(folder)
    return getattr(import_module(module), name).load(folder)
