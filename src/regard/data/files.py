"""Files of text: plain or gzip, read line by line as bytes so that every fault has its line.

Only a line feed ends a line: other separators of Unicode may stand inside a sentence, and splitting at them
would put the two sides of a corpus out of step.
"""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b, file_digest
from io import BufferedReader
from pathlib import Path
from uuid import uuid4

from regard.data.report import SHOWN, Finding, doubt, error
from regard.errors import DataError

_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 20


def cache_folder() -> Path:
    """Where corpora are kept: `$REGARD_CACHE`, else `$XDG_CACHE_HOME/regard`, else `~/.cache/regard`."""
    if chosen := os.environ.get("REGARD_CACHE"):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "regard"


def plain_name(path: Path) -> str:
    """The name of a file without its `.gz`."""
    return path.name.removesuffix(".gz")


def open_bytes(path: Path) -> BufferedReader | gzip.GzipFile:
    """Open a file for reading, unpacked where it ends in `.gz`."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def digest_file(path: Path) -> str:
    """A number that changes whenever a byte of the file does."""
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def count_marks(path: Path, mark: bytes) -> int:
    """How often a mark (a line feed, a closing tag) stands in a file; what can be read of a broken one."""
    found, tail = 0, b""
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                text = tail + chunk
                found += text.count(mark)
                tail = text[len(text) - len(mark) + 1 :]  # too short to hold a whole mark
    except (OSError, EOFError, zlib.error):
        pass  # the reader that follows says what is wrong with the file, and where
    return found


class Lines:
    """The lines of one file as text, read once. After the last, `findings` says what was wrong with them.

    A line that is not UTF-8 is still handed on, with the bad bytes replaced: whoever reads then finds all the
    faults of a file in one go, and refuses the file at the end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._broken = 0
        self._bad: list[tuple[int, bytes]] = []
        self._returns = 0
        self._bom = False
        self._torn: str | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            with open_bytes(self.path) as file:
                for raw in file:
                    self.count += 1
                    yield self._decode(raw)
        except (OSError, EOFError, zlib.error) as failure:
            self._torn = str(failure)

    def _decode(self, raw: bytes) -> str:
        line = raw.removesuffix(b"\n")
        if line.endswith(b"\r"):
            self._returns += 1
            line = line[:-1]
        if self.count == 1 and line.startswith(_BOM):
            self._bom = True
            line = line[len(_BOM) :]
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            self._broken += 1
            if len(self._bad) < SHOWN:
                self._bad.append((self.count, line))
            return line.decode("utf-8", "replace")

    def findings(self) -> list[Finding]:
        """What was wrong with the file, once it was read to its end."""
        found = (self._unreadable(), self._empty(), self._coding(), self._marks())
        return [finding for finding in found if finding]

    def _unreadable(self) -> Finding | None:
        if self._torn is None:
            return None
        return error(
            "unreadable",
            f"the file cannot be read beyond line {self.count:,}: {self._torn}",
            self.path,
            advice="Fetch or pack it again; `gzip -t` tells whether a .gz file is whole.",
        )

    def _empty(self) -> Finding | None:
        if self.count or self._torn is not None:
            return None
        return error("empty-file", "the file is empty; expected one sentence a line.", self.path)

    def _coding(self) -> Finding | None:
        if not self._bad:
            return None
        first = self._bad[0][0]
        coding = guess_coding(b"".join(line for _, line in self._bad))
        wide = coding.startswith("UTF-16")
        shown = () if wide else tuple(f"line {number}: {_show_bytes(text)}" for number, text in self._bad)
        lines = "one line that is" if self._broken == 1 else f"{self._broken:,} lines that are"
        return error(
            "invalid-utf8",
            f"expected UTF-8; found {lines} not.",
            f"{self.path}:{first}",
            examples=shown,
            advice=f"It looks like {coding}: `iconv -f {coding} -t UTF-8 FILE > NEW` converts it.",
        )

    def _marks(self) -> Finding | None:
        """Marks of another system's editor: taken away on reading, worth knowing about."""
        odd = []
        if self._bom:
            odd.append("starts with a byte order mark")
        if self._returns:
            share = "all" if self._returns == self.count else f"{self._returns:,} of {self.count:,}"
            odd.append(f"ends {share} lines with a carriage return")
        if not odd:
            return None
        return doubt(
            "line-endings",
            f"the file {' and '.join(odd)}; they are left out on reading.",
            self.path,
            advice="`dos2unix FILE` takes them away.",
        )


def guess_coding(text: bytes) -> str:
    """The coding that a text which is not UTF-8 most probably has."""
    if text[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in text:
        return "UTF-16"
    return "WINDOWS-1252" if any(0x80 <= byte < 0xA0 for byte in text) else "ISO-8859-1"


def _show_bytes(line: bytes) -> str:
    """The first bad bytes of a line, with a little around them."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as bad:
        return line[max(0, bad.start - 20) : bad.end + 20].decode("utf-8", "backslashreplace")
    return ""


def need_space(folder: Path, wanted: int) -> None:
    """Say that a disk is too full before anything is written to it."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise DataError(
            f"{folder} has {free / 2**20:,.0f} MiB free; about {wanted / 2**20:,.0f} MiB are needed.",
            hint="Make room, or set REGARD_CACHE to a folder on a larger disk.",
        )


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """A temporary folder on the same disk as `beside`, gone at the end whatever happens."""
    folder = beside.parent / f".{beside.name}-{uuid4().hex[:12]}"
    try:
        folder.mkdir(parents=True)
    except OSError as failure:
        hint = "Choose a folder you may write to: --out DIR, or REGARD_CACHE for the cache."
        raise DataError(f"{beside.parent}: cannot be written to: {failure.strerror}.", hint=hint) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def settle(scratch: Path, folder: Path) -> None:
    """Put what was written to a scratch folder in its place: the whole folder at once where it is new."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        scratch.rename(folder)
    except OSError:  # the folder is there and not empty: its files are replaced, each one at once
        for path in sorted(scratch.iterdir()):
            path.replace(folder / path.name)
