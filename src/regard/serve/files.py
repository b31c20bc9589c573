"""Files that were translated, until they are fetched: for an hour, and not too many of them.

They lie in a folder, so that any process of the server can hand them out. Their names are drawn, and cannot be guessed.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from secrets import token_hex
from time import time

KEPT = 3600.0  # seconds
ROOM = 1 << 28  # bytes of all files together
KINDS = {".txt": "text/plain; charset=utf-8", ".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8"}
_NAME = re.compile(r"[0-9a-f]{32}\.(?:txt|html|htm)")


class Files:
    """The folder of them; without one, a folder is made that ends with this process."""

    def __init__(self, folder: str = "") -> None:
        self._folder = Path(folder) / "files" if folder else None
        self._own: tempfile.TemporaryDirectory[str] | None = None

    @property
    def folder(self) -> Path:
        """Where they lie."""
        if self._folder is None:
            self._own = tempfile.TemporaryDirectory(prefix="regard-files-")
            self._folder = Path(self._own.name)
        self._folder.mkdir(exist_ok=True)
        return self._folder

    def close(self) -> None:
        """The end: a folder of its own goes with all that is in it."""
        if self._own is not None:
            self._own.cleanup()

    def keep(self, text: str, kind: str) -> str:
        """Keep a file of a kind (`.html`); the name to fetch it by."""
        self._tidy(len(text))
        name = token_hex(16) + kind
        draft = self.folder / f"{name}.part"
        draft.write_text(text, encoding="utf-8", newline="")
        draft.replace(draft.with_suffix(""))
        return name

    def find(self, name: str) -> Path | None:
        """The file of a name, if it is still kept."""
        if _NAME.fullmatch(name) is None:
            return None
        path = self.folder / name
        return path if path.is_file() and time() - path.stat().st_mtime < KEPT else None

    def _tidy(self, more: int) -> None:
        """Let go what is old, and the oldest where there is no room."""
        told = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self.folder.iterdir())
        room = sum(size for _, size, _ in told) + 4 * more
        for when, size, path in told:
            if room > ROOM or time() - when >= KEPT:
                path.unlink(missing_ok=True)
                room -= size
