"""Folders of sentence-transformers: an encoder, and how its states become one vector (`modules.json`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.errors import ModelError, UsageError
from regard.importing.huggingface import json_of

MODULES = "modules.json"
POOLINGS = {"mean_tokens": "mean", "cls_token": "first", "max_tokens": "max"}  # theirs after pooling_mode_, and ours
NEWER = {"mean": "mean", "cls": "first", "max": "max"}  # as `pooling_mode` writes them


@dataclass(frozen=True)
class Sentences:
    """How texts become vectors: pooled how, of length one or not, cut after how many positions (0: all are read)."""

    pool: str = "mean"
    normalise: bool = False
    length: int = 0


def encoder_folder(folder: Path) -> Path:
    """Where the encoder's own files lie: older folders have them in one of their own."""
    modules = _modules(folder)
    return folder / str(modules[0].get("path", "")) if modules else folder


def sentences_of(folder: Path) -> Sentences | None:
    """What is said of the vectors of an encoder's folder; None where it is no sentence-transformers folder."""
    home = next((each for each in (folder, folder.parent) if _modules(each) and encoder_folder(each) == folder), None)
    if home is None:
        return None
    told = json_of(folder / "sentence_bert_config.json")
    if told.get("do_lower_case"):
        raise UsageError(f"{folder}: do_lower_case = true in sentence_bert_config.json is not supported.")
    pool, normalise = "mean", False
    for module in _modules(home)[1:]:
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            pool = _pooling(home / str(module.get("path", "")) / "config.json")
        elif kind == "Normalize":
            normalise = True
        else:
            raise UsageError(
                f"{home / MODULES}: the module {kind!r} is not supported.",
                hint="Transformer, Pooling and Normalize are.",
            )
    return Sentences(pool, normalise, int(told.get("max_seq_length") or 0))


def _modules(folder: Path) -> list[dict[str, Any]]:
    """The modules that a folder names; none where there is no such file."""
    path = folder / MODULES
    if not path.is_file():
        return []
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path} cannot be read as JSON: {error}.", hint="Download it again.") from error
    if not isinstance(found, list) or not found or not all(isinstance(each, dict) for each in found):
        raise ModelError(f"{path}: expected a list of modules.", hint="Download it again.")
    return found


def _pooling(path: Path) -> str:
    told = json_of(path)
    asked = [key.removeprefix("pooling_mode_") for key, value in told.items() if value is True and "_mode_" in key]
    if isinstance(told.get("pooling_mode"), str):
        asked, known = [told["pooling_mode"]], NEWER
    else:
        known = POOLINGS
    if len(asked) != 1 or asked[0] not in known:
        raise UsageError(
            f"{path}: expected one pooling of {', '.join(known)}; found {', '.join(asked) or 'none'}.",
            hint="Other poolings, and several side by side, are not supported.",
        )
    return known[asked[0]]
