"""LibreTranslate's interface: every way its clients write a request, and what each awaits."""

import json
import os
import re

import pytest
import torch

from regard.data.letters import FILE, letters_text
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE
from regard.search import Options
from regard.serve.files import KEPT
from serving import LINES, OTHERS, client, saved, spoken, translator


@pytest.fixture(scope="module")
def server():
    with client({"toy": spoken(), "back": spoken("en", "de")}) as found:
        yield found


@pytest.fixture(scope="module")
def expected():
    return [best[0].text for best in translator().search(LINES, Options(5))]


def translate(server, **told):
    return server.post("/translate", json={"source": "de", "target": "en", **told})


def test_one_text_and_many_in_json_form_and_query(server, expected):
    told = {"q": LINES[0], "source": "de", "target": "en"}
    for answer in (
        server.post("/translate", json=told | {"api_key": "", "format": "text"}),
        server.post("/translate", data=told),
        server.post("/translate", params=told),
        server.post("/translate", files={"x": ("x", b"")}, data=told),
        server.post("/translate", json=told | {"source": "deu", "target": "English"}),
    ):
        assert answer.json() == {"translatedText": expected[0]}, answer.text
    assert translate(server, q=LINES).json() == {"translatedText": expected}
    assert server.post("/translate", data=told | {"q": LINES}).json() == {"translatedText": expected}
    assert translate(server, q=[]).json() == {"translatedText": []}


def test_a_text_of_many_lines_keeps_its_lines(server, expected):
    text = f"\n{LINES[0]}\r\n  \n{LINES[1]}\n"
    assert translate(server, q=text).json() == {"translatedText": f"\n{expected[0]}\r\n  \n{expected[1]}\n"}
    assert translate(server, q="").json() == {"translatedText": ""}


def test_html_keeps_its_markup(server, expected):
    html = f"<p class=a>{LINES[0]}<br/>{LINES[1]}</p><code>ja</code>"
    found = translate(server, q=html, format="html").json()["translatedText"]
    assert found == f"<p class=a>{expected[0]}<br/>{expected[1]}</p><code>ja</code>"
    found = translate(server, q="der <b id=x>mann</b> liest", format="html").json()["translatedText"]
    assert re.search(r"<b id=x>.*</b>", found)
    own = translator().translate("der mann liest").text
    assert re.sub("<.*?>", "", found).split() == own.split()


def test_what_was_looked_at_is_told_if_it_is_asked(server):
    own = translator().translate(LINES[0], nbest=3)
    found = translate(server, q=LINES[0], alternatives=2, alignment=True, attention=True, scores=True).json()
    assert [found["translatedText"], *found["alternatives"]] == [each.text for each in own]
    assert found["alignment"]["pharaoh"] == own[0].alignment.pharaoh()
    sides = found["tokens"]["source"], found["tokens"]["target"]
    ours, theirs = LINES[0], found["translatedText"]
    links = [(sides[0]["words"][s], sides[1]["words"][t]) for s, t in own[0].alignment.links()]
    assert [(ours[slice(*a)], theirs[slice(*b)]) for a, b in found["alignment"]["spans"]] == links
    assert torch.allclose(torch.tensor(found["attention"][1]), own[0].attention[1], atol=1e-5)
    assert found["scores"]["score"] == pytest.approx(own[0].score, abs=1e-4)
    many = translate(server, q=LINES[:2], alternatives=1, alignment=True).json()
    assert [len(each) for each in many.values()] == [2] * 4
    assert many["alternatives"][0] == found["alternatives"][:1]


def test_links_of_many_lines_count_through_the_text(server):
    found = translate(server, q=f"{LINES[0]}\n{LINES[2]}", alignment=True).json()
    own = translator().translate([LINES[0], LINES[2]])
    words = len(LINES[0].split()), len(own[0].alignment.target) - 1
    later = [f"{s + words[0]}-{t + words[1]}" for s, t in own[1].alignment.links()]
    assert found["alignment"]["pharaoh"] == " ".join([own[0].alignment.pharaoh(), *later]).strip()
    ours, theirs = f"{LINES[0]}\n{LINES[2]}", found["translatedText"]
    words = [(ours[slice(*a)], theirs[slice(*b)]) for a, b in found["alignment"]["spans"]]
    sides = [(each.alignment.source, each.alignment.target, each.alignment.links()) for each in own]
    assert words == [(source[s], target[t]) for source, target, links in sides for s, t in links]
    assert all(links for _, _, links in sides)


def test_languages_and_settings(server):
    assert server.get("/languages").json() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de"]},
    ]
    told = server.get("/frontend/settings").json()
    assert told["language"]["source"] == {"code": "de", "name": "German"} and not told["keyRequired"]
    assert server.get("/health").json() == {"status": "ok"}


def test_languages_are_detected_where_tokenizers_tell_them_apart(server, expected):
    found = server.post("/detect", data={"q": "der mann liest"}).json()
    assert [each["language"] for each in found] == ["de", "en"] and found[0]["confidence"] > 90
    assert [one[0]["language"] for one in server.post("/detect", json={"q": ["ja", "yes the man"]}).json()] == [
        "de",
        "en",
    ]
    told = translate(server, q=LINES[0], source="auto").json()
    assert told["translatedText"] == expected[0]
    assert told["detectedLanguage"]["language"] == "de" and told["detectedLanguage"]["confidence"] > 90
    for strange in ("12 34", "", "Я не знаю", "quelqu'un"):
        refused = server.post("/detect", json={"q": strange})
        assert refused.status_code == 400 and "cannot be told" in refused.json()["error"]


def joint(folder, letters=True):
    """The folder of a translator whose languages share a tokenizer."""
    saved(folder)
    for name in (SOURCE_FILE, TARGET_FILE):
        (folder / name).write_text(translator().source.backend.to_str())
    if letters:
        (folder / FILE).write_text(letters_text("de", "en", (LINES, OTHERS)))
    return folder


def test_languages_that_share_a_tokenizer_are_told_by_their_letters(tmp_path):
    with client(folders=[joint(tmp_path / "with")]) as server:
        found = server.post("/detect", json={"q": ["der mann liest", "the man reads", "yes"]}).json()
        assert [one[0]["language"] for one in found] == ["de", "en", "en"] and found[0][0]["confidence"] > 90
        assert sum(each["confidence"] for each in found[2]) == pytest.approx(100, abs=0.2)
        for strange in ("12 34", "Я не знаю"):
            refused = server.post("/detect", json={"q": strange})
            assert refused.status_code == 400 and "nothing in the text" in refused.json()["error"]
    with client(folders=[joint(tmp_path / "without", False)]) as server:
        refused = server.post("/detect", json={"q": "der mann liest"})
        assert refused.status_code == 400 and "share one tokenizer" in refused.json()["error"]


def test_one_model_without_letters_leaves_it_to_the_tokenizers(tmp_path):
    with client(folders=[joint(tmp_path / "with"), saved(tmp_path / "without")]) as server:
        found = server.post("/detect", json={"q": "der mann liest"}).json()
        assert found[0]["language"] == "de" and server.app.state.desk.detector.sharpness == 0.1


def test_a_language_that_cannot_be_told_is_not_guessed():
    with client({"a": spoken("de", "Elvish"), "b": spoken("en", "Elvish")}) as server:
        asked = {"q": "12", "source": "auto", "target": "Elvish"}
        refused = server.post("/translate", json=asked)
        assert refused.status_code == 400 and "name one of" in refused.json()["error"]
        found = server.post("/translate", json=asked | {"q": [LINES[0], "the man reads"]}).json()
        assert [each["language"] for each in found["detectedLanguage"]] == ["de", "en"]


def test_files_are_translated_and_fetched(server, expected):
    told = {"source": "de", "target": "en"}
    for name, text, wanted in (
        ("a.txt", f"{LINES[0]}\n<b>", expected[0]),
        ("../b.HTML", f"<p>{LINES[0]}</p>", f"<p>{expected[0]}</p>"),
    ):
        found = server.post("/translate_file", files={"file": (name, text)}, data=told).json()["translatedFileUrl"]
        assert found.startswith("http://127.0.0.1/download_file/")
        file = server.get(found)
        assert file.text.startswith(wanted)
        assert "sandbox" in file.headers["content-security-policy"]
        assert file.headers["content-disposition"].startswith("attachment")
    path = server.app.state.desk.files.find(found.rpartition("/")[2])
    os.utime(path, (0, path.stat().st_mtime - KEPT))
    assert server.get(found).status_code == 404
    for name in ("x.pdf", "", "a.txt/../../x.pdf"):
        assert server.post("/translate_file", files={"file": (name or "x", "ja")}, data=told).status_code == 400
    wrong = server.post("/translate_file", files={"file": ("x.txt", b"\xff\xfe")}, data=told)
    assert wrong.status_code == 400 and "UTF-8" in wrong.json()["error"]


@pytest.mark.parametrize("path", ["../app.py", "..%2f..%2fetc%2fpasswd", "a.html", "%00", "0" * 32 + ".txt%2f.."])
def test_no_other_file_is_handed_out(server, path):
    assert server.get(f"/download_file/{path}").status_code == 404


@pytest.mark.parametrize(
    ("told", "status", "said"),
    [
        ({}, 400, "q: Field required"),
        ({"q": 7}, 400, "q"),
        ({"q": "ja", "format": "rtf"}, 400, "format"),
        ({"q": "ja", "target": "xx"}, 400, "No model translates de to xx"),
        ({"q": "ja", "alternatives": 21}, 400, "alternatives"),
        ({"q": " ".join(["ja"] * 501)}, 400, "Too long: 501 tokens, limit 500"),
        ({"q": ["ja"] * 129}, 400, "Too many: 129 texts"),
        ({"q": "\ud800"}, 400, "half a character"),
        ({"q": "ja", "format": "html", "scores": True}, 400, "format=text"),
        ({"q": "ja\nja", "attention": True}, 400, "one line"),
    ],
)
def test_what_is_wrong_is_told(server, told, status, said):
    body = json.dumps({"source": "de", "target": "en"} | told)
    found = server.post("/translate", content=body, headers={"content-type": "application/json"})
    assert found.status_code == status and said in found.json()["error"], found.text
    assert list(found.json()) == ["error"]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"{", "application/json"),
        (b"[]", "application/json"),
        (b'{"q": NaN}', "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"q":' * 50_000, "application/json"),
        (b'{"q": "\xff"}', "application/json"),
        (b"q=%ff&target=en", "application/x-www-form-urlencoded"),
        (b"q=ja&target=en" + b"&x=1" * 2000, "application/x-www-form-urlencoded"),
        (b"--x\r\n", "multipart/form-data"),
        (b"--x\r\nnothing", "multipart/form-data; boundary=x"),
        (b'{"q": "ja", "target": "en", "x": ' + b"[" * 900 + b"]" * 900 + b"}", "application/json"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(server, body, kind):
    found = server.post("/translate", content=body, headers={"content-type": kind})
    fine = body.startswith(b'{"q": "ja"')
    assert found.status_code == (200 if fine else 400), found.text


def test_a_key_is_asked_for_where_there_are_keys():
    with client({"toy": spoken()}, keys=(("a", "secret"),), rate=60) as server:
        told = {"q": "ja", "source": "de", "target": "en"}
        for more in ({}, {"api_key": ""}, {"api_key": "wrong"}):
            found = server.post("/translate", json=told | more)
            assert found.status_code == 403 and "key" in found.json()["error"]
        for more in ({"api_key": "secret"}, {"apiKey": "secret"}):
            assert server.post("/translate", json=told | more).status_code == 200
        assert server.post("/translate", params=told | {"api_key": "secret"}).status_code == 200
        assert server.post("/translate", json=told, headers={"Authorization": "Bearer secret"}).status_code == 200
        assert server.post("/detect", json={"q": "ja"}).status_code == 403
        assert server.post("/translate_file", files={"file": ("a.txt", "ja")}, data=told).status_code == 403
        assert server.get("/languages").status_code == 200


def test_who_asks_too_often_or_too_much_has_to_wait():
    told = {"q": "ja", "source": "de", "target": "en"}
    with client({"toy": spoken()}, rate=2) as server:
        found = [server.post("/translate", json=told) for _ in range(3)]
        assert [each.status_code for each in found] == [200, 200, 429]
        assert int(found[2].headers["retry-after"]) > 0 and "Too many" in found[2].json()["error"]
    with client({"toy": spoken()}, quota=5) as server:
        found = [server.post("/translate", json=told) for _ in range(3)]
        assert [each.status_code for each in found] == [200, 200, 429]
        assert "Quota" in found[2].json()["error"]
