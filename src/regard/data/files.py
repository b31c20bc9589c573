"""Files of text: plain or gzip, read line by line as bytes so that every fault has its line.

Only a line feed ends a line: other separators of Unicode may stand inside a sentence, and splitting at them
would put the two sides of a corpus out of step.
"""

from __future__ import annotations

import gzip
import os
import shutil
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b, file_digest
from io import BufferedReader
from pathlib import Path
from uuid import uuid4

from regard.data.report import SHOWN, Finding, error, warning
from regard.errors import DataError

BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # the byte order marks of UTF-16
_UNDEFINED = frozenset(b"\x81\x8d\x8f\x90\x9d")  # bytes that WINDOWS-1252 has no character for
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
        self.coding = CodingGuess()
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
        if self.count == 1 and line.startswith(BOM):
            self._bom = True
            line = line[len(BOM) :]
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            self._broken += 1
            self.coding.see_bad(line)
            if len(self._bad) < SHOWN:
                self._bad.append((self.count, line))
            return line.decode("utf-8", "replace")
        self.coding.see_good(line)
        return text

    def findings(self) -> list[Finding]:
        """What was wrong with the file, once it was read to its end."""
        found = (self._unreadable(), self._empty(), self._invalid(), self._marks())
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

    def _invalid(self) -> Finding | None:
        if not self._bad:
            return None
        first = self._bad[0][0]
        shown = () if self.coding.wide else tuple(f"line {number}: {_show_bytes(text)}" for number, text in self._bad)
        lines = "one line that is" if self._broken == 1 else f"{self._broken:,} lines that are"
        return error(
            "invalid-utf8",
            f"expected UTF-8; found {lines} not.",
            f"{self.path}:{first}",
            examples=shown,
            advice=self.coding.advice(),
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
        return warning(
            "line-endings",
            f"the file {' and '.join(odd)}; they are left out on reading.",
            self.path,
            advice="`dos2unix FILE` takes them away.",
        )


class CodingGuess:
    """Guesses the coding of a file that is not UTF-8, from all lines seen: the next may tell what the first did not.

    Letters such as é are the same bytes in ISO-8859-1 and WINDOWS-1252; curly quotes, dashes and the euro sign are in
    WINDOWS-1252 alone, in bytes that ISO-8859-1 has for control characters. So WINDOWS-1252 reads both.
    """

    def __init__(self) -> None:
        self.wide = False  # UTF-16, of which no line can be made sense of
        self._good = self._bad = 0  # lines beyond ASCII that are UTF-8, on the whole at least; those that are not
        self._high: Counter[int] = Counter()  # bytes beyond ASCII in lines that are not UTF-8
        self._ascii = 0

    def see_good(self, line: bytes) -> None:
        """Take a line that is UTF-8."""
        self._good += not line.isascii()

    def see_bad(self, line: bytes) -> None:
        """Take a line that is not."""
        self.wide = self.wide or line.startswith(_WIDE) or b"\0" in line
        letters = [letter for letter in line.decode("utf-8", "replace") if not letter.isascii()]
        damaged = 2 * letters.count("\ufffd") <= len(letters)  # else most of it was never UTF-8
        self._good, self._bad = self._good + damaged, self._bad + (not damaged)
        high = [byte for byte in line if byte >= 0x80]
        self._high.update(high)
        self._ascii += len(line) - len(high)

    def advice(self) -> str:
        """What to do about the file."""
        if self.wide:
            return _convert("It looks like UTF-16", "UTF-16")
        if 10 * self._good > self._bad:  # by chance a few bytes of another coding may look like UTF-8
            return "The rest is UTF-8, and converting the file would spoil it: mend what is not, or take it out."
        if self._high.keys() & _UNDEFINED or self._high.total() > self._ascii:
            return (
                "It is no Western European coding; `file -i FILE` may know which it is, and "
                "`iconv -f CODING -t UTF-8 FILE > NEW` converts it (SHIFT_JIS, GB18030, KOI8-R, WINDOWS-1251 ...)."
            )
        plain = all(byte >= 0xA0 for byte in self._high)
        likely = "ISO-8859-1 or WINDOWS-1252" if plain else "WINDOWS-1252"
        return _convert(f"It looks like {likely}", "WINDOWS-1252")


def _convert(guess: str, coding: str) -> str:
    return f"{guess}: `iconv -f {coding} -t UTF-8 FILE > NEW` converts it."


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
