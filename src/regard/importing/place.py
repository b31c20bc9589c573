"""Where a model to import lies: a folder, or a repository of the Hugging Face hub, which is fetched."""

from __future__ import annotations

import re
from pathlib import Path

from regard.errors import DownloadError, MissingData, UsageError

REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
WANTED = ("*.json", "*.txt", "*.safetensors", "*.model", "*.spm", "pytorch_model*.bin")


def found_at(where: str | Path) -> Path:
    """The folder, fetched where `where` names a repository."""
    path = Path(where)
    if path.exists():
        return path
    if not isinstance(where, str) or not REPOSITORY.fullmatch(where) or where.startswith("."):
        raise MissingData(
            f"{where}: expected a folder that holds a model; there is none.",
            hint="Give a folder, or a repository of the Hugging Face hub, as in google-bert/bert-base-cased.",
        )
    return _fetched(where)


def _fetched(name: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError as error:
        raise UsageError(
            f"{name}: there is no such folder, and huggingface_hub, which fetches models, is not installed.",
            hint='Write pip install "regard[import]".',
        ) from error
    try:
        return Path(snapshot_download(name, allow_patterns=list(WANTED)))
    except (HfHubHTTPError, OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DownloadError(
            f"{name}: there is no such folder, and the Hugging Face hub did not give such a repository: {reason}",
            hint="Check the name and the connection, or download the files and give their folder.",
        ) from error
