"""Folders that PyTorch runs: a model folder as it is, or what `regard export --to torch` made of one.

An exported folder is a model folder whose weights are kept in fewer bits, with `export.json` and, if it has one, its
shortlist. One in half precision is run in half precision where the machine gains by that, else in the full numbers that
its weights stand for. In eight bits every matrix is whole numbers and, under its name and `.scale`, a scale a row;
those of large products are multiplied as they are, the rest (small ones, tables of vectors, recurrent encoders)
restored when opened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.engine import MANIFEST, OWN, read_manifest
from regard.engine.precision import GAIN, bf16_gain
from regard.engine.pytorch.columns import columns_together
from regard.engine.pytorch.eight_bits import in_eight_bits, restored, rounded
from regard.engine.pytorch.half import in_half_precision
from regard.engine.pytorch.search import Torch, pays
from regard.errors import ModelError
from regard.fast.pages import give_back, keep_pages
from regard.model import Model, check_text, load, recipe_of, unfilled
from regard.search.shortlist import NOBODY, Shortlist

WEIGHTS, SHORTLIST = "weights.safetensors", "shortlist.safetensors"
SCALE = ".scale"
FEW_ROWS = 16  # a model for which half precision pays from so few on is kept in that alone
FEWEST = 8  # rows of a matrix that is kept in eight bits
FLOAT, HALF, WHOLE = "float32", "bfloat16", "int8"
QUANTIZATIONS = (WHOLE, HALF, FLOAT)


@dataclass(frozen=True)
class Manifest:
    """What an exported folder says of itself."""

    quantization: str
    shortlist: int = 0  # target pieces a source piece may lead to; 0 is all
    regard: str = ""  # the version that exported it
    agreement: dict[str, Any] = field(default_factory=dict)
    effect: dict[str, Any] = field(default_factory=dict)  # of the shortlist

    def text(self) -> str:
        """As `export.json` holds it."""
        return json.dumps({"engine": OWN, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder; keys that are not ours are left alone."""
        told = read_manifest(folder)
        if told.get("quantization") not in QUANTIZATIONS:
            raise ModelError(
                f"{folder / MANIFEST}: expected a quantization of {', '.join(QUANTIZATIONS)}; "
                f"found {told.get('quantization')!r}.",
                hint="Export the model again, or install the version of Regard that exported it.",
            )
        return cls(**{each.name: told[each.name] for each in fields(cls) if each.name in told})


def open_folder(folder: Path, threads: int | None = None) -> Torch:
    """The engine of a model folder, or of one exported for PyTorch."""
    if threads is not None:
        torch.set_num_threads(threads)
    keep_pages()
    if not (folder / MANIFEST).is_file():
        model = load(folder)
        if model.recipe is not None:
            check_text(model.recipe, folder)
        return Torch(columns_together(model))
    manifest = Manifest.read(folder)
    model = _built(folder)
    if manifest.quantization == WHOLE:
        model = in_eight_bits(model)
    half, full = manifest.quantization == HALF and bf16_gain() >= GAIN, None
    if half:
        full = None if pays(FEW_ROWS, model) else columns_together(deepcopy(model))
        model = in_half_precision(model)
    else:
        model = columns_together(model)
    give_back()
    shortlist = read_shortlist(folder) if manifest.shortlist else None
    # Where products are small, two threads share one badly, and a search each well.
    return Torch(model, shortlist, torch.get_num_threads() if half or shortlist else 1, full)


def write_weights(home: Path, folder: Path, quantization: str) -> None:
    """The weights of a model folder, kept as `quantization` says."""
    with safe_open(home / WEIGHTS, framework="pt") as file:
        sizes = file.metadata()
    kept = {}
    for name, tensor in load_file(home / WEIGHTS).items():
        if quantization == WHOLE and tensor.dim() == 2 and tensor.is_floating_point() and len(tensor) >= FEWEST:
            kept[name], kept[name + SCALE] = rounded(tensor)
        else:
            kept[name] = tensor.bfloat16() if quantization == HALF and tensor.is_floating_point() else tensor
    save_file(kept, folder / WEIGHTS, metadata=sizes)


def write_shortlist(shortlist: Shortlist, folder: Path) -> None:
    """A shortlist: the candidates of one source piece after another, and how many each has."""
    real = shortlist.lines != NOBODY
    lines, counts = shortlist.lines[real], real.sum(1)
    tensors = {"everywhere": shortlist.everywhere, "lines": lines, "counts": counts}
    save_file({name: each.int() for name, each in tensors.items()}, folder / SHORTLIST)


def read_shortlist(folder: Path) -> Shortlist:
    """The shortlist of an exported folder."""
    path = folder / SHORTLIST
    try:
        found = {name: tensor.long() for name, tensor in load_file(path).items()}
        lines = found["lines"].split(found["counts"].tolist())
        return Shortlist.of(found["everywhere"].tolist(), dict(enumerate(each.tolist() for each in lines)), len(lines))
    except (SafetensorError, KeyError, RuntimeError, OSError) as error:
        raise ModelError(f"{path} is no shortlist: {error}", hint="Copy the folder again, whole.") from error


def _built(folder: Path) -> Model:
    """The model that the kept weights stand for."""
    path = folder / WEIGHTS
    try:
        with safe_open(path, framework="pt") as file:
            sizes = file.metadata()
        model = unfilled(recipe_of(folder), int(sizes["source"]), int(sizes["target"]))
        _fill(model, _restored(load_file(path)))
    except (SafetensorError, KeyError, TypeError, ValueError, RuntimeError, OSError) as error:
        raise ModelError(
            f"{path} does not hold the weights of {folder / 'recipe.toml'}: {error}",
            hint="Copy the folder again, whole: its files belong together.",
        ) from error
    return model.eval()


def _restored(kept: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights in full precision, whatever they were kept as."""
    found = {}
    for name, tensor in kept.items():
        if name + SCALE in kept:
            found[name] = restored(tensor, kept[name + SCALE])
        elif name.removesuffix(SCALE) == name or name.removesuffix(SCALE) not in kept:
            found[name] = tensor.float() if tensor.is_floating_point() else tensor
    return found


def _fill(model: Model, weights: Mapping[str, Tensor]) -> None:
    """Put the weights in their places. A tensor that has several names is kept under one of them."""
    places = model.state_dict()
    missing, unknown = model.load_state_dict(weights, strict=False)
    filled = {places[name].data_ptr() for name in weights if name in places}
    lacking = [name for name in missing if places[name].data_ptr() not in filled]
    if lacking or unknown:
        raise ValueError(f"lacking: {', '.join(lacking) or 'nothing'}; unknown: {', '.join(unknown) or 'nothing'}.")
