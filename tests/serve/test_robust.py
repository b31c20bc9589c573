"""Requests that mean harm: refused with a 4xx, in bounded time and memory, and nothing of them stays."""

import gzip
import io
import json
import tracemalloc
import zlib

import pytest
from PIL import Image

from regard.serve.guard import FORM, VALUES, check_values
from regard.serve.refused import Refused
from serving import captioner, client, continuer, picture, spoken

MEGABYTE = 1 << 20
ROUTES = [
    ("/api/v1/answer", "inputs"),
    ("/api/v1/score", "source"),
    ("/translate", "q"),
    ("/detect", "q"),
    ("/v2/translate", "text"),
    ("/v1/completions", "prompt"),
    ("/v1/chat/completions", "messages"),
    ("/translate?api-version=3.0&to=en", "text"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    models = {"toy": spoken(), "goes-on": continuer(), "describes": captioner(tmp_path_factory.mktemp("captions"))}
    with client(models, body=4 * MEGABYTE, pixels=100_000) as found:
        yield found


def post(server, path, body, kind="application/json", **heads):
    return server.post(path, content=body, headers={"content-type": kind, **heads})


@pytest.mark.parametrize(("path", "field"), ROUTES)
def test_bodies_that_would_become_millions_of_values(server, path, field):
    count = (4 * MEGABYTE - 100) // 3
    name = field.encode()
    tracemalloc.start()
    for body in (
        b'{"%s":[' % name + b"{}," * (count - 1) + b"{}]}",
        b'{"%s":' % name + b"[" * count,
        b"[" + b"[]," * (count - 1) + b"[]]",
        b'{"%s":[' % name + b"1," * (VALUES - 10) + b"1]}",
        b"{" + b",".join(b'"%x":1' % number for number in range(VALUES - 10)) + b"}",
        b'{"%s":"' % name + b"\\u0061" * 600_000 + b'"}',
        b'{"%s":%s}' % (name, b"7" * 3 * MEGABYTE),
        b'{"%s":"%s"}' % (name, b"ja " * MEGABYTE),
    ):
        found = post(server, path, body)
        read = path == "/detect" and b"ja" in body  # the beginning alone is looked at
        assert 400 <= found.status_code < 500 or read, found.text
        assert len(found.content) < 2000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * MEGABYTE, f"{peak / MEGABYTE:.0f} MiB"


def test_commas_within_texts_are_no_values():
    within = [
        b'{"q":"' + b"a, {b} [c]," * VALUES + b'"}',
        b'["\\"' + b",\\\\" * VALUES + b'\\"", ","]',
        b"[" + b"1," * (VALUES - 9),
    ]
    within.append(b'["' + b'\\",' * 3 * VALUES + b'"]')
    for body in within:
        check_values("application/json", body)
    beyond = [
        b'["' + b'","' * VALUES,
        b'["\\"' + b'",\\"' * VALUES,
        b'["a,b"' + b',"a,b"' * VALUES + b"]",
        b'"' + b',"' * 9 * VALUES,
    ]
    beyond.append(b'"," ' * 4 * VALUES)  # many short texts take long to find
    for body in beyond:
        with pytest.raises(Refused, match="too many values"):
            check_values("application/json", body)


def test_bodies_that_are_not_what_they_say(server):
    packed = gzip.compress(b" " * 64 * MEGABYTE)
    for kind, raw in (
        ("gzip", packed),
        ("deflate", zlib.compress(b" " * MEGABYTE)),
        ("br", b"x"),
        ("gzip, gzip", b"x"),
    ):
        assert post(server, "/translate", raw, **{"content-encoding": kind}).status_code == 415
        assert post(server, "/v1/completions", raw, **{"content-encoding": kind}).status_code == 415
    assert post(server, "/translate", b"x" * (5 * MEGABYTE)).status_code == 413
    assert post(server, "/translate", iter([b"x" * MEGABYTE] * 5)).status_code == 413  # without a length
    form = "application/x-www-form-urlencoded"
    assert post(server, "/translate", b"q=" + b"%41" * FORM, form).status_code == 413
    for text in (b'{"inputs": "\xff"}', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{"):
        assert 400 <= post(server, "/api/v1/answer", text).status_code < 500
    for half in (
        '{"inputs": "\\ud800"}',
        '{"inputs": "ja", "prefix": "\\udfff"}',
        '{"inputs": "ja", "model": "\\ud800"}',
    ):
        assert 400 <= post(server, "/api/v1/answer", half).status_code < 500


@pytest.mark.parametrize("path", ["answer", "score", "align", "look", "stream"])
def test_halves_of_characters(server, path):
    for half in (
        {},
        {"output": "\ud800"},
        {"target": ["\ud800"], "source": ["ja"]},
        {"target": "ja", "source": "\ud800"},
    ):
        name = "inputs" if path == "answer" else "input"
        told = half if "source" in half else {name: "ja\ud800"} | half
        assert post(server, f"/api/v1/{path}", json.dumps(told)).status_code == 422


def test_pins_without_end(server):
    shares = {str(number): "x" for number in range(20_000)}
    found = post(server, "/api/v1/answer", json.dumps({"inputs": "ja", "pins": [{"step": 0, "shares": shares}]}))
    assert found.status_code == 422 and "positions" in found.text


def test_documents_without_end(server):
    told = {"source": "de", "target": "en", "format": "html"}
    for text, said in (("<b>" * 60_000, "tags"), ("x" * 1_000_001, "characters")):
        found = post(server, "/translate", json.dumps(told | {"q": text}))
        assert found.status_code == 400 and said in found.json()["error"]
    nested = "<b>" * 10_000 + "ja" + "</b>" * 10_000
    assert post(server, "/translate", json.dumps(told | {"q": nested})).status_code == 200


def image(server, raw):
    return server.post("/api/v1/image", files={"file": ("x.png", raw)}, data={"model": "describes", "beam": "1"})


def test_images_that_mean_harm(server):
    def made(size, kind, **more):
        file = io.BytesIO()
        Image.new("L", size).save(file, kind, **more)
        return file.getvalue()

    bomb = made((9_000, 3_000), "PNG")  # 27 million pixels in 26 kilobytes
    whole = made((31, 23), "JPEG")
    broken = (
        b"",
        b"GIF89a",
        whole[:200],
        bomb[:5000],
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 99,
        b"<svg/>",
        b"%PDF-1.4",
        b"x",
    )
    tracemalloc.start()
    assert image(server, bomb).status_code == 413
    for raw in broken:
        found = image(server, raw)
        assert found.status_code in (400, 413, 422), (raw[:20], found.text)
    assert tracemalloc.get_traced_memory()[1] < 100 * MEGABYTE
    tracemalloc.stop()
    frames = [Image.new("L", (31, 23), number) for number in range(50)]
    assert image(server, made((31, 23), "GIF", save_all=True, append_images=frames)).status_code == 200
    many = {"model": "describes", "inputs": ["data:image/png;base64,AAAA"]}
    assert post(server, "/api/v1/answer", json.dumps(many)).status_code == 400
    for told in ("file:///etc/passwd", "http://127.0.0.1/", "data:image/png;base64,*", "data:text/html,x", ""):
        assert post(server, "/api/v1/answer", json.dumps(many | {"inputs": [told]})).status_code == 400
    together = many | {"inputs": [picture()] * 128, "beam": 1, "max_length": 2}  # 31 x 23 pixels each, 91,264 in all
    assert post(server, "/api/v1/answer", json.dumps(together)).status_code == 200
    more = together | {"inputs": [picture(size=(40, 40))] * 100}
    found = post(server, "/api/v1/answer", json.dumps(more))
    assert found.status_code == 413 and "in all" in found.text
    assert server.app.state.desk.pixels == 0  # what was held is free again


@pytest.mark.parametrize("path", ["/studio/../app.py", "/studio/%2e%2e/app.py", "/figures/..%2f..%2fserve%2fapp.py",
                                  "/studio//etc/passwd", "/studio/%00", "/figures/" + "a" * 5000])  # fmt: skip
def test_no_file_outside_of_the_pages_is_handed_out(server, path):
    assert server.get(path).status_code == 404


def test_hosts_origins_and_methods(server):
    told = {"json": {"inputs": "ja"}}
    assert server.post("/api/v1/answer", headers={"host": "evil.example"}, **told).status_code == 400
    assert server.post("/api/v1/answer", headers={"origin": "https://evil.example"}, **told).status_code == 403
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "GET"):
        assert server.request(method, "/translate").status_code == 405
    assert server.get("/nix").status_code == 404
