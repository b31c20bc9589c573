"""The tokenizers of a folder, which must be those that its weights were trained with.

Others have another number of pieces, or call other pieces by the same numbers: fluent nonsense would come out.
The weights of a model folder, and the manifest of an export, know the checksum of each file; older ones do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from safetensors import SafetensorError, safe_open

from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE, Tokenizer
from regard.engine import MANIFEST, read_manifest
from regard.errors import ModelError

FILES = (SOURCE_FILE, TARGET_FILE)
WEIGHTS = "weights.safetensors"
HINT = "It belongs to another model: copy the model folder again, whole."


def open_tokenizers(folder: Path, sizes: tuple[int, int]) -> tuple[Tokenizer, Tokenizer]:
    """Those of source and target, for a model with vocabularies of these sizes; one object where both are the same.

    A tokenizer of 8,000 pieces takes some 7 MB.
    """
    known = _known(folder)
    source = _opened(folder / SOURCE_FILE, sizes[0], known.get(SOURCE_FILE))
    if sizes[0] == sizes[1] and _are_equal(folder, known):
        return source, source
    return source, _opened(folder / TARGET_FILE, sizes[1], known.get(TARGET_FILE))


def _are_equal(folder: Path, known: Mapping[str, str]) -> bool:
    """Is the file of the target the source's, and the one that the weights know?"""
    path = folder / TARGET_FILE
    if not path.is_file() or path.read_bytes() != (folder / SOURCE_FILE).read_bytes():
        return False
    return known.get(TARGET_FILE) in (None, _checksum(path))


def checksums(folder: Path) -> dict[str, str]:
    """The checksum of each tokenizer of a folder, by the name of its file."""
    return {name: _checksum(folder / name) for name in FILES}


def _opened(path: Path, size: int, known: str | None) -> Tokenizer:
    found = Tokenizer.load(path)
    if len(found) != size:
        raise ModelError(
            f"{path} does not fit the weights: expected {size:,} pieces, as the model has; found {len(found):,}.",
            hint=HINT,
        )
    if known is not None and known != _checksum(path):
        raise ModelError(
            f"{path} does not fit the weights: expected the file that they were saved with (SHA-256 {known[:12]}...); "
            f"found another of as many pieces ({_checksum(path)[:12]}...).",
            hint=HINT,
        )
    return found


def _checksum(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _known(folder: Path) -> dict[str, str]:
    """The checksums that were kept."""
    if (folder / WEIGHTS).is_file():
        try:
            with safe_open(folder / WEIGHTS, framework="np") as file:
                return file.metadata() or {}
        except SafetensorError as error:
            raise ModelError(f"{folder / WEIGHTS} cannot be read: {error}", hint="Copy the folder again.") from error
    kept = read_manifest(folder).get("tokenizers") if (folder / MANIFEST).is_file() else None
    return kept if isinstance(kept, dict) else {}
