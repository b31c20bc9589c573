"""Model folders converted for CTranslate2, once each, in the cache.

A conversion goes by the content of what it was made of, so that a model that has changed is another one. It is written
under another name and renamed when it is whole: of two processes that convert one model at once, one comes first and
the other takes what is there. It is made by a child process (`regard.export.ctranslate2`), which needs PyTorch and
gives its memory back, and which keeps it only if it writes and looks as the model does. What was refused is
remembered with its reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten

from regard.align.record import FILE as ALIGNER_FILE
from regard.data.files import cache_folder
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE
from regard.engine.ctranslate2 import library
from regard.errors import ModelError
from regard.version import __version__

Say = Callable[[str], None]
WEIGHTS, RECIPE = "weights.safetensors", "recipe.toml"
MADE_OF = (RECIPE, WEIGHTS, SOURCE_FILE, TARGET_FILE, ALIGNER_FILE)
CONVERTER = "regard.export.ctranslate2"  # run as a child: it knows the whole house, and an engine does not
PART = "transformer"  # of encoder and decoder: whatever else they are, CTranslate2 has no such thing
REFUSED = 3  # how the child ends where the model cannot be converted
KEPT = 16  # conversions; those that were not used for longest go first
TIMEOUT = 900


def converted(home: Path, say: Say) -> Path | None:
    """The folder for CTranslate2 of a model folder, made now if there is none; None where there can be none."""
    if not _may_fit(home):
        return None
    try:
        version = library().__version__
    except ModelError:  # it is an extra, which nobody need have installed
        return None
    place = cache_folder() / "ctranslate2" / _digest(home, version)
    if place.is_dir():
        say(f"run by CTranslate2, as converted in {place} (--engine torch: by PyTorch)")
        with suppress(OSError):  # the newest are kept; a cache that cannot be written to is read all the same
            os.utime(place)
        return place
    if _note(place).is_file():
        return None
    return _made(home, place, say)


def drop(place: Path) -> None:
    """Take a broken conversion away, under another name first: whoever looks meanwhile finds none."""
    gone = place.with_name(f".{place.name}.{os.getpid()}")
    with suppress(OSError):
        place.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _may_fit(home: Path) -> bool:
    """Told from the recipe alone: may CTranslate2 have such a model?"""
    try:
        recipe = tomllib.loads((home / RECIPE).read_text(encoding="utf-8"))
        return all(recipe[side]["part"] == PART for side in ("encode", "predict"))
    except (OSError, ValueError, KeyError, TypeError):  # who opens the folder says what is wrong with it
        return False


def _digest(home: Path, version: str) -> str:
    """What a conversion was made of, and by what."""
    digest = blake2b(f"{__version__} {version}".encode(), digest_size=16)
    for name in MADE_OF:
        digest.update(f"\n{name}\n".encode())
        with suppress(FileNotFoundError), (home / name).open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _note(place: Path) -> Path:
    """Where it is written that a model cannot be converted, and why."""
    return place.with_name(f"{place.name}.txt")


def _made(home: Path, place: Path, say: Say) -> Path | None:
    """Convert, check and keep a model; what fails is told in a line, and no reason to fail."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".", dir=place.parent) as room:
            fresh = Path(room) / place.name
            say(f"converting it for CTranslate2, once, into {place} (--engine torch: run by PyTorch as it is)")
            if (refusal := _convert(home, fresh)) is not None:
                _note(place).write_text(refusal, encoding="utf-8")
                say(f"run by PyTorch: {shorten(refusal, 200)}")
                return None
            with suppress(OSError):  # another process was first
                fresh.rename(place)
    except (OSError, ModelError, subprocess.SubprocessError) as error:
        say(f"run by PyTorch, since it could not be converted for CTranslate2: {shorten(str(error), 200)}")
        return None
    _tidy(place.parent)
    return place if place.is_dir() else None


def _convert(home: Path, fresh: Path) -> str | None:
    """Run the child; why it refused, if it did."""
    command = [sys.executable, "-m", CONVERTER, str(home), str(fresh)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode == REFUSED:
        return done.stdout.strip() or "refused"
    if done.returncode:
        raise ModelError((done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1])
    return None


def _tidy(folder: Path) -> None:
    """Keep the newest conversions alone."""
    with suppress(OSError):
        kept = sorted((each for each in folder.iterdir() if each.is_dir()), key=lambda each: -each.stat().st_mtime)
        for each in kept[KEPT:]:
            drop(each)
