"""What all folders of Hugging Face have in common: config.json, and weights by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from regard.errors import ModelError, RegardError, UsageError

SUPPORTED = {
    "bert": (
        *("BertForMaskedLM", "BertForPreTraining", "BertModel"),
        *("BertForSequenceClassification", "BertForTokenClassification"),
    ),
    "roberta": (
        *("RobertaForMaskedLM", "RobertaModel"),
        *("RobertaForSequenceClassification", "RobertaForTokenClassification"),
    ),
    "albert": (
        *("AlbertForMaskedLM", "AlbertForPreTraining", "AlbertModel"),
        *("AlbertForSequenceClassification", "AlbertForTokenClassification"),
    ),
    "gpt2": ("GPT2LMHeadModel", "GPT2Model"),
}


def config_of(folder: Path) -> dict[str, Any]:
    """The folder's config.json; nothing where there is none."""
    return json_of(folder / "config.json")


def json_of(path: Path) -> dict[str, Any]:
    """A JSON file that holds a table; nothing where there is no such file."""
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read as JSON: {error}.", hint="Download it again.") from error
    if not isinstance(found, dict):
        raise ModelError(f"{path}: expected a JSON table; found {type(found).__name__}.")
    return found


def is_of(folder: Path, family: str) -> bool:
    """Is this a folder of Hugging Face, of this model_type?"""
    return folder.is_dir() and config_of(folder).get("model_type") == family


def architecture(config: dict[str, Any], family: str) -> str:
    """Which model of the family it is; others are refused by name."""
    named = config.get("architectures") or [SUPPORTED[family][0]]
    if named[0] not in SUPPORTED[family]:
        raise UsageError(
            f"architecture {named[0]} of {family} is not supported.",
            hint=f"Supported are {', '.join(SUPPORTED[family])}.",
        )
    return str(named[0])


def unknown(folder: Path) -> RegardError:
    """The error for a folder that no family knows."""
    told = f"Supported are {', '.join(sorted(SUPPORTED))} in Hugging Face format."
    if not folder.is_dir() or not (folder / "config.json").is_file():
        return ModelError(f"{folder}: expected a folder with a config.json; there is none.", hint=told)
    config = config_of(folder)
    named = ", ".join(config.get("architectures") or ["no architecture"])
    return UsageError(f"{folder}: model_type {config.get('model_type')!r} ({named}) is not supported.", hint=told)


def weights_of(folder: Path, prefix: str) -> dict[str, Tensor]:
    """The weights by name, without the prefix that a model with a head puts before them; floats of 32 bits."""
    found = {}
    for path in _files(folder):
        for name, weight in _read(path).items():
            found[_plain(name, prefix)] = weight.float() if weight.is_floating_point() else weight
    return found


def _plain(name: str, prefix: str) -> str:
    """A name as later versions write it: the norms of the oldest files have gamma and beta."""
    for old, new in ((".gamma", ".weight"), (".beta", ".bias")):
        if name.endswith(f"LayerNorm{old}"):
            name = name.removesuffix(old) + new
    return name.removeprefix(prefix)


def _files(folder: Path) -> list[Path]:
    """The files that hold the weights: one, or those that an index names."""
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return [folder / name]
        index = json_of(folder / f"{name}.index.json")
        if index:
            found = sorted({folder / Path(str(each)).name for each in index.get("weight_map", {}).values()})
            missing = [path.name for path in found if not path.is_file()]
            if missing:
                raise ModelError(f"{folder}: {name}.index.json names {', '.join(missing)}, which are not there.")
            return found
    raise ModelError(
        f"{folder} holds no weights: expected model.safetensors or pytorch_model.bin.", hint="Download them too."
    )


def _read(path: Path) -> dict[str, Tensor]:
    """The tensors of one file. Of a .bin no code is run: it may hold tensors alone."""
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        found: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what a broken file makes the libraries raise is of many kinds
        raise ModelError(
            f"{path} cannot be read: {error}", hint="It is cut short or broken: download it again."
        ) from error
    return found
