"""Models of tasks that the server was not written for: asked where inputs can be sent, else refused and listed."""

import base64
from importlib import import_module

import pytest

import regard
from frame.gan import register
from frame.test_contributing import block, corpus
from frame.test_contributing import recipe as recipe  # a fixture
from frame.test_gan import _own_parts as _own_parts
from frame.test_gan import setup
from regard.data.drawn import save_image
from regard.data.formulas import draw_image
from regard.errors import UsageError
from regard.registry import names
from regard.serve.manner import goal_opened_as, manner_of
from regard.serve.shelf import Shelf
from regard.tasks.job import silent
from regard.tasks.language_model import LanguageModel
from regard.tasks.setup import set_up
from regard.tasks.using import Answerer
from regard.translate.translator import Translator
from serving import LINES, answers, client, saved, spoken

UNKNOWN = '[task]\nverb = "divine"\nsource = "image"\ntarget = "image"\ngoal = "divination"\n'
PROTOCOLS = {
    "/api/v1/answer": ({"inputs": "ja", "model": "seer"}, lambda told: told["error"]["message"]),
    "/api/v1/score": ({"source": "a", "target": "b", "model": "seer"}, lambda told: told["error"]["message"]),
    "/api/v1/align": ({"source": "a", "target": "b", "model": "seer"}, lambda told: told["error"]["message"]),
    "/api/v1/look": ({"input": "a", "model": "seer"}, lambda told: told["error"]["message"]),
    "/api/v1/stream": ({"input": "a", "model": "seer"}, lambda told: told["error"]["message"]),
    "/v1/completions": ({"prompt": "a", "model": "seer"}, lambda told: told["error"]["message"]),
    "/v1/chat/completions": (
        {"messages": [{"role": "user", "content": "a"}], "model": "seer"},
        lambda told: told["error"]["message"],
    ),
}


@pytest.fixture
def seer(tmp_path):
    """The folder of a model whose goal is not there."""
    folder = tmp_path / "seer"
    folder.mkdir()
    (folder / "recipe.toml").write_text(UNKNOWN)
    return folder


def test_a_model_of_an_unknown_task_is_listed_and_refused_in_the_clients_shape(seer, tmp_path, caplog):
    with client(folders=[seer, saved(tmp_path / "de-en")], engine="torch") as server:
        first, second = server.get("/api/v1/models").json()["models"]
        assert (first["id"], first["task"], first["can"]) == ("seer", "divine", [])
        assert "divine" in first["problem"] and "'divination'" in first["problem"] and second["problem"] is None
        for path, (body, told) in PROTOCOLS.items():
            found = server.post(path, json=body)
            assert found.status_code == 400, (path, found.text)
            assert told(found.json()).startswith("seer is not answered for. It was made to divine, with a goal")
        image = server.post("/api/v1/image", files={"file": ("x.png", b"x")}, data={"model": "seer"})
        assert image.status_code == 400 and "divination" in image.text
        assert [each["id"] for each in server.get("/v1/models").json()["data"]] == ["de-en"]
        assert server.post("/api/v1/answer", json={"inputs": LINES[0]}).json()["model"] == "de-en"
        assert server.post("/translate", json={"q": "ja", "source": "de", "target": "en"}).status_code == 200
        assert server.get("/health/ready").status_code == 200
        assert server.get("/api/v1/models/seer/card").status_code == 200
    assert [each.message for each in caplog.records if "seer is not answered for" in each.message]


def test_a_server_of_such_models_alone_does_not_begin(seer):
    with pytest.raises(UsageError, match="seer: It was made to divine"):
        Shelf.of([seer])


def test_what_writes_of_something_that_cannot_be_sent_is_no_translator(seer, tmp_path):
    (seer / "recipe.toml").write_text('[task]\nverb = "answer"\nsource = "episodes"\n')
    with client({"toy": spoken()}, [seer]) as server:
        assert server.get("/api/v1/models/seer").json()["goal"] == "write"
        assert [each["id"] for each in server.get("/v1/models").json()["data"]] == ["toy"]
        found = server.post("/v1/completions", json={"prompt": "a", "model": "seer"})
        assert found.status_code == 400 and "a side 'episodes'" in found.json()["error"]["message"]
        assert [each["code"] for each in server.get("/languages").json()] == ["de", "en"]


def test_a_first_model_that_cannot_be_opened_is_told_of(tmp_path, caplog):
    folder = saved(tmp_path / "de-en")
    (folder / "weights.safetensors").write_bytes(b"")
    with client(folders=[folder], engine="torch") as server:
        server.post("/translate", json={"q": "ja", "source": "de", "target": "en"})
        assert server.get("/health/ready").status_code == 503
    assert [each for each in caplog.records if "de-en cannot be opened" in each.message]


@pytest.mark.usefixtures("unchecked")
def test_a_goal_without_an_object_of_its_own_is_answered_in_text(recipe):
    made = set_up(recipe, corpus(), None, 5, silent)
    counter = Answerer(made.model, made.parts)
    (right,) = counter.answer(["a b a"])
    with client({"toy": spoken(), "counter": counter}) as server:
        (told,) = answers(server.post("/api/v1/answer", json={"inputs": "a b a", "model": "counter"}))
        assert told == {"text": right.text}
        listed = server.get("/api/v1/models/counter").json()
        assert (listed["task"], listed["goal"], listed["reads"], listed["can"]) == ("count", "regress", "text", [])
        many = server.post("/api/v1/answer", json={"inputs": " ".join(["a"] * 501), "model": "counter"})
        assert many.status_code == 400 and "Too long: 501 tokens" in many.text
        for path in ("look", "stream"):
            found = server.post(f"/api/v1/{path}", json={"input": "a", "model": "counter"})
            assert found.status_code == 400 and "counter" in found.json()["error"]["message"]
        pair = {"source": "a", "target": "b", "model": "counter"}
        assert server.post("/api/v1/score", json=pair).status_code == 400
        found = server.post("/v1/completions", json={"prompt": "a", "model": "counter"})
        assert found.status_code == 400 and "made to count" in found.json()["error"]["message"]


def test_what_draws_from_nothing_is_not_asked(tmp_path):
    register()
    model, parts = drawing()
    with client({"toy": spoken(), "sampler": Answerer(model, parts)}) as server:
        found = server.post("/api/v1/answer", json={"inputs": "a", "model": "sampler"})
        assert found.status_code == 400 and "made to sample and reads nothing" in found.json()["error"]["message"]
        assert server.get("/api/v1/models").json()["models"][1]["problem"]


def drawing():
    """A generator that has learnt nothing, and its task."""
    made = setup()
    return made.model, made.parts


def test_what_reads_a_side_of_its_own_is_told_by_its_name():
    assert manner_of("write", "formula", "latex").reads == "image"
    assert manner_of("fill", "segments", "fill") == manner_of("fill", "segments", "fill")
    assert not manner_of("fill", "segments", "fill").problem
    assert "reads 'label', neither texts nor images" in manner_of("classify", "label", "classify").problem
    assert "a side 'episodes'" in manner_of("classify", "episodes", "classify").problem


def test_a_reader_of_formulas_takes_images(tmp_path):
    settings = ("encode.features=8", "encode.hidden=8", "predict.hidden=8", "train.tensorboard=false")
    out = tmp_path / "latex"
    regard.train("latex", data="formulas-short", size=11, out=out, steps=1, settings=settings)
    path = tmp_path / "one.png"
    save_image(draw_image("a + x"), path)
    uri = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
    with client(folders=[out]) as server:
        listed = server.get("/api/v1/models/latex").json()
        assert (listed["reads"], listed["task"]) == ("image", "latex")
        (told,) = answers(server.post("/api/v1/answer", json={"inputs": uri, "beam": 1, "max_length": 5}))
        assert "latex" in told
        assert server.post("/api/v1/answer", json={"inputs": "a + x"}).status_code == 400


def test_an_open_model_has_the_goal_that_names_its_class():
    for goal, aim in names("goal").items():
        module, _, kind = getattr(aim, "opens", "").partition(":")
        if module:
            assert goal_opened_as(getattr(import_module(module), kind)) == goal
    assert goal_opened_as(Translator) == goal_opened_as(LanguageModel) == "write" == goal_opened_as(dict)


def test_the_example_is_there():
    assert "class Regress" in block("python")
