"""Opening an exported folder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from regard.engine.ctranslate2.manifest import Manifest
from regard.engine.ctranslate2.search import CTranslate2
from regard.errors import ModelError

PIECES = "pieces.json"  # what CTranslate2 calls our pieces, where it numbers them in another order


def open_folder(folder: Path, threads: int | None = None) -> CTranslate2:
    """The engine of an exported folder; each of `threads` (else of all) translates sentences of its own."""
    backend = library()
    manifest = Manifest.read(folder)
    names = [_names(folder, side) for side in ("source", "target")]
    try:
        opened = backend.Translator(
            str(folder), device="cpu", inter_threads=threads or default_threads(), intra_threads=1
        )
    except (RuntimeError, ValueError) as error:
        raise ModelError(f"{folder}: CTranslate2 cannot read it: {error}", hint="Export the model again.") from error
    return CTranslate2(opened, manifest, (names[0], names[1]))


def library() -> Any:
    """The package, or how to get it."""
    try:
        import ctranslate2
    except ImportError as error:
        raise ModelError(
            "the engine ctranslate2 needs the package of that name.", hint="pip install 'regard[export]'"
        ) from error
    return ctranslate2


def default_threads() -> int:
    """As many as PyTorch takes, if it is there already; else as OpenMP is told, or one for each processor."""
    if torch := sys.modules.get("torch"):
        return int(torch.get_num_threads())
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    return int(told) if told.isdigit() and int(told) else len(os.sched_getaffinity(0))


def _names(folder: Path, side: str) -> list[str]:
    """What CTranslate2 calls the pieces of a side, by their ids."""
    for path in (folder / PIECES, folder / f"{side}_vocabulary.json", folder / "shared_vocabulary.json"):
        if path.is_file():
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
                return [str(name) for name in (found[side] if path.name == PIECES else found)]
            except (ValueError, KeyError, TypeError) as error:
                raise ModelError(f"{path}: expected JSON; {error}.", hint="Export the model again.") from error
    raise ModelError(f"{folder} has no vocabulary for its {side}.", hint="Export the model again.")
