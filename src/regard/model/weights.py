"""Weights from a file into a model: each is read straight to the place where it stays, once.

Neither is there a second copy in memory, nor is the file mapped into it: a model goes on as it is whatever becomes of
the file, and may be trained. A weight may lie in memory in another order than in the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors import safe_open
from safetensors.torch import load_model
from torch import Tensor

from regard.fast.undrawn import undrawn
from regard.model.flow import Model
from regard.recipe import Recipe
from regard.registry import own_parts

KINDS = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
CHUNK = 1 << 22  # bytes that are read at once of what lies in another order


def unfilled(recipe: Recipe, source: Any, target: Any) -> Model:
    """A model whose weights are to be read: they are not drawn, where all its parts are ours.

    Somebody's own may do with their weights what they like while they are built.
    """
    if own_parts(recipe.model):
        return _built(recipe, source, target)
    with undrawn():
        return _built(recipe, source, target)


def _built(recipe: Recipe, source: Any, target: Any) -> Model:
    model: Model = recipe.build(source, target)
    return model


def fill(model: Model, path: Path) -> None:
    """Read the file's tensors into the model; each must have its place, and each place its tensor."""
    if model.recipe is not None and own_parts(model.recipe.model):
        load_model(model, path)  # a module of somebody's own may read its state in its own way
        return
    places = model.state_dict()
    with safe_open(path, framework="pt") as file:  # which refuses what is damaged
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118, it is no dict
        _check(places, {name: tuple(each.get_shape()) for name, each in slices.items()})
        with path.open("rb") as raw:
            ends, begin = _header(raw)
            for name in sorted(slices, key=lambda name: ends[name]):
                place = places[name]
                if _as_it_lies(place) and slices[name].get_dtype() == KINDS.get(place.dtype):
                    raw.seek(begin + ends[name][0])
                    _read(raw, place)
                else:
                    place.copy_(file.get_tensor(name))


def _check(places: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse what does not fit. A tensor that has several names is kept under one of them."""
    tied: dict[Hashable, list[str]] = {}
    for name, place in places.items():
        tied.setdefault((place.data_ptr(), place.shape) if place.numel() else name, []).append(name)
    wrong = [f"unknown: {name}" for name in shapes.keys() - places.keys()]
    for names in tied.values():
        found = [name for name in names if name in shapes]
        wrong += [f"lacking: {names[0]}"] if not found else [f"twice: {name}" for name in found[1:]]
    for name, shape in shapes.items():
        if name in places and shape != places[name].shape:
            wrong.append(f"{name}: expected {tuple(places[name].shape)}; found {shape}")
    if wrong:
        raise ValueError("; ".join(sorted(wrong)[:5]))


def _header(raw: BinaryIO) -> tuple[dict[str, tuple[int, int]], int]:
    """Where each tensor of a safetensors file begins and ends, and where the first does."""
    size = int.from_bytes(raw.read(8), "little")
    told = json.loads(raw.read(size))
    return {name: tuple(each["data_offsets"]) for name, each in told.items() if name != "__metadata__"}, 8 + size


def _as_it_lies(place: Tensor) -> bool:
    """Can the bytes of a file be read there? By rows or, of a matrix, by columns."""
    ordered = place.is_contiguous() or (place.dim() == 2 and place.t().is_contiguous())
    return ordered and place.device.type == "cpu" and sys.byteorder == "little"


def _read(raw: BinaryIO, place: Tensor) -> None:
    """The next bytes, into their place; by way of a few rows at a time if that lies by columns."""
    if place.is_contiguous():
        _read_into(raw, place)
        return
    rows = max(1, CHUNK // (place.shape[1] * place.element_size()))
    room = torch.empty(min(rows, len(place)), place.shape[1], dtype=place.dtype)
    for some in place.split(len(room)):
        found = room[: len(some)]
        _read_into(raw, found)
        some.copy_(found)


def _read_into(raw: BinaryIO, place: Tensor) -> None:
    if raw.readinto(place.detach().view(-1).view(torch.uint8).numpy()) != place.nbytes:  # type: ignore[attr-defined]
        raise ValueError("the file ends within a weight")
