"""Where a file is written: under another name first, so that a reader sees the old file or the new one, whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.errors import UsageError


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """A draft beside `path`, which takes its place when the block is done; a place that cannot be written is told."""
    draft: Path | None = None
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        os.close(handle)
        draft = Path(name)
        yield draft
        draft.chmod(0o644)  # a temporary file is its owner's alone; what is written is to be shared
        draft.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.", hint="Give another place.") from error
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)
