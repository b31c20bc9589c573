"""What the studio's pages ask beside answers: a page of figures, scores, a model's card; and what is refused."""

import base64
import zlib

import numpy as np
import pytest
import sacrebleu

from browser.documents import diagonal, figure, layer, plain, side
from regard.errors import UsageError
from regard.serve import Settings
from serving import LINES, client, translator


@pytest.fixture(scope="module")
def server():
    with client({"toy": translator()}) as found:
        yield found


def page(server, *figures, **more):
    return server.post("/api/v1/page", json={"title": "x", "figures": list(figures), **more})


def test_figures_become_a_page_in_one_file(server):
    found = page(server, plain(), settings={"view": "lines"})
    assert found.status_code == 200 and found.headers["content-type"].startswith("text/html")
    assert "attachment" in found.headers["content-disposition"]
    assert "regard-figure-1" in found.text and "<script src" not in found.text
    assert page(server, {"format": "x"}).status_code == 400
    assert page(server).status_code == 422


def test_what_unfolds_to_very_much_is_not_unfolded(server):
    """A layer that says it is small is read as far as that; one that says it is large is refused."""
    words = side(["a", "b"])
    bomb = base64.b64encode(zlib.compress(bytes(50_000_000), 9)).decode()
    small = figure(words, words, [layer(diagonal(np.random.default_rng(1), 3, 3)) | {"data": bomb}])
    found = page(server, small)
    assert found.status_code == 400 and "expected 9 values, as many as its shape says; found 10" in found.text
    large = figure(words, words, [layer(diagonal(np.random.default_rng(1), 3, 3)) | {"shape": [10**9, 3, 3]}])
    assert page(server, large).status_code == 413
    cut = figure(words, words, [layer(diagonal(np.random.default_rng(1), 3, 3))])
    cut["attention"][0]["data"] = base64.b64encode(base64.b64decode(cut["attention"][0]["data"])[:-9]).decode()
    assert "ends too early" in page(server, cut).text


def test_outputs_are_scored(server):
    outputs, rights = ["the man reads", "yes", "no"], ["the man reads a book", "yes", "yes"]
    asked = {"sources": LINES, "outputs": outputs, "references": rights, "edges": [3]}
    found = server.post("/api/v1/evaluate", json=asked).json()
    bleu, chrf = found["scores"]
    assert bleu["value"] == pytest.approx(sacrebleu.corpus_bleu(outputs, [rights], force=True).score, abs=0.01)
    assert chrf["value"] == pytest.approx(sacrebleu.corpus_chrf(outputs, [rights]).score, abs=0.01)
    assert [(each["low"], each["high"], each["count"]) for each in found["bins"]] == [(1, 3, 1), (4, 8, 2)]
    assert [each["words"] for each in found["sentences"]] == [5, 1, 8]
    right = sacrebleu.sentence_bleu(outputs[0], [rights[0]]).score
    assert found["sentences"][0]["bleu"] == pytest.approx(right, abs=0.01)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"edges": [5, 3]}, 400),
        ({"edges": []}, 400),
        ({"references": ["a"]}, 400),
        ({"outputs": ["x" * 20_001] * 3}, 422),
        ({"sources": ["a"] * 300, "outputs": ["x" * 20_000] * 300, "references": ["a"] * 300}, 413),
    ],
)
def test_what_cannot_be_scored_is_told(server, change, status):
    asked = {"sources": LINES, "outputs": LINES, "references": LINES} | change
    assert server.post("/api/v1/evaluate", json=asked).status_code == status


def test_a_card_is_told_where_there_is_one(server, tmp_path):
    from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE
    from regard.model import save

    assert server.get("/api/v1/models/toy/card").json() == {"model": "toy", "text": ""}
    toy = translator()
    files = {SOURCE_FILE: toy.source.backend.to_str(), TARGET_FILE: toy.target.backend.to_str(), "README.md": "# Toy"}
    save(toy.model, tmp_path / "kept", files)
    with client(folders=[tmp_path / "kept"]) as found:
        assert found.get("/api/v1/models/kept/card").json()["text"] == "# Toy"


def test_the_folder_of_trainings_must_be_there(tmp_path):
    with pytest.raises(UsageError, match="expected a folder of trainings"):
        Settings(models=("x",), runs=str(tmp_path / "none"))
