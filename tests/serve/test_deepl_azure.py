"""DeepL's and Azure's interfaces: what their clients send, what they await, and the shapes of their errors."""

import pytest

from regard.search import Options
from serving import LINES, client, spoken, translator


@pytest.fixture(scope="module")
def server():
    with client({"toy": spoken(), "back": spoken("en", "de")}) as found:
        yield found


@pytest.fixture(scope="module")
def expected():
    return [best[0].text for best in translator().search(LINES, Options(5))]


def test_deepl_takes_json_and_forms(server, expected):
    told = {"target_lang": "EN-GB", "source_lang": "DE", "show_billed_characters": "1"}
    wanted = [
        {"detected_source_language": "DE", "text": text, "billed_characters": len(line)}
        for line, text in zip(LINES, expected, strict=True)
    ]
    for asked in ({"json": told | {"text": LINES}}, {"data": told | {"text": LINES}}):
        found = server.post("/v2/translate", **asked)
        assert found.json() == {"translations": wanted}, found.text
    found = server.post("/v2/translate", data={"target_lang": "EN", "text": LINES[0]}).json()
    assert found == {"translations": wanted[:1]}
    html = {"text": f"<p>{LINES[0]}</p>", "tag_handling": "html"}
    assert server.post("/v2/translate", json=told | html).json()["translations"][0]["text"] == f"<p>{expected[0]}</p>"


def test_deepl_tells_languages_and_usage(server):
    german, english = {"language": "DE", "name": "German"}, {"language": "EN", "name": "English"}
    for kind in ("", "?type=source", "?type=target"):
        found = server.get(f"/v2/languages{kind}").json()
        assert [{key: each[key] for key in german} for each in found] == [german, english]
    with client({"toy": spoken()}, quota=20) as one:
        assert [each["language"] for each in one.get("/v2/languages?type=target").json()] == ["EN"]
        assert one.post("/v2/translate", json={"text": LINES[1:2], "target_lang": "EN"}).status_code == 200
        assert one.get("/v2/usage").json() == {"character_count": len(LINES[1]), "character_limit": 20}
        found = one.post("/v2/translate", json={"text": LINES, "target_lang": "EN"})
        assert found.status_code == 456 and found.json()["detail"] == "quota_exceeded"
        assert one.get("/v2/usage").json()["character_count"] == len(LINES[1])


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "text: Field required"),
        ({"text": "ja"}, "target_lang"),
        ({"text": "ja", "target_lang": "FR"}, "No model translates"),
        ({"text": "ja", "target_lang": "EN", "glossary_id": "x"}, "glossary_id is not supported"),
        ({"text": "ja", "target_lang": "EN", "formality": "less"}, "formality"),
        ({"text": "ja", "target_lang": "EN", "tag_handling": "rtf"}, "tag_handling"),
    ],
)
def test_deepl_is_told_what_is_wrong(server, told, said):
    found = server.post("/v2/translate", json=told)
    assert found.status_code == 400 and said in found.json()["message"], found.text
    assert set(found.json()) == {"message", "detail"}


def test_deepl_keys(server):
    with client({"toy": spoken()}, keys=(("a", "secret"),)) as keyed:
        told = {"text": "ja", "target_lang": "EN"}
        for key, status in (("wrong", 403), ("secret", 200)):
            head = {"Authorization": f"DeepL-Auth-Key {key}"}
            assert keyed.post("/v2/translate", json=told, headers=head).status_code == status
        assert keyed.get("/v2/usage").status_code == 403
        assert set(keyed.get("/v2/usage").json()) == {"message", "detail"}


def azure(server, texts, query="from=de&to=en", **more):
    return server.post(f"/translate?api-version=3.0&{query}", json=[{"Text": text} for text in texts], **more)


def test_azure_tells_which_characters_were_written_for_which(server, expected):
    found = azure(server, LINES, "from=de&to=en&includeAlignment=true").json()
    own = translator().translate(LINES)
    for line, one, right in zip(LINES, found, own, strict=True):
        (told,) = one["translations"]
        assert (told["text"], told["to"]) == (right.text, "en")
        links = []
        for pair in told["alignment"]["proj"].split():
            (a, b), (c, d) = (map(int, side.split(":")) for side in pair.split("-"))
            links.append((line[a : b + 1], told["text"][c : d + 1]))
        source, target = right.alignment.source, right.alignment.target
        assert links == [(source[s], target[t]) for s, t in right.alignment.links()]
    assert any(one["translations"][0]["alignment"]["proj"] for one in found)


def test_azure_translates_html_to_many_languages_from_one_that_is_found(server, expected):
    found = azure(server, [f"<p>{LINES[0]}</p>"], "from=de&to=en&textType=html&includeAlignment=true").json()
    assert found == [{"translations": [{"text": f"<p>{expected[0]}</p>", "to": "en"}]}]
    found = azure(server, [LINES[0]], "to=en").json()
    assert found[0]["detectedLanguage"]["language"] == "de" and 0.9 < found[0]["detectedLanguage"]["score"] <= 1
    with client({"toy": spoken(), "other": spoken("de", "fr")}) as both:
        told = azure(both, [LINES[0]], "from=de&to=en&to=fr").json()[0]["translations"]
        assert told == azure(both, [LINES[0]], "from=de&to=en,fr").json()[0]["translations"]
        assert [each["to"] for each in told] == ["en", "fr"]


@pytest.mark.parametrize(
    ("query", "body", "said"),
    [
        ("from=de&to=en", {}, "JSON array"),
        ("from=de&to=en", [7], "valid dictionary"),
        ("from=de&to=en", [{}], "text"),
        ("from=de", [{"text": "ja"}], "to"),
        ("from=de&to=xx", [{"text": "ja"}], "No model translates"),
        ("from=de&to=en&textType=rtf", [{"text": "ja"}], "textType"),
    ],
)
def test_azure_is_told_what_is_wrong(server, query, body, said):
    found = server.post(f"/translate?api-version=3.0&{query}", json=body)
    assert found.status_code == 400 and said in found.json()["error"]["message"], found.text
    assert found.json()["error"]["code"] == 400000


def test_azure_keys():
    with client({"toy": spoken()}, keys=(("a", "secret"),)) as keyed:
        found = azure(keyed, ["ja"])
        assert found.status_code == 401 and found.json()["error"]["code"] == 401000
        assert azure(keyed, ["ja"], headers={"Ocp-Apim-Subscription-Key": "secret"}).status_code == 200
        other = keyed.post("/translate?api-version=2.0", json=[], headers={"Ocp-Apim-Subscription-Key": "secret"})
        assert other.status_code == 400
