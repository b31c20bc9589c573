"""The folder a model lives in: recipe, weights, and what its sides keep; written whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_model

from regard.errors import ModelError, RecipeError, RegardError, UsageError
from regard.model.flow import Model
from regard.model.weights import fill, unfilled
from regard.recipe import Recipe, resolve, write
from regard.task import Spec

OURS = ("recipe.toml", "weights.safetensors")
TOKENIZER = ".tokenizer.json"  # how the name of a file ends whose checksum is kept with the weights


def check_text(recipe: Recipe, named: str | Path) -> None:
    """Refuse a recipe whose model does not turn text into text: no engine but PyTorch runs others."""
    sides = [recipe.task.settings[side].name for side in ("source", "target")]
    if sides == ["text", "text"] and recipe.task.settings["goal"].name == "write":
        return
    raise UsageError(
        f"{named}: expected a model that reads text and writes text; it was made to {recipe.task.settings['verb']}, "
        f"from {sides[0]} to {sides[1]}.",
        hint=f"Use `regard {recipe.task.settings['verb']}`.",
    )


def save(model: Model, folder: str | Path, files: Mapping[str, str] | None = None) -> None:
    """Write the model folder: recipe and weights, and further text files by name (tokenizers, scores, card).

    All of it is written beside the folder and then renamed: a crash leaves the old folder or the new one.
    """
    folder = Path(folder)
    if model.recipe is None:
        raise ModelError(
            "only a model built from a recipe can be saved.",
            hint="Build it with regard.recipe.resolve(...).build(...).",
        )
    _check_place(folder, files or {})
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        (fresh / "recipe.toml").write_text(write(model.recipe), encoding="utf-8")
        sizes = {name: json.dumps(each.to_json()) for name, each in zip(("source", "target"), model.specs, strict=True)}
        # The weights mean nothing with other tokenizers than these.
        texts = {name: text for name, text in (files or {}).items() if name.endswith(TOKENIZER)}
        sizes |= {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
        for each in model.parameters():
            each.data = each.data.contiguous()  # safetensors keeps no other order, and trips over a shared one
        save_model(model, str(fresh / "weights.safetensors"), metadata=sizes)
        for name, text in (files or {}).items():
            (fresh / name).write_text(text, encoding="utf-8")
        for path in (*fresh.iterdir(), fresh):
            settle(path)
        _swap(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise


def settle(path: Path) -> None:
    """Readable for all, and on the disk: after a power cut, a name may be there before its content."""
    path.chmod(0o755 if path.is_dir() else 0o644)
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _check_place(folder: Path, files: Mapping[str, str]) -> None:
    """Refuse to write over what is not ours, or outside the folder."""
    if folder.exists() and not (folder / "recipe.toml").is_file() and (folder.is_file() or any(folder.iterdir())):
        raise ModelError(f"{folder} is there already, and is no model folder.", hint="Save under another name.")
    for name in files:
        if not name or name != Path(name).name or name in OURS:
            raise ModelError(
                f"a model folder cannot hold a further file called '{name}'.",
                hint=f"Use a plain file name other than {' and '.join(OURS)}.",
            )


def _swap(fresh: Path, folder: Path) -> None:
    """Put the fresh folder in the old one's place; `load` undoes it if we die between the two renames."""
    old = old_of(folder)
    if folder.exists():
        shutil.rmtree(old, ignore_errors=True)
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def old_of(folder: Path) -> Path:
    """Where a model folder lies while a new one takes its place; a kill between the two renames leaves it there."""
    return folder.with_name(f".{folder.name}.old")


def put_back(folder: Path) -> None:
    """Undo what a kill between the two renames left."""
    if not folder.exists() and old_of(folder).exists():
        old_of(folder).rename(folder)


def recipe_of(folder: Path) -> Recipe:
    """The recipe of a model folder; parts of somebody's own must be registered before."""
    try:
        return resolve(folder / "recipe.toml")
    except RecipeError as error:
        missing = [problem.part for problem in error.problems if problem.part]
        if not missing:
            raise
        raise ModelError(
            f"{folder} needs parts that are not registered: {', '.join(dict.fromkeys(missing))}.",
            hint="Name the file that registers them before the command, as in regard --parts FILE.py translate ... "
            "(in Python: regard.registry.load_file). The head of its recipe.toml names the file it was trained with.",
        ) from error


def load(folder: str | Path, arrange: Callable[[Model], Any] | None = None) -> Model:
    """The model in a folder, ready for use (not in training mode).

    Nothing of it is drawn, and each weight is held once. `arrange` may change how its weights lie in memory before
    they are read.
    """
    folder = Path(folder)
    put_back(folder)
    for name in OURS:
        if not (folder / name).is_file():
            raise ModelError(
                f"{folder} is no model folder: it has no {name}.",
                hint="A model folder holds recipe.toml and weights.safetensors; a run keeps one in its best/.",
            )
    weights = folder / "weights.safetensors"
    try:
        with safe_open(weights, framework="pt") as file:
            sizes = file.metadata() or {}
        if not {"source", "target"} <= sizes.keys():
            raise ModelError(f"{weights} does not say the sizes of its vocabularies: it was not written by Regard.")
        model = unfilled(recipe_of(folder), *(Spec.of(json.loads(sizes[each])) for each in ("source", "target")))
        if arrange is not None:
            arrange(model)
        fill(model, weights)
    except RegardError:
        raise
    except (SafetensorError, ValueError, RuntimeError, OSError) as error:
        raise ModelError(
            f"{weights} does not hold the weights of {folder / 'recipe.toml'}: {error}",
            hint="Copy the folder again, whole: its files belong together.",
        ) from error
    return model.eval()
