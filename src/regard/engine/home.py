"""The folder of a model: where it lies, what it is called, and what is kept in it beside its weights."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path

from safetensors import SafetensorError, safe_open

from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.engine import MANIFEST, engine_of
from regard.errors import ModelError, UsageError
from regard.search.options import ALPHA, Number, Options

LENGTHS_FILE = "lengths.json"
GENERIC = ("best", "last", "run", "model")  # folders of which every run, and every arm of a comparison, has one
_HEADING = re.compile(r"# .*: (\S+) to (\S+)$", re.M)  # of a model card


def model_home(folder: str | Path) -> Path:
    """Where the model of a folder lies: in itself, or in the best/ of a run."""
    folder = Path(folder)
    return folder / "best" if not holds_model(folder) and (folder / "best").is_dir() else folder


def holds_model(folder: Path) -> bool:
    """Does a model, or an exported one, lie here?"""
    return any((folder / name).is_file() for name in ("recipe.toml", MANIFEST))


def named_folder(folder: str | Path) -> Path:
    """The folder that a model is called by: its own or, where every run has one of that name, the next above it."""
    path = Path(folder).absolute()
    return next(each for each in (path, *path.parents) if each.name not in GENERIC)


def read_aligner(folder: Path) -> Aligner | None:
    """The heads that were chosen for a model, if any were."""
    path = folder / ALIGNER_FILE
    if not path.is_file():
        return None
    try:
        return Aligner.from_json(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ModelError(
            f"{path}: expected JSON; {error}.", hint="Delete the file to read alignments from the last layer."
        ) from error


def read_alpha(folder: Path) -> Number:
    """The length penalty that was chosen for a model, or the usual one."""
    path = folder / LENGTHS_FILE
    if not path.is_file():
        return ALPHA
    try:
        alpha = json.loads(path.read_text(encoding="utf-8"))["alpha"]
        return Options(alpha=alpha).exponent
    except (ValueError, KeyError, TypeError, UsageError) as error:
        raise ModelError(
            f"{path}: expected JSON with an alpha of 0 or more; {error}.", hint=f"Delete the file to take {ALPHA:g}."
        ) from error


def describe(folder: Path) -> str:
    """What a folder says of its model in a line: its recipe, its languages, its size, its engine."""
    told = [_title(folder), _languages(folder), _size(folder), f"for {engine_of(folder)}"]
    return ", ".join(filter(None, told))


def _title(folder: Path) -> str:
    try:
        return str(tomllib.loads((folder / "recipe.toml").read_text(encoding="utf-8"))["about"]["title"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _languages(folder: Path) -> str:
    try:
        found = _HEADING.search((folder / "README.md").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    return f"{found[1]} to {found[2]}" if found else ""


def _size(folder: Path) -> str:
    """From the head of the weights' file alone."""
    try:
        with safe_open(folder / "weights.safetensors", "numpy") as weights:
            shapes = [weights.get_slice(name).get_shape() for name in weights.keys()]  # noqa: SIM118, it is no dict
    except (OSError, SafetensorError):
        return ""
    return f"{sum(math.prod(shape) for shape in shapes):,} parameters"
