"""A server of small models, for the tests that ask it something."""

import base64
import io
from contextlib import contextmanager
from copy import copy
from functools import cache
from pathlib import Path
from threading import Thread
from time import sleep
from types import SimpleNamespace

import torch
import uvicorn
from PIL import Image
from starlette.testclient import TestClient

from answering import CAPTIONS
from regard.data.languages import languages_text
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE, Tokenizer
from regard.model import save
from regard.recipe import resolve
from regard.recipe.resolve import Recipe
from regard.serve import Settings, create_app
from regard.serve.start import options
from regard.tasks.captioner import Captioner
from regard.tasks.language_model import LanguageModel
from regard.translate.translator import Translator
from small import model, overrides, smaller

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
    found = copy(turned() if source == "en" else translator())
    found.languages = (source, target)
    return found


def slow(seconds=0.3):
    """A translator that takes its time; `asked` are the lines of each batch."""
    found, own = copy(spoken()), translator().search
    found.asked = []

    def search(lines, options, **more):
        found.asked.append(list(lines))
        sleep(seconds)
        return own(lines, options, **more)

    found.search = search
    return found


def saved(folder, languages=("de", "en")):
    """The folder of a translator."""
    toy = translator()
    files = {SOURCE_FILE: toy.source.backend.to_str(), TARGET_FILE: toy.target.backend.to_str()}
    save(toy.model, folder, files | {"languages.json": languages_text(*languages)})
    return folder


@cache
def turned():
    """The other direction."""
    torch.manual_seed(17)
    toy = translator()
    made = model(HEADS, len(toy.target), len(toy.source))
    return Translator(made, toy.target, toy.source, name="back")


@cache
def continuer():
    """A language model that has learnt nothing."""
    torch.manual_seed(2)
    asked, tokenizer = resolve("lstm-lm"), Tokenizer.train(OTHERS * 9, kind="spaced")
    small = Recipe(asked.about, smaller(asked.model, {"width": 13, "hidden": 17}), asked.train, asked.task)
    return LanguageModel(small.build(0, len(tokenizer)), Nothing("source"), Text.of(tokenizer, "target"), "goes-on")


@cache
def captioner(folder):
    """One that has learnt nothing, from the recipe that other tests train."""
    torch.manual_seed(23)
    path = Path(folder) / "captions.toml"
    path.write_text(CAPTIONS, encoding="utf-8")
    asked, tokenizer = resolve(path), Tokenizer.train(OTHERS * 9, kind="words", size=300)
    source = asked.task().source("source")
    return Captioner(asked.build(3, len(tokenizer)), source, Text.of(tokenizer, "target"), "describes")


def picture(colour=(200, 30, 60), size=(31, 23)):
    """An image as a data URI."""
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


@contextmanager
def running(models, **settings):
    """A server that listens on a port of its own: its address and what is behind it."""
    asked = Settings(models=(), port=0, **settings)
    app = create_app(asked, models)
    server = uvicorn.Server(uvicorn.Config(app, **options(asked)))
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield SimpleNamespace(address=f"http://127.0.0.1:{port}", port=port, desk=app.state.desk)
    finally:
        server.should_exit = True
        thread.join()
