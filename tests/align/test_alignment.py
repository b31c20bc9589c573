"""Alignments: links by hand, and pieces merged to words."""

import csv
import io
import json

import numpy as np
import pytest
import torch

from regard.align.alignment import END, Alignment, merge
from regard.errors import BrokenData, ShapeError, UnknownName, UsageError

SOURCE, TARGET = ("le", "chat", "dort", END), ("the", "cat", END)


def test_links_by_hand():
    matrix = torch.tensor([[0.7, 0.2, 0.0, 0.1], [0.1, 0.5, 0.4, 0.0], [0.0, 0.0, 0.0, 1.0]])
    alignment = Alignment(matrix, SOURCE, TARGET)
    assert alignment.links() == [(0, 0), (1, 1)]
    assert alignment.links(threshold=0.4) == [(0, 0), (1, 1), (2, 1)]
    assert alignment.pharaoh() == "0-0 1-1"


def test_a_word_that_looks_at_the_end_has_no_link():
    matrix = torch.tensor([[0.1, 0.2, 0.1, 0.6], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    assert Alignment(matrix, SOURCE, TARGET).links() == []


def test_source_pieces_are_summed_and_target_pieces_averaged():
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.4, 0.3], [0.0, 0.0, 1.0]])
    merged = merge(weights.numpy(), [0, 0, 1], [0, 0, 1], (2, 2))
    assert np.allclose(merged, [[0.5, 0.5], [0.0, 1.0]])
    assert np.allclose(merged.sum(1), 1)


def test_the_matrix_must_fit_the_words():
    with pytest.raises(ShapeError, match=r"3 target and 4 source words(.|\n)*\(2, 4\)"):
        Alignment(torch.zeros(2, 4), SOURCE, TARGET)


# --- two directions ----------------------------------------------------------------------------------------


def both():
    """Forward links 0-0 and 1-1; backward, le - the, chat - cat, dort - cat: 0-0 1-1 2-1."""
    forward = Alignment(torch.tensor([[0.7, 0.2, 0.0, 0.1], [0.1, 0.5, 0.4, 0.0], [0, 0, 0, 1.0]]), SOURCE, TARGET)
    looks = torch.tensor([[0.9, 0.0, 0.1], [0.2, 0.8, 0.0], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    return forward, Alignment(looks, TARGET, SOURCE)


def test_links_of_two_directions():
    forward, backward = both()
    assert backward.links() == [(0, 0), (1, 1), (1, 2)], "its source is our target"
    assert forward.links(reverse=backward) == [(0, 0), (1, 1), (2, 1)]
    assert forward.links(reverse=backward, method="intersection") == [(0, 0), (1, 1)]
    assert backward.links(reverse=forward) == [(0, 0), (1, 1), (1, 2)]
    assert forward.pharaoh(reverse=backward) == "0-0 1-1 2-1"


def test_links_where_both_look():
    """Roots of products by hand: 0-0 of .7 and .9, 1-1 of .5 and .8, 2-1 of .4 and .6 (source, target)."""
    forward, backward = both()
    roots = {(0, 0): 0.63**0.5, (1, 1): 0.4**0.5, (2, 1): 0.24**0.5}  # 0.79, 0.63, 0.49; 1-0: .2 and .2, 0.2
    assert forward.links(reverse=backward, method="posterior") == list(roots)
    for (link, root), fewer in zip(roots.items(), ([(0, 0)], [(0, 0), (1, 1)], list(roots)), strict=True):
        assert link in forward.links(root - 0.01, reverse=backward, method="posterior")
        assert forward.links(root - 0.01, reverse=backward, method="posterior") == fewer
        assert link not in forward.links(root + 0.01, reverse=backward, method="posterior")
    half = Alignment(torch.tensor([[0.5, 0.5], [0.5, 0.5]]), ("a", END), ("a", END))
    assert half.links(0.5, reverse=half, method="posterior") == [(0, 0)], "at least the threshold"
    turned = [(source, target) for target, source in backward.links(reverse=forward, method="posterior")]
    assert sorted(turned) == list(roots), "the same whichever is called the reverse"


def test_the_other_direction_must_be_of_the_same_pair():
    forward, backward = both()
    with pytest.raises(UsageError, match=r"from 'the cat </s>' to 'le chat dort </s>'; found 'le chat(.|\n)*backward"):
        forward.links(reverse=forward)
    long, short = (Alignment(torch.eye(count), tuple("abcdef"[:count]), tuple("uvwxyz"[:count])) for count in (6, 5))
    with pytest.raises(
        UsageError, match=r"from 'u v w x y \.\.\.' to 'a b c d e \.\.\.'; found 'a b c d e' to 'u v w x y'"
    ):
        long.links(reverse=short)
    with pytest.raises(UnknownName, match="Did you mean 'union'"):
        forward.links(reverse=backward, method="unoin")


# --- out and in --------------------------------------------------------------------------------------------


def test_as_json_and_back():
    forward = Alignment(both()[0].matrix, SOURCE, TARGET, "layer 1", "cross")
    told = forward.to_json()
    assert told["links"] == [[0, 0], [1, 1]]
    again = Alignment.from_json(json.loads(json.dumps(told)))
    assert torch.equal(again.matrix, forward.matrix)
    assert (again.source, again.target, again.note, again.kind) == (SOURCE, TARGET, "layer 1", "cross")


def test_whole_numbers_in_json_are_weights_too():
    """Another program may write 1 for 1.0; and what it does not tell has a default."""
    told = both()[0].to_json() | {"matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]}
    again = Alignment.from_json({key: told[key] for key in ("format", "source", "target", "matrix")})
    assert again.matrix.dtype == torch.float32
    assert again.links() == [(0, 0), (1, 1)]
    assert (again.note, again.kind) == ("", "cross")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, 'expected a JSON object with "format": "regard-alignment-1"; found \'other\''),
        ({"matrix": [[1.0]]}, "words and a matrix that fits them"),
        ({"source": None}, "words and a matrix that fits them"),
    ],
)
def test_json_that_is_no_alignment(change, message):
    with pytest.raises(BrokenData, match=message):
        Alignment.from_json(both()[0].to_json() | change)
    with pytest.raises(BrokenData, match="found 'list'"):
        Alignment.from_json([])


def test_as_a_table():
    words = ('a,"b"', "c\nd", END)
    told = Alignment(torch.rand(3, 3).softmax(-1), words, ("x", "", END))
    assert told.to_csv().count("\n") == 5, "four lines, one of them with a break of its own"
    assert "\r" not in told.to_csv()
    head, *rows = csv.reader(io.StringIO(told.to_csv()))
    assert head == ["", *words]
    assert [row[0] for row in rows] == ["x", "", END]
    numbers = np.array([[float(weight) for weight in row[1:]] for row in rows])
    assert np.abs(numbers - told.numpy()).max() < 1e-6


def test_as_an_array():
    found = both()[0].numpy()
    assert found.shape == (3, 4)
    assert found.dtype == np.float32
    assert found[1, 2] == np.float32(0.4)


def test_evidence_is_of_the_matrix():
    square = Alignment(torch.eye(3), TARGET, TARGET)
    assert square.evidence.confidence.value == 1
    assert both()[0].evidence.focus_out.value < 0
