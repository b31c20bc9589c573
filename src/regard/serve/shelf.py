"""The models that are served: by name and by language, opened when first asked for, let go when memory is short."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

from regard.data.languages import code_of, pick, read_languages
from regard.engine.home import describe, holds_model, model_home, named_folder
from regard.errors import ModelError, UsageError
from regard.serve.manner import goal_opened_as, manner_of
from regard.serve.refused import Refused
from regard.tasks.objects import goal_of, open_model, reads_of, verb_of

SPARE = 1 << 28  # bytes that stay free when a model is opened
LARGER = 1.5  # times its files is what an open model takes


@dataclass
class Entry:
    """One model: what its folder says of it, and the model itself while it is open.

    `reads` is how inputs are sent. `problem` says why it cannot be asked here, if it cannot; `looks`, whether it can
    be looked into. `used` is when it was last asked for, `busy` how many answers are being made.
    """

    name: str
    folder: Path | None
    goal: str
    reads: str
    verb: str
    languages: tuple[str, str] | None
    title: str
    size: int
    model: Any = field(default=None, repr=False)
    problem: str = ""
    looks: bool = True
    used: float = 0.0
    busy: int = 0

    @classmethod
    def of_folder(cls, name: str, folder: Path) -> Entry:
        """From the text of a folder alone: nothing is opened."""
        home = model_home(folder)
        if not holds_model(home):
            raise ModelError(
                f"{folder}: expected a model folder; found none.", hint="Give what `regard train --out` wrote."
            )
        size = sum(each.stat().st_size for each in home.iterdir() if each.is_file())
        goal, verb = goal_of(home), verb_of(home)
        how = manner_of(goal, reads_of(home), verb)
        told = (goal, how.reads, verb, read_languages(home), describe(home), size)
        return cls(name, folder, *told, problem=how.problem, looks=how.looks)

    @classmethod
    def of_model(cls, name: str, model: Any, languages: tuple[str, str] | None = None) -> Entry:
        """A model that is open, and stays so."""
        languages = languages or getattr(model, "languages", None)
        goal, reads, verb = _task(model)
        how = manner_of(goal, reads, verb)
        return cls(name, None, goal, how.reads, verb, languages, "", 0, model, how.problem, how.looks)

    @property
    def writes(self) -> bool:
        """Does it write text, and can be asked to?"""
        return self.goal == "write" and not self.problem

    @property
    def translates(self) -> bool:
        """Does it read text and write text?"""
        return self.writes and self.reads == "text"


def _task(model: Any) -> tuple[str, str, str]:
    """The goal of an open model, what it reads, and the verb it was made for."""
    verb = getattr(model, "verb", "translate")
    if (parts := getattr(model, "parts", None)) is not None:
        return parts.task.goal.name, parts.task.source.name, getattr(model, "verb", parts.task.verb)
    return goal_opened_as(type(model)), getattr(model, "reads", "text"), verb


class Shelf:
    """All models. They are opened and let go in one thread, the one in which they answer."""

    free: Callable[[], int]

    def __init__(self, entries: Sequence[Entry], engine: str | None, threads: int | None, memory: int) -> None:
        self.entries: dict[str, Entry] = {each.name: each for each in entries}
        self.engine, self.threads, self.memory, self.free = engine, threads, memory, free_memory

    @classmethod
    def of(
        cls,
        models: Sequence[Path | str],
        engine: str | None = None,
        threads: int | None = None,
        memory: int = 0,
        empty: bool = False,
    ) -> Shelf:
        """The models of folders, each named as its folder is; `name=folder` gives another. None are `empty` shelves."""
        entries: dict[str, Entry] = {}
        for each in models:
            name, _, folder = str(each).rpartition("=")
            path = Path(folder)
            name = name or named_folder(path).name
            if name in entries:
                raise UsageError(f"two models are called '{name}'.", hint=f"Name one of them: {name}-2={folder}")
            entries[name] = Entry.of_folder(name, path)
        if not entries and not empty:
            raise UsageError("expected a model to serve; found none.", hint="regard serve runs/en-fr")
        if not empty and all(each.problem for each in entries.values()):
            told = "\n".join(f"  {each.name}: {each.problem}" for each in entries.values())
            raise UsageError(f"expected a model that can be asked over a line; found none:\n{told}")
        return cls(list(entries.values()), engine, threads, memory)

    def add(self, entries: Sequence[Entry]) -> None:
        """More models."""
        self.entries.update({each.name: each for each in entries})

    def find(self, name: str | None, fits: Callable[[Entry], bool] = lambda entry: True) -> Entry:
        """A model by its name; without a name the first that fits."""
        if name is not None:
            if name not in self.entries:
                known = ", ".join(self.entries)
                raise Refused(404, f"No model is called '{name[:80]}'; there are {known}.", "model", "model_not_found")
            return self.entries[name]
        for each in self.entries.values():
            if fits(each):
                return each
        raise Refused(400, "None of the models that are served does this.", "model")

    def between(self, source: str | None, target: str | None) -> Entry:
        """The translator from one language to another; of a language that is not named, or of a model, any."""
        for each in self.entries.values():
            if each.translates and _meant(source, each, 0) and _meant(target, each, 1):
                return each
        pairs = ", ".join(f"{a} to {b}" for a, b in self.pairs) or "none that says which"
        asked = f"{(source or 'any language')[:40]} to {(target or 'any language')[:40]}"
        raise Refused(400, f"No model translates {asked}; there is {pairs}.", "target", "language_not_supported")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The languages that are translated, in the order of the models."""
        return [each.languages for each in self.entries.values() if each.translates and each.languages]

    def open(self, entry: Entry) -> Any:
        """The model, read from its folder if it is not open; others are let go if there is no room for it."""
        entry.used = monotonic()
        if entry.model is None and entry.folder is not None:
            self._make_room(entry)
            entry.model = open_model(entry.folder, self.engine if entry.translates else None, self.threads)
        return entry.model

    def _make_room(self, entry: Entry) -> None:
        idle = [each for each in self.entries.values() if each.model is not None and each.folder and not each.busy]
        for each in sorted(idle, key=lambda each: each.used):
            if self._fits(entry):
                return
            each.model = None

    def _fits(self, entry: Entry) -> bool:
        wanted = int(LARGER * entry.size)
        if self.memory:
            taken = sum(each.size for each in self.entries.values() if each.model is not None and each.folder)
            return int(LARGER * taken) + wanted <= self.memory
        return wanted + SPARE <= self.free()


def _meant(asked: str | None, entry: Entry, side: int) -> bool:
    if asked is None or entry.languages is None:
        return True
    own = entry.languages[side]
    return pick(asked, [own]) is not None or asked.lower() == own.lower()


def language_code(name: str) -> str:
    """What a language is called by programs."""
    return code_of(name) or name


def free_memory() -> int:
    """Bytes that this machine has free; where it does not say, enough."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 1 << 62
