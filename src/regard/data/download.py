"""Fetching a corpus: with retries and checksums, into a temporary folder that is renamed when all is there.

Whatever goes wrong, nothing half-written stays behind.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.catalogue import DOWNLOADS, Download, RemoteFile
from regard.data.files import need_space, scratch_folder, settle
from regard.errors import DownloadError, UnknownName, UsageError
from regard.version import __version__

_CHUNK = 1 << 16
_GONE = range(400, 500)  # asking again will not help
_BUSY = (408, 425, 429)  # of these, asking later may

Progress = Callable[[int], None]  # told how many more bytes came; fewer than none when a file starts again


@dataclass(frozen=True)
class Patience:
    """How often and how long to try."""

    attempts: int = 4
    wait: float = 1.0  # seconds before the second attempt; doubled each time
    timeout: float = 30.0  # seconds without a byte


class _Hopeless(Exception):
    """This address will not give the file, however often it is asked."""


def get(
    name: str,
    *,
    out: Path | None = None,
    mirror: str | None = None,
    progress: Progress = lambda _: None,
    patience: Patience | None = None,
) -> Path:
    """Fetch a corpus by its name and return the folder it lies in; files that are there and sound are kept.

    Args:
        name: a name of `DOWNLOADS`.
        out: the folder to put it in; the cache if not given.
        mirror: an address that holds the files as `NAME/FILE`; `$REGARD_MIRROR` if not given.
        progress: called with the number of bytes whenever some have come.
        patience: how often and how long to try.
    """
    if name not in DOWNLOADS:
        raise UnknownName("downloadable corpus", name, DOWNLOADS)
    corpus = DOWNLOADS[name]
    folder = out or corpus.folder()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: expected a folder; found a file.", hint="Choose another --out.")
    addresses = _addresses(corpus, mirror or os.environ.get("REGARD_MIRROR"))
    missing = [file for file in corpus.files if not _is_sound(folder / file.name, file)]
    progress(corpus.size - sum(file.size for file in missing))
    if missing:
        with scratch_folder(folder) as scratch:
            need_space(scratch, 2 * corpus.size)
            for file in missing:
                _fetch_from_any(file, addresses, scratch / file.name, progress, patience or Patience())
            settle(scratch, folder)
    return folder


def _addresses(corpus: Download, mirror: str | None) -> tuple[str, ...]:
    if not mirror:
        return corpus.addresses
    if "://" not in mirror:
        raise UsageError(
            f"expected the address of a mirror; found '{mirror}'.",
            hint=f"Write it with its scheme: https://{mirror} or file://{Path(mirror).absolute()}",
        )
    return (f"{mirror.rstrip('/')}/{corpus.name}",)


def _is_sound(path: Path, file: RemoteFile) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _fetch_from_any(
    file: RemoteFile, addresses: Sequence[str], path: Path, progress: Progress, patience: Patience
) -> None:
    """Try the addresses in turn; if none has the file, say what each of them answered."""
    failures = []
    for address in addresses:
        url = f"{address}/{file.name}"
        try:
            return _fetch_patiently(file, url, path, progress, patience)
        except DownloadError as error:
            failures.append(error.message)
    raise DownloadError(
        "\n  ".join(failures),
        hint="Nothing was kept. Try again later, or name a mirror: --mirror URL (or REGARD_MIRROR).",
    )


def _fetch_patiently(file: RemoteFile, url: str, path: Path, progress: Progress, patience: Patience) -> None:
    """Try one address several times, longer and longer apart."""
    reason = ""
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.wait * 2 ** (attempt - 1))
        come = _Counted(progress)
        try:
            return _fetch(file, url, path, come.add, patience.timeout)
        except _Hopeless as error:
            raise DownloadError(f"{url}: {error}.") from None
        except (OSError, http.client.HTTPException) as error:
            reason = _reason(error)
            progress(-come.total)
    raise DownloadError(f"{url}: {reason} ({patience.attempts} attempts).")


class _Counted:
    """Passes on how many bytes came, and remembers it in case they were in vain."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.total = progress, 0

    def add(self, count: int) -> None:
        """Count some more bytes."""
        self.total += count
        self.progress(count)


def _fetch(file: RemoteFile, url: str, path: Path, progress: Progress, timeout: float) -> None:
    """Fetch a file once. Raises OSError where another attempt may help."""
    request = urllib.request.Request(url, headers={"User-Agent": f"regard/{__version__}"})
    digest, size = hashlib.sha256(), 0
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer, path.open("wb") as out:
            while chunk := answer.read(_CHUNK):
                out.write(chunk)
                digest.update(chunk)
                size += len(chunk)
                progress(len(chunk))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in _GONE and error.code not in _BUSY:
            raise _Hopeless(f"the server answered {error.code} {error.reason}") from None
        raise
    except urllib.error.URLError as error:
        if isinstance(error.reason, FileNotFoundError):  # a mirror in the file system
            raise _Hopeless("there is no such file") from None
        raise
    if size < file.size:
        raise OSError(f"expected {file.size:,} bytes; the connection ended after {size:,}")
    if digest.hexdigest() != file.sha256:
        raise OSError(f"expected the checksum {file.sha256[:12]}…; found {digest.hexdigest()[:12]}…")


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return f"the server could not be reached: {error.reason}"
    return str(error) or type(error).__name__
