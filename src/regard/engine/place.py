"""A folder that is there whole, or not at all: written beside its place, and renamed when all has gone well."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from regard.engine import MANIFEST
from regard.errors import UsageError
from regard.model import settle


@contextmanager
def fresh_folder(folder: Path, *, source: Path, force: bool = False) -> Iterator[Path]:
    """A new folder to fill, which then takes the place of `folder`; if anything fails, all is as it was before.

    What stands there already is replaced if it is an earlier export, or anything at all with `force`; only `source`,
    the model that this is made of, is never written over.
    """
    _check_place(folder, source, force)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield fresh
        for path in (*fresh.iterdir(), fresh):
            settle(path)
        _swap(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _check_place(folder: Path, source: Path, force: bool) -> None:
    ours, theirs = folder.resolve(), source.resolve()
    if ours == theirs or ours in theirs.parents:
        raise UsageError(f"{folder} holds the model that this is to be made of.", hint="Give another folder.")
    if folder.is_file():
        raise UsageError(f"{folder} is a file.", hint="Give the name of a folder that is not there yet.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).is_file() and not force:
        raise UsageError(
            f"{folder} is not empty, and no export of ours.", hint="Give another folder, or --force to replace it."
        )


def _swap(fresh: Path, folder: Path) -> None:
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
