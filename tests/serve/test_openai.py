"""OpenAI's interface: language models go on, translators and captioners answer, whole or as a stream."""

import json

import pytest
from PIL import Image

from regard.search import Options
from serving import LINES, captioner, client, continuer, picture, spoken, translator


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    models = {"toy": spoken(), "goes-on": continuer(), "describes": captioner(tmp_path_factory.mktemp("captions"))}
    with client(models) as found:
        yield found


def chat(server, model, content, **more):
    told = {"model": model, "messages": [{"role": "user", "content": content}], **more}
    return server.post("/v1/chat/completions", json=told)


def complete(server, model, prompt, **more):
    return server.post("/v1/completions", json={"model": model, "prompt": prompt, **more})


def chunks(answer):
    lines = [line for line in answer.text.split("\n\n") if line]
    assert all(line.startswith("data: ") for line in lines) and lines[-1] == "data: [DONE]", answer.text
    return [json.loads(line[6:]) for line in lines[:-1]]


def test_models(server):
    told = server.get("/v1/models").json()
    assert [each["id"] for each in told["data"]] == ["toy", "goes-on", "describes"]
    assert server.get("/v1/models/goes-on").json() == told["data"][1]
    found = server.get("/v1/models/nix")
    assert found.status_code == 404 and found.json()["error"]["code"] == "model_not_found"


def test_a_translator_answers_the_last_message_of_the_user(server):
    own = translator().translate(LINES[0], nbest=2)
    messages = [
        {"role": "system", "content": "translate"},
        {"role": "user", "content": "ja"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": [{"type": "text", "text": LINES[0]}]},
    ]
    told = {"model": "toy", "messages": messages, "n": 2, "temperature": 0.3}
    found = server.post("/v1/chat/completions", json=told).json()
    assert [each["message"]["content"] for each in found["choices"]] == [each.text for each in own]
    assert found["usage"]["prompt_tokens"] == 5
    assert found["usage"]["total_tokens"] == 5 + found["usage"]["completion_tokens"]
    short = chat(server, "toy", LINES[0], max_tokens=2).json()["choices"][0]
    assert short["finish_reason"] == "length"
    assert short["message"]["content"] == translator().translate(LINES[0], max_length=2).text
    two = chat(server, "toy", f"{LINES[0]}\n{LINES[1]}").json()["choices"][0]["message"]["content"]
    assert two == "\n".join(each.text for each in translator().translate(LINES[:2]))


def test_a_language_model_goes_on(server):
    own = continuer().generate("the man", greedy=True, max_length=7)
    for found in (
        complete(server, "goes-on", "the man", temperature=0, max_tokens=7).json()["choices"][0],
        complete(server, "goes-on", ["the man"], top_p=0, max_tokens=7).json()["choices"][0],
    ):
        assert (found["text"], found["finish_reason"]) == (own.continuation, "length")
    messages = [{"role": "system", "content": "the"}, {"role": "user", "content": "man"}]
    told = {"model": "goes-on", "messages": messages, "temperature": 0, "max_completion_tokens": 7}
    found = server.post("/v1/chat/completions", json=told).json()["choices"][0]
    assert found["message"]["content"] == continuer().generate("the\nman", greedy=True, max_length=7).continuation
    drawn = complete(server, "goes-on", "yes", n=3, seed=7, max_tokens=5, temperature=1.5, top_p=0.9).json()
    own = continuer().generate("yes", draws=3, seed=7, max_length=5, temperature=1.5, top_p=0.9)
    assert [each["text"] for each in drawn["choices"]] == [each.continuation for each in own]
    two = complete(server, "goes-on", ["yes", "the man"], temperature=0, max_tokens=3).json()["choices"]
    assert [each["index"] for each in two] == [0, 1]
    stopped = complete(server, "goes-on", "the man", temperature=0, max_tokens=7, stop="child").json()["choices"][0]
    assert stopped["finish_reason"] == "stop" and "child" not in stopped["text"]


def test_a_captioner_answers_an_image(server, tmp_path_factory):
    own = server.app.state.desk.shelf.entries["describes"].model
    right = own.search([Image.new("RGB", (31, 23), (200, 30, 60))], Options(5, max_length=9))[0][0].text
    content = [{"type": "text", "text": "what is it?"}, {"type": "image_url", "image_url": {"url": picture()}}]
    found = chat(server, "describes", content, max_tokens=9).json()["choices"][0]
    assert found == {"index": 0, "message": {"role": "assistant", "content": right}, "finish_reason": "length",
                     "logprobs": None}  # fmt: skip
    told = chunks(chat(server, "describes", content, max_tokens=9, stream=True))
    assert "".join(each["choices"][0]["delta"].get("content", "") for each in told) == right
    far = [{"type": "image_url", "image_url": {"url": "http://127.0.0.1/x.png"}}]
    assert "not fetched" in chat(server, "describes", far).json()["error"]["message"]
    assert "one image" in chat(server, "describes", "what is it?").json()["error"]["message"]
    assert "no images" in chat(server, "toy", content).json()["error"]["message"]
    assert complete(server, "describes", "x").status_code == 400


def test_streams_say_what_the_whole_would(server):
    own = translator().search([LINES[0], LINES[2]], Options(1, max_length=9))
    told = chunks(chat(server, "toy", f"{LINES[0]}\n\n{LINES[2]}", max_tokens=9, stream=True))
    assert told[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    said = "".join(each["choices"][0]["delta"].get("content", "") for each in told)
    assert said == f"{own[0][0].text}\n\n{own[1][0].text}"
    assert told[-1]["choices"][0]["finish_reason"] in ("stop", "length")
    asked = {"temperature": 0, "max_tokens": 7, "stream": True, "stream_options": {"include_usage": True}}
    told = chunks(complete(server, "goes-on", "the man", **asked))
    right = continuer().generate("the man", greedy=True, max_length=7).continuation
    assert "".join(each["choices"][0]["text"] for each in told[:-1]) == right
    assert told[-2]["choices"][0]["finish_reason"] == "length"
    assert told[-1]["usage"] == {"prompt_tokens": 2, "completion_tokens": 7, "total_tokens": 9}
    text = own[0][0].text
    first, second = text.split()[:2]
    for stop in (second, f"{first[-1]} {second[0]}"):  # also one that begins in one piece and ends in the next
        told = chunks(chat(server, "toy", LINES[0], max_tokens=9, stream=True, stop=[stop, "never"]))
        cut = "".join(each["choices"][0]["delta"].get("content", "") for each in told)
        assert cut == text.partition(stop)[0] != text and told[-1]["choices"][0]["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("path", "told", "said"),
    [
        ("chat/completions", {}, "model"),
        ("chat/completions", {"model": "toy", "messages": []}, "messages"),
        ("chat/completions", {"model": "toy", "messages": [{"role": "assistant", "content": "a"}]}, "of the user"),
        ("chat/completions", {"model": "toy", "messages": [{"role": "user"}], "tools": [{}]}, "tools is not supported"),
        ("completions", {"model": "toy", "prompt": [1, 2]}, "prompt"),
        ("completions", {"model": "toy", "prompt": "ja", "echo": True}, "echo is not supported"),
        ("completions", {"model": "toy", "prompt": ["a", "b"], "stream": True}, "One prompt"),
        ("completions", {"model": "toy", "prompt": "a", "n": 2, "stream": True}, "One text"),
        ("completions", {"model": "goes-on", "prompt": "a", "n": 2, "temperature": 0}, "temperature above 0"),
        ("completions", {"model": "toy", "prompt": " ".join(["ja"] * 501), "stream": True}, "Too long: 501"),
        ("completions", {"model": "toy", "prompt": "\ud800"}, "half a character"),
    ],
)
def test_what_is_wrong_is_told(server, path, told, said):
    found = server.post(f"/v1/{path}", content=json.dumps(told), headers={"content-type": "application/json"})
    assert found.status_code == 400 and said in found.json()["error"]["message"], found.text
    assert set(found.json()["error"]) == {"message", "type", "param", "code"}


def test_keys():
    with client({"toy": spoken()}, keys=(("a", "secret"),)) as keyed:
        assert keyed.get("/v1/models").status_code == 401
        assert keyed.get("/v1/models", headers={"Authorization": "Bearer secret"}).status_code == 200
