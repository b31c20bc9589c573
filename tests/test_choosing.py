"""A training ends by choosing the heads that align, and may be guided: the whole way, from files to a model folder."""

import json

import pytest

import regard
from regard.align import corpus_links
from regard.errors import MissingData, UsageError

TINY = [
    "embed.width=8",
    "encode.layers=1",
    "encode.feed=13",
    "encode.attend.heads=2",
    "attend.heads=2",
    "predict.embed.width=8",
    "predict.layers=2",
    "predict.feed=13",
    "predict.self_attend.heads=2",
    "train.tensorboard=false",
    "train.precision=fp32",
]
WORDS = {"haus": "house", "buch": "book", "kind": "child", "mann": "man", "gut": "good", "alt": "old", "neu": "new"}


@pytest.fixture
def folder(tmp_path):
    """A corpus of files, without links: every word has its own."""
    words = list(WORDS)
    lines = [f"{words[n % 7]} {words[n // 7 % 7]} {words[n * 3 % 5]}" for n in range(97)]
    for split, part in (("train", lines[:83]), ("val", lines[83:])):
        (tmp_path / f"{split}.de").write_text("\n".join(part) + "\n")
        english = (" ".join(WORDS[word] for word in line.split()) for line in part)
        (tmp_path / f"{split}.en").write_text("\n".join(english) + "\n")
    return tmp_path


def trained(data, out, *settings, recipe="transformer", **more):
    said = []
    base = TINY if recipe == "transformer" else ["train.tensorboard=false", "train.precision=fp32"]
    model = regard.train(recipe, data=data, out=out, steps=2, settings=[*base, *settings], say=said.append, **more)
    return model, said


def kept(out):
    return json.loads((out / "best" / "alignment.json").read_text())


def test_gold_links_decide_where_they_are(tmp_path):
    model, said = trained("reverse", tmp_path / "run", "train.guide=links", size=211)
    found = kept(tmp_path / "run")
    assert found["reference"] == "gold links of the validation split"
    assert found["measure"] == "AER" and 0 <= found["value"] <= 1 and found["pairs"] > 100
    assert model.aligner is not None and model.aligner.to_json() == found
    assert any(line.startswith("alignments are read from layer ") for line in said)


def test_raw_lines_of_a_script_without_spaces_are_linked_by_pieces(folder, tmp_path):
    """Such links go beyond the words between spaces, of which there is one; they guide, and choose, all the same."""
    letters = dict(zip(WORDS, "家书子人好老新", strict=True))
    for split in ("train", "val"):
        lines = (folder / f"{split}.de").read_text().splitlines()
        raw = ("".join(letters[word] for word in line.split()) for line in lines)
        (folder / f"{split}.zh").write_text("\n".join(raw) + "\n", encoding="utf-8")
        (folder / f"{split}.de").unlink()
    _, said = trained(folder, tmp_path / "run", "train.guide=reference", source="zh", target="en")
    assert kept(tmp_path / "run")["pairs"] == 14, said
    languages = json.loads((tmp_path / "run" / "best" / "languages.json").read_text())
    assert languages == {"source": "zh", "target": "en"}


def test_without_gold_links_a_statistical_aligner_decides(folder, tmp_path, monkeypatch):
    calls, links = [], corpus_links.reference_links

    def counted(*sides, **options):
        calls.append(options)
        return links(*sides, **options)

    monkeypatch.setattr(corpus_links, "reference_links", counted)
    trained(folder, tmp_path / "run", "train.guide=reference", "train.guide_layer=2", "train.guide_head=2")
    found = kept(tmp_path / "run")
    assert found["reference"] == "a statistical aligner's links (HMM, learnt from 97 pairs)"
    assert found["pairs"] == 14
    assert len(calls) == 2  # for the training pairs, and for the held-out ones
    trained(folder, tmp_path / "again", "train.guide=reference")
    assert len(calls) == 2, "the links are kept"


def test_one_head_without_gold_links_has_no_choice(folder, tmp_path):
    small = ["embed.width=8", "encode.hidden=8", "predict.hidden=8", "predict.embed.width=8"]
    model, _ = trained(folder, tmp_path / "run", *small, recipe="rnnsearch-small")
    assert not (tmp_path / "run" / "best" / "alignment.json").exists() and model.aligner is None


def test_links_that_are_asked_for_and_not_there(folder, tmp_path):
    with pytest.raises(MissingData, match="expected pairs with word links; this corpus has none") as raised:
        trained(folder, tmp_path / "run", "train.guide=links")
    assert 'guide = "reference"' in str(raised.value.hint)
    assert not (tmp_path / "run").exists()


def test_one_table_needs_one_tokenizer(tmp_path):
    """Where numbers mean other pieces on each side, sharing vectors would learn nonsense in silence."""
    with pytest.raises(UsageError, match="share = true needs one tokenizer"):
        regard.train("transformer", data="copy", out=tmp_path / "run", steps=1, settings=["train.joint=no"], size=20)
