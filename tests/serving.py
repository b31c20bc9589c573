"""A server of small models, for the tests that ask it something."""

from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path

import torch
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


@contextmanager
def client(models=None, folders=(), **settings):
    """A client of a server of models, by name, and of folders."""
    app = create_app(Settings(models=tuple(map(Path, folders)), **settings), models or {})
    with TestClient(app, base_url=HOME, raise_server_exceptions=False) as found:
        yield found


def answers(found):
    """What an answer of our own interface holds, of the one input that was asked."""
    assert found.status_code == 200, found.text
    return found.json()["answers"][0]


def spoken(source="de", target="en"):
    """A translator that says which languages it reads and writes; the other way round, another one."""
    found = copy(translator()) if (source, target) == ("de", "en") else copy(turned())
    found.languages = (source, target)
    return found


@cache
def turned():
    """The other direction."""
    torch.manual_seed(17)
    toy = translator()
    made = model(HEADS, len(toy.target), len(toy.source))
    return Translator(made, toy.target, toy.source, name="back")
