"""Records: which heads align and how that is said, and weights reduced to words by hand."""

import json

import pytest
import torch

from regard.align.alignment import END, START
from regard.align.record import Aligner, Layer, Record, Tokenized
from regard.errors import ModelError, UnknownName, UsageError

GOLD = Aligner("cross", 2, (1,), "AER", 0.213, 500, "gold links of the validation split")


# --- the aligner -------------------------------------------------------------------------------------------


def test_an_aligner_says_what_views_show():
    told = "layer 3, head 2 of 6 x 8 (AER 21.3 % on 500 pairs, against gold links of the validation split)"
    assert str(GOLD.within(6, 8)) == told
    assert str(GOLD) == told.replace(" of 6 x 8", "")
    some = Aligner("cross", 0, (0, 2, 4), "agreement", 0.5, 1300, "links of a statistical aligner")
    assert str(some.within(3, 5)) == (
        "layer 1, mean of heads 1, 3 and 5 of 3 x 5 (agreement 50.0 % on 1,300 pairs, with links of a statistical "
        "aligner)"
    )


def test_an_aligner_that_nobody_measured():
    assert Aligner.default(3) == Aligner("cross", 2)
    assert str(Aligner.default(3).within(3, 8)) == "layer 3, mean of all heads of 3 x 8 (not measured)"
    assert str(Aligner.default(1).within(1, 1)) == "the model's one attention (not measured)"
    assert str(Aligner("encoder-self", 1, (0,))) == "encoder-self attention, layer 2, head 1 (not measured)"


def test_an_aligner_as_json():
    stored = {"kind": "cross", "layer": 2, "heads": [1], "measure": "AER", "value": 0.213, "pairs": 500,
              "reference": "gold links of the validation split"}  # fmt: skip
    assert GOLD.to_json() == stored
    assert Aligner.from_json(json.loads(json.dumps(stored))) == GOLD
    assert Aligner.from_json(stored | {"more": 1}) == GOLD
    later = Aligner("cross", 1, (3,), shift=True)
    assert Aligner.from_json(later.to_json()) == later
    assert Aligner.from_json({"kind": "cross", "layer": 1, "heads": []}) == Aligner("cross", 1)


@pytest.mark.parametrize("told", [[], {}, {"kind": "cross", "layer": "x", "heads": []}, {"kind": "cross", "layer": 1}])
def test_json_that_is_no_aligner(told):
    with pytest.raises(ModelError, match=r"alignment\.json: expected an object with kind, layer and heads"):
        Aligner.from_json(told)


def test_a_measure_that_is_none():
    with pytest.raises(ModelError, match="AER or agreement; found 'BLEU'"):
        Aligner.from_json(GOLD.to_json() | {"measure": "BLEU"})


@pytest.mark.parametrize("shape", [(2, 8), (6, 1)])
def test_an_aligner_of_another_model(shape):
    with pytest.raises(ModelError, match=rf"{shape[0]} layers of {shape[1]} heads; found layer 3, head 2"):
        GOLD.within(*shape)


# --- the record --------------------------------------------------------------------------------------------

SOURCE = Tokenized("ab c", (4, 5, 6, 2), ("a", "b", " c", END), ("ab", "c", END), (0, 0, 1, 2))
TARGET = Tokenized("x yz", (7, 8, 9, 2), ("x", " y", "z", END), ("x", "yz", END), (0, 1, 1, 2))
ONE = torch.tensor(
    [[0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.0, 1.0]]
)  # fmt: skip
TWO = torch.eye(4)
LOOK_BACK = torch.tensor(  # the last column is the start
    [[0.0, 0.0, 0.0, 1.0], [0.5, 0.0, 0.0, 0.5], [0.25, 0.25, 0.0, 0.5], [0.2, 0.3, 0.4, 0.1]]
)


def record(aligner=None):
    layers = (
        Layer("cross", 0, torch.stack((ONE, TWO))),
        Layer("cross", 1, torch.stack((TWO, TWO))),
        Layer("encoder-self", 0, ONE.unsqueeze(0)),
        Layer("decoder-self", 0, LOOK_BACK.unsqueeze(0)),
    )
    return Record(SOURCE, TARGET, layers, aligner or Aligner.default(2))


def test_words_by_hand():
    """Columns: a + b, c, the end. Rows: x; the mean of y and z; the end."""
    found = record().alignment("cross", 0, 0)
    assert (found.source, found.target) == (("ab", "c", END), ("x", "yz", END))
    assert torch.allclose(found.matrix, torch.tensor([[0.75, 0.25, 0.0], [0.25, 0.5, 0.25], [0.0, 0.0, 1.0]]))
    assert found.note == "layer 1, head 1 of 2 x 2 (not measured)"


def test_self_attention_by_the_same_rule():
    found = record().alignment("encoder-self")
    assert found.source == found.target == ("ab", "c", END)
    expected = torch.tensor([[0.625, 0.375, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]])
    assert torch.allclose(found.matrix, expected)
    assert found.kind == "encoder-self"
    assert found.note == "encoder-self attention, layer 1, mean of all heads of 1 x 1 (not measured)"


def test_a_decoder_looks_back_at_the_start():
    found = record().alignment("decoder-self")
    assert found.target == ("x", "yz", END)
    assert found.source == ("x", "yz", START)
    expected = torch.tensor([[0.0, 0.0, 1.0], [0.375, 0.125, 0.5], [0.2, 0.7, 0.1]])
    assert torch.allclose(found.matrix, expected)


def test_pieces():
    found = record().alignment("cross", 0, 0, pieces=True)
    assert (found.source, found.target) == (("a", "b", "▁c", END), ("x", "▁y", "z", END))
    assert torch.equal(found.matrix, ONE)
    assert Tokenized("", (), (" ", ""), (), ()).labels == ("▁", "·")


def test_the_aligner_is_what_is_read_by_default():
    measured = Aligner("cross", 0, (0,), "AER", 0.1, 7, "gold")
    assert torch.equal(record(measured).alignment().matrix, record().alignment("cross", 0, 0).matrix)
    assert record(measured).alignment().note == "layer 1, head 1 of 2 x 2 (AER 10.0 % on 7 pairs, against gold)"
    assert record(measured).alignment("cross", 0, 0).note == record(measured).alignment().note
    assert "not measured" in record(measured).alignment(heads=1).note
    assert record(measured).alignment(heads=1).note.startswith("layer 1, head 2"), "another head of the same layer"
    assert torch.equal(record().alignment().matrix, record().alignment("cross", 1, (0, 1)).matrix)
    mean = record().alignment("cross", 0)
    assert torch.allclose(mean.matrix, (mean_of(0) + mean_of(1)) / 2)


def mean_of(head):
    return record().alignment("cross", 0, head).matrix


def test_read_one_step_later():
    """The row of a piece is that of the step which reads it; the end is read by none, and keeps its own."""
    found = record(Aligner("cross", 0, (0,), shift=True)).alignment(pieces=True)
    assert torch.equal(found.matrix, ONE[[1, 2, 3, 3]])
    assert "read one step later" in found.note
    shifted = record(Aligner("cross", 0, (0,), shift=True))
    other = shifted.alignment("cross", 1, 0, pieces=True)
    assert torch.equal(other.matrix, TWO[[1, 2, 3, 3]]), "all heads of a kind at the same step"
    assert "read one step later" in other.note
    assert torch.equal(shifted.alignment("decoder-self", pieces=True).matrix, LOOK_BACK)
    assert torch.equal(shifted.weights("cross", 0)[0], ONE), "the record itself is as it was"


def test_what_there_is():
    assert record().kinds == {"cross": 2, "encoder-self": 1, "decoder-self": 1}
    assert torch.equal(record().weights("cross", -2), torch.stack((ONE, TWO)))
    assert torch.equal(record().weights(), torch.stack((TWO, TWO))), "the last layer's"
    three = Record(
        SOURCE, TARGET, tuple(Layer("cross", at, ONE.expand(5, 4, 4)) for at in range(3)), Aligner.default(3)
    )
    assert three.alignment().note == "layer 3, mean of all heads of 3 x 5 (not measured)"


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (("crss",), UnknownName, "Did you mean 'cross'"),
        (("cross", 2), UsageError, "2 layers of cross attention, from 0 up; asked for 2"),
        (("cross", 0, 2), UsageError, r"2 heads a layer, from 0 up; asked for \[2\]"),
    ],
)
def test_what_there_is_not(asked, error, message):
    with pytest.raises(error, match=message):
        record().alignment(*asked)


def test_a_search_has_cross_attention_alone():
    short = Record(SOURCE, TARGET, record().attention[:2], Aligner.default(2))
    with pytest.raises(UsageError, match=r"no encoder-self attention; it has cross\.\n.*look\(source, target\)"):
        short.alignment("encoder-self")
