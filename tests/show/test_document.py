"""The document of a page: every value comes back, and what is large is written small."""

import base64
import json
import zlib

import numpy as np
import pytest
import torch

from regard.align.alignment import END, Alignment
from regard.align.record import Aligner, Layer, Record
from regard.show.document import alignment_document, page_of, record_document
from regard.show.page import check_page
from show.pairs import ALIGNMENT, record


def unpacked(layer):
    kind = {"f4": "<f4", "u2": "<u2"}[layer["dtype"]]
    values = np.frombuffer(zlib.decompress(base64.b64decode(layer["data"])), kind).reshape(layer["shape"])
    return values / (65535 if layer["dtype"] == "u2" else 1)


def test_a_record():
    ours = record()
    told = json.loads(json.dumps(record_document(ours)))
    check_page(page_of([told]))
    assert told["title"] == "le chat  →  the cat sits"
    assert told["model"] == "small"
    assert told["note"] == "layer 1, head 2 of 2 x 3 (AER 20.0 % on 7 pairs, against gold)"
    assert told["source"] == {
        "text": "le chat",
        "pieces": ["l", "e", "c", "hat", END],
        "words": ["le", "chat", END],
        "word": [0, 0, 1, 1, 2],
    }
    assert told["chosen"] == {"kind": "cross", "layer": 0, "heads": [1]}
    assert told["links"] == [list(link) for link in ours.alignment().links()]
    places = [(each["kind"], each["layer"], each["rows"], each["columns"]) for each in told["attention"]]
    assert places == [
        ("cross", 0, "target", "source"),
        ("cross", 1, "target", "source"),
        ("encoder-self", 0, "source", "source"),
        ("decoder-self", 0, "target", "target"),
    ]
    for layer, packed in zip(ours.attention, told["attention"], strict=True):
        assert packed["dtype"] == "f4"
        assert np.array_equal(unpacked(packed), layer.weights.numpy())


def test_scores_are_percentages_with_their_raw_values():
    ours = record()
    scores, evidence = record_document(ours)["scores"], ours.alignment().evidence
    assert list(scores) == ["confidence %", "coverage %", "focus out %", "focus in %"]
    assert scores["coverage %"]["value"] == round(100 * evidence.coverage.share, 1)
    assert scores["coverage %"]["meaning"] == "the share of source words that were looked at"
    assert f"entropy: {evidence.focus_in.value:.3f} nats" in scores["focus in %"]["meaning"]


def test_other_heads_can_be_chosen():
    ours = record()
    told = record_document(ours, "a title", ours.reader("encoder-self", 0))
    check_page(page_of([told]))
    assert told["chosen"] == {"kind": "encoder-self", "layer": 0, "heads": [0, 1, 2]}
    assert told["title"] == "a title"
    assert told["note"].startswith("encoder-self attention, layer 1")


def test_many_values_are_written_in_two_bytes():
    ours = record()
    count = sum(layer.weights.numel() for layer in ours.attention)
    assert {each["dtype"] for each in record_document(ours, most=count)["attention"]} == {"f4"}
    told = record_document(ours, most=count - 1)["attention"]
    assert {each["dtype"] for each in told} == {"u2"}
    for layer, packed in zip(ours.attention, told, strict=True):
        assert np.abs(unpacked(packed) - layer.weights.numpy()).max() <= 0.5 / 65535 + 1e-7


def test_two_bytes_hold_nothing_above_one():
    ours = record()
    loud = Layer("cross", 0, ours.attention[0].weights * 3)
    told = record_document(Record(ours.source, ours.target, (loud, *ours.attention[1:]), ours.aligner), most=0)
    assert unpacked(told["attention"][0]).max() <= 1


def test_a_page_shows_what_alignments_read():
    """Read one step later, the chosen head's weights in the document are those of the alignment."""
    ours = record(aligner=Aligner("cross", 1, (2,), shift=True))
    told = record_document(ours)
    assert np.array_equal(unpacked(told["attention"][1])[2], ours.alignment(pieces=True).numpy())
    assert np.array_equal(unpacked(told["attention"][3]), ours.weights("decoder-self").numpy())
    assert "read one step later" in told["note"]


def test_an_alignment():
    told = alignment_document(ALIGNMENT)
    check_page(page_of([told]))
    assert told["title"] == "le chat dort  →  the cat"
    assert told["note"] == ALIGNMENT.note
    assert told["source"]["pieces"] == told["source"]["words"] == ["le", "chat", "dort", END]
    assert told["links"] == [[0, 0], [1, 1]]
    (layer,) = told["attention"]
    assert layer["shape"] == [1, 3, 4]
    assert np.array_equal(unpacked(layer)[0], ALIGNMENT.numpy())


@pytest.mark.parametrize(("kind", "side"), [("encoder-self", "source"), ("decoder-self", "target")])
def test_an_alignment_of_one_sentence(kind, side):
    last = "<s>" if kind == "decoder-self" else END
    told = alignment_document(Alignment(torch.eye(3), ("a", "b", last), ("a", "b", END), "", kind))
    check_page(page_of([told]))
    assert told["title"] == told[side]["text"] == "a b"
    assert told[{"source": "target", "target": "source"}[side]]["words"] == [END]
    assert (told["links"], told["scores"]) == ([], {})


def test_a_page():
    figures = [record_document(record()), record_document(record())]
    assert page_of(figures)["title"] == "What small looked at"
    assert page_of(figures, "two")["title"] == "two"
    assert len(page_of(figures)["figures"]) == 2
    assert page_of([alignment_document(ALIGNMENT)])["title"] == "What the model looked at"
