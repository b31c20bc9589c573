"""Our own interface: what an answer holds is what the model itself says, and it can be steered."""

import json

import pytest
import torch

from regard.search import Options
from serving import LINES, answers, client, translator


@pytest.fixture(scope="module")
def server():
    with client({"toy": translator()}) as found:
        yield found


def ask(server, inputs, **more):
    return server.post("/api/v1/answer", json={"inputs": inputs, "max_length": 7, **more})


def test_an_answer_is_the_models_own(server):
    ours = translator().translate(LINES, beam=3, nbest=2, max_length=7)
    found = ask(server, LINES, beam=3, nbest=2, attention=True)
    assert found.status_code == 200, found.text
    found = found.json()
    assert (found["model"], found["task"]) == ("toy", "translate")
    for told, own in zip(found["answers"], ours, strict=True):
        assert [each["text"] for each in told] == [each.text for each in own]
        best, right = told[0], own[0]
        assert best["score"] == pytest.approx(right.score, abs=1e-4)
        assert torch.allclose(torch.tensor(best["alignment"]["matrix"]), right.alignment.matrix, atol=1e-5)
        assert best["alignment"]["pharaoh"] == right.alignment.pharaoh()
        assert torch.allclose(torch.tensor(best["attention"][1]), right.attention[1], atol=1e-5)
        assert [best["source"]["text"][slice(*span)] for span in best["source"]["spans"]] == best["source"]["words"][
            :-1
        ]


def test_what_is_not_wanted_is_not_told(server):
    (best,) = answers(ask(server, "ja", alignment=False))
    assert "alignment" not in best and "attention" not in best


def test_an_output_begins_as_it_is_made_to(server):
    (best,) = answers(ask(server, LINES[0], prefix="the book"))
    assert best["text"].startswith("the book")
    (same,) = answers(ask(server, LINES[0], prefix=best["ids"][:3]))
    assert same["ids"][:3] == best["ids"][:3]


def test_a_pinned_piece_looks_where_it_is_told(server):
    (before,) = answers(ask(server, LINES[0], beam=1))
    pins = [{"step": 2, "shares": {"4": 3.0, "0": 1.0}}]
    asked = {"prefix": before["ids"][:2], "pins": pins, "attention": True, "beam": 1}
    (after,) = answers(ask(server, LINES[0], **asked))
    for old, new in zip(before["alignment"]["matrix"][:2], after["alignment"]["matrix"][:2], strict=True):
        assert new == pytest.approx(old, abs=1e-5)
    for layer in after["attention"]:
        for head in layer:
            assert head[2] == pytest.approx([0.25, 0, 0, 0, 0.75, 0])
            assert head[1][4] != pytest.approx(0.75)
    (again,) = answers(ask(server, LINES[0], beam=1))
    assert again == before  # nothing of it stays


def test_a_head_is_switched_off(server):
    (before,) = answers(ask(server, LINES[0], beam=2, attention=True))
    (after,) = answers(ask(server, LINES[0], beam=2, attention=True, heads_off=[{"layer": 1, "head": 3}]))
    assert after["score"] != pytest.approx(before["score"])
    assert torch.tensor(after["attention"][1][3]).abs().sum() == 0
    assert torch.tensor(after["attention"][1][2]).sum() > 0
    wrong = ask(server, LINES[0], heads_off=[{"layer": 1, "head": 4}])
    assert wrong.status_code == 400 and "there are 4 heads" in wrong.json()["error"]["message"]


def test_candidates_are_the_models_chances(server):
    (best,) = answers(ask(server, LINES[0], candidates=5, beam=1))
    assert len(best["candidates"]) == len(best["ids"]) + 1
    for place, each in enumerate(best["candidates"][:-1]):
        chances = [one["probability"] for one in each]
        assert chances == sorted(chances, reverse=True) and sum(chances) <= 1
        likeliest = [one["id"] for one in each if one["id"] not in (0, 1, 3)]
        if likeliest and likeliest[0] != 2:
            assert best["ids"][place] == likeliest[0]  # greedily, the likeliest that may be written


def test_the_tree_of_a_search_holds_its_outputs(server):
    found = ask(server, LINES[0], beam=3, nbest=3, tree=True).json()
    tree, best = found["tree"], found["answers"][0]
    assert [node["parent"] for node in tree].count(-1) == 1
    for answer in best:
        path = [tree[number] for number in answer["path"]]
        assert [node["id"] for node in path if not node["ended"]] == answer["ids"]
        assert path[-1]["ended"] and path[-1]["likelihood"] == pytest.approx(answer["likelihood"], abs=1e-4)
        assert all(later == path[place]["parent"] for place, later in enumerate([0, *answer["path"][:-1]]))
    assert best[0]["text"] == answers(ask(server, LINES[0], beam=3))[0]["text"]


def test_a_stream_ends_with_the_greedy_answer(server):
    with server.stream("POST", "/api/v1/stream", json={"input": LINES[0], "max_length": 7}) as found:
        lines = [line for line in found.iter_lines() if line]
    events = [(name[7:], json.loads(data[6:])) for name, data in zip(lines[::2], lines[1::2], strict=True)]
    own = translator().search([LINES[0]], Options(beam=1, max_length=7))[0][0]
    assert events[-1][0] == "answer" and events[-1][1]["text"] == own.text
    assert [told["id"] for name, told in events if name == "piece"] == list(own.ids)
    rows = torch.tensor([told["weights"] for name, told in events if name == "row"])
    assert torch.allclose(rows, own.attention[-1].mean(0), atol=1e-5)


def test_given_targets_are_scored_and_aligned(server):
    pair = {"source": LINES[:2], "target": ["the man", "yes"]}
    found = server.post("/api/v1/score", json=pair).json()["likelihoods"]
    assert found == pytest.approx(translator().score(pair["source"], pair["target"]), abs=1e-4)
    aligned = server.post("/api/v1/align", json=pair).json()["alignments"]
    assert [each["pharaoh"] for each in aligned] == [each.pharaoh() for each in translator().align(*pair.values())]


def test_all_that_was_looked_at_comes_as_a_figure(server):
    found = server.post("/api/v1/look", json={"input": LINES[0], "output": "the man"}).json()
    assert found["figure"]["format"] == "regard-figure-1"
    assert {each["kind"] for each in found["figure"]["attention"]} == {"cross", "encoder-self", "decoder-self"}


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        ({"inputs": "ja", "model": "nix"}, 404, "No model is called 'nix'"),
        ({"inputs": ["ja"] * 129}, 400, "Too many: 129 texts, limit 128"),
        ({"inputs": " ".join(["ja"] * 501)}, 400, "Too long: 501 tokens, limit 500"),
        ({"inputs": 7}, 422, "valid string"),
        ({"inputs": "ja", "beams": 7}, 422, "beams"),
        ({"inputs": "ja", "prefix": [10**6]}, 400, "ids from 0"),
        ({"inputs": ["ja", "ja"], "tree": True}, 400, "go with one input"),
        ({"inputs": "ja", "pins": [{"step": 0, "shares": {"9": 1}}]}, 400, "2 positions"),
    ],
)
def test_what_is_wrong_is_told(server, asked, status, told):
    found = server.post("/api/v1/answer", json=asked)
    assert found.status_code == status and told in found.json()["error"]["message"], found.text


def test_one_text_that_is_too_long_does_not_spoil_others(server):
    found = ask(server, ["ja", "ja " * 501])
    assert found.status_code == 400
    assert answers(ask(server, "ja"))


def test_every_answer_has_a_strict_policy(server):
    for path in ("/", "/docs", "/api/v1/models", "/nix", "/figures/matrix.js"):
        assert server.get(path).headers["content-security-policy"].startswith("default-src 'self';")
