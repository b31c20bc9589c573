"""Every error that Regard raises on purpose, in one tree.

    RegardError                 anything below; `exit_code` is what the command line returns
    ├── UsageError              it was asked wrongly (exit code 2)
    │   ├── RecipeError         a recipe does not fit the parts it names; holds every problem found
    │   ├── UnknownName         no part, recipe, corpus or option has this name
    │   └── ShapeError          tensors or widths that do not fit one another
    ├── DataError               the data cannot be used as it is
    │   ├── MissingData         a file, split or language is not there
    │   ├── BrokenData          it is there, and its content is wrong (empty, not UTF-8, unequal lines ...)
    │   └── DownloadError       it could not be fetched whole
    ├── ModelError              a model folder is missing, incomplete or made by something else
    ├── TrainingError           a training cannot begin or go on: the disk, the folder, numbers that are none
    └── Interrupted             a run was asked to stop; its state is saved (exit code 130)

A message says what was expected, what was found and where; `hint` says what to write instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches


class RegardError(Exception):
    """Anything that Regard reports on purpose. Catch this to catch them all."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message if hint is None else f"{message}\n  {hint}")


class UsageError(RegardError):
    """It was asked wrongly: an option, a name or a value that cannot be."""

    exit_code = 2


class UnknownName(UsageError):
    """Nothing has this name; the message offers the nearest one."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind, self.name, self.known = kind, name, sorted(known)
        super().__init__(
            f"no {kind} is called '{name}'; there are {', '.join(self.known) or 'none'}.",
            hint=did_you_mean(name, self.known),
        )


class ShapeError(UsageError):
    """Tensors or widths that do not fit one another."""


@dataclass(frozen=True)
class Problem:
    """One mistake in a recipe: where it stands, what is wrong and what to write instead."""

    where: str  # file:line, or the place a setting came from
    key: str  # the full key, as in encode.layers
    message: str
    advice: str | None = None
    part: str | None = None  # the kind and name of a part that is not registered, where that is the mistake

    def __str__(self) -> str:
        tail = f"\n    {self.advice}" if self.advice else ""
        return f"{self.where}: {self.key}: {self.message}{tail}"


class RecipeError(UsageError):
    """A recipe that does not fit the parts it names. `problems` holds every mistake, not only the first."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "one mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        super().__init__(f"the recipe has {count}:\n" + "\n".join(f"  {problem}" for problem in problems))


class DataError(RegardError):
    """The data cannot be used as it is."""


class MissingData(DataError):
    """A file, a split or a language is not there."""


class BrokenData(DataError):
    """The data is there, and its content is wrong."""


class DownloadError(DataError):
    """A corpus could not be fetched whole. Nothing half-written is left behind."""


class ModelError(RegardError):
    """A model folder that is missing, incomplete, or not one of ours."""


class TrainingError(RegardError):
    """A training cannot begin or go on: the disk, the folder, or numbers that are none."""


class Interrupted(RegardError):
    """A run was asked to stop. Its state is saved."""

    exit_code = 130


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, or nothing."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.55)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """The advice that goes with a misspelt name."""
    guess = nearest(name, known)
    return None if guess is None else f"Did you mean '{guess}'?"
