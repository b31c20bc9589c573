"""A server of small models, for the tests that ask it something."""

import threading
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch
import uvicorn
from starlette.testclient import TestClient

from regard.data.tokenizer import Tokenizer
from regard.serve import Settings, create_app
from regard.translate.translator import Translator
from small import model, overrides

HOME = "http://127.0.0.1"
LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch"]
OTHERS = ["the man reads a book", "yes", "the woman and the child read a book"]
HEADS = [
    *("encode.part=transformer", "encode.layers=3", "encode.feed=13", "encode.attend.heads=4"),
    *("attend.part=heads", "attend.heads=4", *overrides("predict", "transformer")),
]


@cache
def translator(decoder="transformer"):
    """One that was never trained: what it writes is the same each time, and that is all that is asked of it here."""
    torch.manual_seed(13)
    source = Tokenizer.train(LINES * 9, kind="words", size=300)
    target = Tokenizer.train(OTHERS * 9, kind="words", size=300)
    parts = HEADS if decoder == "transformer" else overrides("predict", decoder)
    return Translator(model(parts, len(source), len(target)), source, target, name="toy")


@cache
def pieces_translator():
    """One whose words are cut into pieces."""
    torch.manual_seed(17)
    lines = ["weiterlesende frauen lesen", "lesende kinder", "ein weiteres buch"]
    source = Tokenizer.train(lines * 9, kind="bpe", size=290)
    target = Tokenizer.train(["reading women read on", "a further book"] * 9, kind="bpe", size=290)
    return Translator(model(HEADS, len(source), len(target)), source, target, name="pieces")


@contextmanager
def client(models=None, folders=(), **settings):
    """A client of a server of models, by name, and of folders."""
    app = create_app(Settings(models=tuple(map(Path, folders)), **settings), models or {})
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as found:
        yield found


@contextmanager
def running(models=None, folders=(), port=0, **settings):
    """A real server in a thread, for a browser: its address."""
    app = create_app(Settings(models=tuple(map(Path, folders)), **settings), models or {})
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def answers(found):
    """What an answer of our own interface holds, of the one input that was asked."""
    assert found.status_code == 200, found.text
    return found.json()["answers"][0]
