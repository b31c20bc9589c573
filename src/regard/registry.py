"""Parts by name: a part is one small class, registered under a kind and a name.

    @part("score", "dot")
    class Dot(Score):
        def __init__(self, query: int, key: int) -> None: ...

A constructor's ordinary parameters are *given* by the owner, which alone knows the widths; they are the same
for every part of a kind (`KINDS`). Its keyword-only parameters are *settings*: what a recipe may write. A
setting that holds another part has the type `Maker` and is named after the part's kind, alone or as its last
word (`attend`, `self_attend`); where it is not, its type says the kind (`source: Annotated[Maker, "side"]`). A
line `name: text` under `Settings:` in the class docstring explains each.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

from regard.errors import RegardError, UnknownName, UsageError, did_you_mean

# Kind -> what it does, and what its owner gives to every part of it.
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "model": ("a whole model: how the four stages are joined", ("source", "target")),
    "embed": ("ids or pixels to vectors, each position by itself", ("size",)),
    "position": ("where a position stands, as a vector", ("width",)),
    "encode": ("vectors to a memory that can be attended to", ("width",)),
    "network": ("images to features, by a network that was trained before", ("channels",)),
    "attend": ("a query looks at keys and gets a context", ("query", "key", "value")),
    "score": ("how relevant a key is to a query", ("query", "key")),
    "scope": ("which keys a query may look at", ("query",)),
    "choice": ("how scores become weights", ("key",)),
    "gate": ("which cells of a finer grid a coarser one lets through", ("skip", "gating")),
    "predict": ("a memory to an output: a decoder's wiring, or a label", ("size", "memory", "attend")),
    "generator": ("noise, and perhaps a class, to an image", ("target", "classes")),
    "critic": ("how real an image looks, and how well it fits its class", ("target", "classes")),
    "layer": ("a grid of a generator or critic to one of the same shape", ("width", "spectral")),
    "cell": ("one recurrent step", ("inputs", "width")),
    "bridge": ("from an encoder's end to a decoder's start", ("memory", "widths", "cells")),
    "readout": ("features to scores of the next piece", ("inputs", "embed")),
    "initialise": ("how the weights of a new model begin", ()),
    "task": ("what is read, what is wanted, and the goal that judges it", ()),
    "side": ("one end of a task: how its data is encoded, batched and written back", ("role",)),
    "examples": ("what examples are made of the rows of a corpus", ()),
    "goal": ("how an answer is made, judged and drawn", ("source", "target")),
    "train": ("how a model is trained", ()),
    "optimiser": ("how gradients move the weights", ("rate",)),
    "schedule": ("how the learning rate moves while training", ("rate",)),
    "average": ("which weights are kept: a mean over many steps", ()),
}
# The packages whose modules register parts when imported.
HOMES = (
    "regard.embed",
    "regard.encode",
    "regard.attend",
    "regard.predict",
    "regard.gan",
    "regard.initialise",
    "regard.model",
    "regard.task",
    "regard.data.sides",
    "regard.data.examples",
    "regard.learn",
    "regard.tasks.goals",
)

_parts: dict[str, dict[str, type]] = {kind: {} for kind in KINDS}
_loaded: list[bool] = []
Class = TypeVar("Class", bound=type)
REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Maker:
    """A part not yet built: its kind, its name and its settings. Call it with what its owner gives."""

    kind: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, *given: Any) -> Any:
        cls = find(self.kind, self.name)
        try:
            return cls(*given, **self.settings)
        except Exception as error:
            if isinstance(error, RegardError) or not is_own(cls):
                raise
            told = f"the {self.kind} '{self.name}' of {file_of(cls)} could not be built"
            raise UsageError(f"{told}: {type(error).__name__}: {error}") from error


def maker(kind: str, name: str, /, **settings: Any) -> Maker:
    """A maker written by hand, as defaults in signatures are: `score: Maker = maker("score", "additive")`."""
    return Maker(kind, name, settings)


@dataclass(frozen=True)
class Setting:
    """One thing a recipe may write about a part."""

    name: str
    type: Any
    default: Any  # REQUIRED where there is none
    about: str

    @cached_property
    def kind(self) -> str | None:
        """The kind of part it holds, or None where it holds a plain value."""
        if typing.get_origin(self.type) is typing.Annotated and self.type.__origin__ is Maker:
            return str(self.type.__metadata__[0])
        members = typing.get_args(self.type) if isinstance(self.type, UnionType) else (self.type,)
        return self.name.rsplit("_", 1)[-1] if Maker in members else None


def part(kind: str, name: str) -> Callable[[Class], Class]:
    """Register the class below under `kind` and `name`."""

    def register(cls: Class) -> Class:
        if kind not in KINDS:
            raise UnknownName("kind of part", kind, KINDS)
        if name in _parts[kind] and _whole_name(_parts[kind][name]) != _whole_name(cls):
            raise UsageError(
                f"the {kind} '{name}' is registered twice: {_parts[kind][name]} and {cls}.",
                hint="Give one of them another name.",
            )
        expected, found = KINDS[kind][1], given(cls)
        if expected != found:
            raise UsageError(
                f"the {kind} '{name}' takes {found or 'nothing'} from its owner, and every {kind} is given {expected}.",
                hint="Put a * in the constructor before the settings that a recipe may write.",
            )
        _parts[kind][name] = cls
        return cls

    return register


def _whole_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def given(cls: type) -> tuple[str, ...]:
    """The names of the parameters that a part's owner gives."""
    parameters = list(inspect.signature(cls).parameters.values())
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)


def settings(cls: type) -> dict[str, Setting]:
    """What a recipe may write about a part, in the order of its signature."""
    hints = typing.get_type_hints(cls.__init__, include_extras=True)  # type: ignore[misc]
    about = _explained(cls)
    return {
        p.name: Setting(p.name, hints.get(p.name, Any), p.default, about.get(p.name, ""))
        for p in inspect.signature(cls).parameters.values()
        if p.kind is p.KEYWORD_ONLY
    }


def _explained(cls: type) -> dict[str, str]:
    """The `name: text` lines under `Settings:` in a docstring; an indented line continues the one above."""
    found: dict[str, str] = {}
    name = ""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("Settings:\n")
    for line in section.splitlines():
        if not line.startswith("    "):
            break
        if line.startswith("     ") and name:
            found[name] += " " + line.strip()
        else:
            name, _, text = line.strip().partition(": ")
            found[name] = text
    return found


def summary(cls: type) -> str:
    """The first line of a part's docstring."""
    return inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]


def load() -> None:
    """Import everything that registers parts: ours, and what installed packages announce as `regard.parts`."""
    if not _loaded:
        for home in HOMES:
            importlib.import_module(home)
        _loaded.append(True)
        for entry in entry_points(group="regard.parts"):
            entry.load()


def load_file(path: Path) -> None:
    """Run a Python file that registers parts of a user's own (`regard --parts FILE.py`)."""
    if not path.is_file():
        raise UsageError(f"{path} is not a file.", hint="--parts takes a Python file that registers parts.")
    # Under a name of its own, which dataclasses look up and no real module has.
    spec = importlib.util.spec_from_file_location(f"regard_parts_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is not a Python file.", hint="--parts takes a file that ends in .py.")
    load()
    sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except RegardError:
        raise
    except Exception as error:
        del sys.modules[spec.name]
        raise UsageError(f"{path} could not be run: {type(error).__name__}: {error}") from error


def names(kind: str) -> dict[str, type]:
    """Every registered part of a kind, by name."""
    load()
    if kind not in _parts:
        raise UnknownName("kind of part", kind, KINDS)
    return dict(sorted(_parts[kind].items()))


def find(kind: str, name: str) -> type:
    """The class registered under `kind` and `name`."""
    known = names(kind)
    if name not in known:
        raise UnknownName(kind, name, known)
    return known[name]


def named(cls: type) -> tuple[str, str] | None:
    """The kind and the name that a class is registered under, if it is a part."""
    return next(((kind, name) for kind, known in _parts.items() for name, each in known.items() if each is cls), None)


def described(whole: Any, place: str) -> str:
    """What stands at a place of a model, as in predict.attend.choice: the part that it is, or is inside of."""
    steps = place.split(".")
    for end in range(len(steps), 0, -1):
        found = named(type(whole.get_submodule(".".join(steps[:end]))))
        if found is not None:
            return f"{place} ({'' if end == len(steps) else 'in '}the {found[0]} '{found[1]}')"
    return place


def own_parts(made: Maker) -> dict[str, str]:
    """The parts that a maker needs and that do not come with Regard: what each is -> the file it is registered in."""
    cls = find(made.kind, made.name)
    found = {f"the {made.kind} '{made.name}'": file_of(cls)} if is_own(cls) else {}
    for value in made.settings.values():
        if isinstance(value, Maker):
            found |= own_parts(value)
    return found


def is_own(cls: type) -> bool:
    """Is a part somebody's own, and not one of Regard's?"""
    return cls.__module__.split(".")[0] != "regard"


def file_of(cls: type) -> str:
    """The file in which a class is written, without its folders; where it has none, its module."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return Path(file).name if file else cls.__module__


def build(kind: str, name: str, /, **arguments: Any) -> Any:
    """Build a part by hand: `build("score", "additive", query=512, key=1024, hidden=512)`."""
    cls = find(kind, name)
    known = [*given(cls), *settings(cls)]
    for key in arguments:
        if key not in known:
            raise UsageError(
                f"the {kind} '{name}' has no '{key}'; it takes {', '.join(known) or 'nothing'}.",
                hint=did_you_mean(key, known),
            )
    for key in given(cls):
        if key not in arguments:
            raise UsageError(f"the {kind} '{name}' needs '{key}'; it takes {', '.join(known)}.")
    return cls(**arguments)
