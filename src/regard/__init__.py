"""Regard: attention models on a CPU, in which what the model looked at is part of the result.

Names are imported when they are first used, so that `import regard` and `regard --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.errors import RegardError
from regard.version import __version__

if TYPE_CHECKING:
    from regard.api import evaluate, load, train
    from regard.attend.attention import attention
    from regard.registry import build as part
    from regard.show.watch import watch
    from regard.tasks.reproduce import reproduce

_HOMES = {
    "attention": ("regard.attend.attention", "attention"),
    "load": ("regard.tasks.objects", "load"),
    "part": ("regard.registry", "build"),
    "reproduce": ("regard.tasks.reproduce", "reproduce"),
    "train": ("regard.api", "train"),
    "watch": ("regard.show.watch", "watch"),
}
__all__ = ["RegardError", "__version__", "attention", "evaluate", "load", "part", "reproduce", "train", "watch"]


def __getattr__(name: str) -> Any:
    if name == "evaluate":
        return import_module("regard.evaluate")  # a package that can be called
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute '{name}'")
    home, inside = _HOMES[name]
    return getattr(import_module(home), inside)


def __dir__() -> list[str]:
    return sorted(__all__)
