"""Argos packages: a zip with a CTranslate2 folder and its SentencePiece model, as LibreTranslate uses them.

A package comes from anywhere, so nothing of it is believed: files are read under names of our own choice, from one
folder of the archive alone, and no more of them than a model can have.
"""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from regard.errors import ModelError, UsageError
from regard.importing.ctranslate2 import About, convert_folder
from regard.importing.huggingface import json_of

METADATA = "metadata.json"
WANTED = (METADATA, "README.md", "sentencepiece.model")
VOCABULARIES = [f"{side}_vocabulary.{kind}" for side in ("shared", "source", "target") for kind in ("json", "txt")]
MODEL = ("model.bin", "config.json", *VOCABULARIES)
LARGEST = 8 << 30  # bytes that are taken out of a package, all files together
RATIO = 200  # times smaller than its content a file may be in the archive: weights and words are far below


def recognises(folder: Path) -> bool:
    """Is this one, packed or unpacked?"""
    if folder.is_dir():
        return (folder / METADATA).is_file() and (folder / "model").is_dir()
    return folder.suffix == ".argosmodel" or zipfile.is_zipfile(folder)


def convert(folder: Path, out: Path) -> None:
    """Write it as a folder for our engine."""
    if folder.is_dir():
        _convert(folder, out, folder)
        return
    with TemporaryDirectory(prefix="regard-") as room:
        unpack(folder, Path(room))
        _convert(Path(room), out, folder)


def unpack(package: Path, room: Path) -> None:
    """The files of a package that a model is made of, and no others."""
    (room / "model").mkdir()
    left = LARGEST
    try:
        with zipfile.ZipFile(package) as archive:
            for name, info in _wanted(archive, package).items():
                left -= info.file_size
                if left < 0 or info.file_size > RATIO * max(info.compress_size, 1 << 10):
                    raise ModelError(f"{package}: {info.filename} is said to have {info.file_size:,} bytes: too many.")
                with archive.open(info) as packed, (room / name).open("wb") as file:
                    shutil.copyfileobj(packed, file)  # which gives no more bytes than the archive has told
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError) as error:
        raise ModelError(f"{package} is no Argos package, or broken: {error}.", hint="Download it again.") from error


def _wanted(archive: zipfile.ZipFile, package: Path) -> dict[str, zipfile.ZipInfo]:
    """By the names that they shall have: all lie in the one folder that holds metadata.json."""
    files = {info.filename: info for info in archive.infolist() if not info.is_dir()}
    homes = [PurePosixPath(name).parent for name in files if PurePosixPath(name).name == METADATA]
    homes = [home for home in homes if str(home / "model" / "model.bin") in files]
    if len(homes) != 1:
        raise ModelError(
            f"{package}: expected one folder with {METADATA} and model/model.bin; found {len(homes)} in its "
            f"{len(files):,} files.",
            hint="Give an Argos package that translates (.argosmodel).",
        )
    names = [*WANTED, "bpe.model", *(f"model/{name}" for name in MODEL)]
    return {name: files[str(homes[0] / name)] for name in names if str(homes[0] / name) in files}


def _convert(home: Path, out: Path, package: Path) -> None:
    told = json_of(home / METADATA)
    if told.get("type", "translate") != "translate":
        raise UsageError(f"{package}: expected a package that translates; found one of type {told['type']!r}.")
    if told.get("target_prefix"):
        raise UsageError(f"{package}: packages whose outputs begin with a given piece are not supported.")
    if not (home / "sentencepiece.model").is_file() and (home / "bpe.model").is_file():
        raise UsageError(
            f"{package}: its text is cut by Moses' rules and a BPE (bpe.model), which is not supported.",
            hint="Packages with a sentencepiece.model are.",
        )
    codes = told.get("from_code"), told.get("to_code")
    languages = (str(codes[0]), str(codes[1])) if all(codes) else None
    card = home / "README.md"
    text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    convert_folder(home / "model", out, About(home, "an Argos package", languages, text))
