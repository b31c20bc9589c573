"""Alignments: links by hand, and pieces merged to words."""

import pytest
import torch

from regard.alignment import END, Alignment, merge
from regard.errors import ShapeError

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
    merged = merge(weights, [0, 0, 1], [0, 0, 1], (2, 2))
    assert torch.allclose(merged, torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
    assert torch.allclose(merged.sum(1), torch.ones(2))


def test_the_matrix_must_fit_the_words():
    with pytest.raises(ShapeError, match=r"3 target and 4 source words(.|\n)*\(2, 4\)"):
        Alignment(torch.zeros(2, 4), SOURCE, TARGET)
