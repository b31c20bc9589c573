"""Fetching corpora from a server on the loopback: good, broken in every way, interrupted."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from regard.data import download
from regard.data.catalogue import DOWNLOADS, Download, RemoteFile, entries
from regard.data.corpus import Corpus
from regard.data.download import Patience, get
from regard.errors import DownloadError, UnknownName, UsageError

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"

CONTENT = {
    f"{split}.{language}.gz": gzip.compress(f"{split} in {language}\n".encode() * 11, mtime=0)
    for split in ("train", "val", "test")
    for language in ("de", "en")
}
IMPATIENT = Patience(attempts=3, wait=0.0, timeout=5.0)


class Server(ThreadingHTTPServer):
    """Serves CONTENT; `faults` says what goes wrong with a file, and how often."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.faults: dict[str, tuple[str, int]] = {}
        self.asked: Counter[str] = Counter()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answer(BaseHTTPRequestHandler):
    """One answer of the server, sound or not."""

    server: Server

    def do_GET(self) -> None:
        name = self.path.rsplit("/", 1)[-1]
        self.server.asked[name] += 1
        body = CONTENT.get(name, b"")
        fault, times = self.server.faults.get(name, ("", 0))
        if self.server.asked[name] > times:
            fault = ""
        if fault in ("404", "403", "500", "429") or not body:
            self.send_error(int(fault or 404))
            return
        self.send_response(200)
        if fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        sent = {"truncated": body[:20], "no length": body[:20], "changed": body[:-1] + b"!"}.get(fault, body)
        self.wfile.write(sent)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture
def corpus(server: Server, monkeypatch: pytest.MonkeyPatch) -> Download:
    files = tuple(RemoteFile(name, len(body), hashlib.sha256(body).hexdigest()) for name, body in CONTENT.items())
    made = Download("tiny", "a few lines", ("de", "en"), 11, (server.address,), files, "none")
    monkeypatch.setitem(DOWNLOADS, "tiny", made)
    monkeypatch.delenv("REGARD_MIRROR", raising=False)
    return made


def everything(folder: Path) -> list[str]:
    """Every file and folder below, hidden ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_all_goes_well(corpus, tmp_path):
    seen: list[int] = []
    folder = get("tiny", out=tmp_path / "tiny", progress=seen.append, patience=IMPATIENT)
    assert folder == tmp_path / "tiny"
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert sum(seen) == corpus.size
    assert everything(tmp_path) == sorted(["tiny", *(f"tiny/{name}" for name in CONTENT)])


def test_a_fetched_corpus_opens_by_its_name(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    assert entries()[-1].where == "regard data get tiny"
    get("tiny", patience=IMPATIENT)
    assert entries()[-1].where == str(tmp_path / "data" / "tiny")
    opened = Corpus.open("tiny", source="de", target="en")
    assert {split: len(rows) for split, rows in opened.splits.items()} == {"train": 11, "val": 11, "test": 11}


def test_what_is_there_and_sound_is_not_fetched_again(corpus, server, tmp_path):
    folder = tmp_path / "tiny"
    get("tiny", out=folder, patience=IMPATIENT)
    (folder / "val.de.gz").write_bytes(b"broken")
    (folder / "mine.txt").write_text("kept")
    server.asked.clear()
    seen: list[int] = []
    get("tiny", out=folder, progress=seen.append, patience=IMPATIENT)
    assert server.asked == {"val.de.gz": 1}
    assert sum(seen) == corpus.size
    assert (folder / "val.de.gz").read_bytes() == CONTENT["val.de.gz"]
    assert everything(tmp_path) == sorted(["tiny", "tiny/mine.txt", *(f"tiny/{name}" for name in CONTENT)])


@pytest.mark.parametrize("fault", ["truncated", "no length", "changed", "500", "429"])
def test_a_passing_fault_is_overcome(fault, corpus, server, tmp_path):
    server.faults["val.en.gz"] = (fault, 2)
    seen: list[int] = []
    folder = get("tiny", out=tmp_path / "tiny", progress=seen.append, patience=IMPATIENT)
    assert server.asked["val.en.gz"] == 3
    assert (folder / "val.en.gz").read_bytes() == CONTENT["val.en.gz"]
    assert sum(seen) == corpus.size  # what came in vain was taken back


@pytest.mark.parametrize(
    ("fault", "words", "asked"),
    [
        ("truncated", r"(IncompleteRead|the connection ended after 20|bytes)", 3),
        ("no length", r"expected \d+ bytes; the connection ended after 20 \(3 attempts\)", 3),
        ("changed", r"expected the checksum [0-9a-f]{12}…; found [0-9a-f]{12}… \(3 attempts\)", 3),
        ("500", r"the server answered 500 Internal Server Error \(3 attempts\)", 3),
        ("404", r"the server answered 404 Not Found\.", 1),
        ("403", r"the server answered 403 Forbidden\.", 1),
    ],
)
def test_a_lasting_fault_leaves_nothing_behind(fault, words, asked, corpus, server, tmp_path):
    server.faults["val.en.gz"] = (fault, 99)
    with pytest.raises(DownloadError, match=f"{server.address}/val.en.gz: .*{words}") as caught:
        get("tiny", out=tmp_path / "tiny", patience=IMPATIENT)
    assert "Nothing was kept. Try again later, or name a mirror: --mirror URL" in str(caught.value)
    assert server.asked["val.en.gz"] == asked
    assert everything(tmp_path) == []


def test_no_server(corpus, tmp_path):
    with pytest.raises(DownloadError, match=r"127.0.0.1:1/tiny/.*: the server could not be reached: .*refused"):
        get("tiny", out=tmp_path / "tiny", mirror="http://127.0.0.1:1", patience=IMPATIENT)
    assert everything(tmp_path) == []


def test_interrupted(corpus, tmp_path):
    def interrupt(count: int) -> None:
        if count:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get("tiny", out=tmp_path / "tiny", progress=interrupt, patience=IMPATIENT)
    assert everything(tmp_path) == []


def test_interrupted_with_an_old_copy_there(corpus, tmp_path):
    folder = get("tiny", out=tmp_path / "tiny", patience=IMPATIENT)
    (folder / "train.de.gz").write_bytes(b"old")
    (folder / "val.de.gz").write_bytes(b"old")
    calls: list[int] = []

    def interrupt(count: int) -> None:
        calls.append(count)
        if len(calls) == 3:  # one whole file came, the second is on its way
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get("tiny", out=folder, progress=interrupt, patience=IMPATIENT)
    assert (folder / "train.de.gz").read_bytes() == b"old"
    assert everything(tmp_path) == sorted(["tiny", *(f"tiny/{name}" for name in CONTENT)])


def test_waits_longer_and_longer(corpus, server, tmp_path, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(download.time, "sleep", waits.append)
    server.faults["train.de.gz"] = ("500", 99)
    with pytest.raises(DownloadError):
        get("tiny", out=tmp_path / "tiny", patience=Patience(attempts=4, wait=1.0))
    assert waits == [1.0, 2.0, 4.0]


def test_the_second_address_is_tried(corpus, server, tmp_path, monkeypatch):
    bad = "http://127.0.0.1:1"
    twice = Download(corpus.name, corpus.about, corpus.languages, 11, (bad, server.address), corpus.files, corpus.terms)
    monkeypatch.setitem(DOWNLOADS, "tiny", twice)
    folder = get("tiny", out=tmp_path / "tiny", patience=IMPATIENT)
    assert (folder / "test.en.gz").read_bytes() == CONTENT["test.en.gz"]


@pytest.mark.parametrize("by", ["option", "environment"])
def test_a_mirror_takes_the_place_of_the_addresses(by, corpus, server, tmp_path, monkeypatch):
    nowhere = Download(
        corpus.name, corpus.about, corpus.languages, 11, ("http://127.0.0.1:1",), corpus.files, corpus.terms
    )
    monkeypatch.setitem(DOWNLOADS, "tiny", nowhere)
    mirror = f"{server.address}/copies/"
    if by == "environment":
        monkeypatch.setenv("REGARD_MIRROR", mirror)
    get("tiny", out=tmp_path / "tiny", mirror=mirror if by == "option" else None, patience=IMPATIENT)
    assert len(server.asked) == len(CONTENT)


def test_asked_wrongly(corpus, tmp_path):
    with pytest.raises(UnknownName, match=r"no downloadable corpus is called 'tony'.*\n  Did you mean 'tiny'\?"):
        get("tony", out=tmp_path / "tiny")
    with pytest.raises(UsageError, match=r"expected the address of a mirror; found 'example.org'"):
        get("tiny", out=tmp_path / "tiny", mirror="example.org")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="expected a folder; found a file"):
        get("tiny", out=tmp_path / "file")


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is not there")
def test_the_checksums_of_multi30k(tmp_path, monkeypatch):
    folder = get("multi30k", out=tmp_path / "multi30k", mirror=SHARED.as_uri(), patience=IMPATIENT)
    assert len(list(folder.iterdir())) == 12
