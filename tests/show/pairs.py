"""Alignments and records for the tests of views, with weights that are known."""

import torch

from regard.align.alignment import END, Alignment
from regard.align.record import Aligner, Layer, Record, Tokenized

SOURCE, TARGET = ("le", "chat", "dort", END), ("the", "cat", END)
MATRIX = torch.tensor([[0.7, 0.2, 0.0, 0.1], [0.1, 0.5, 0.4, 0.0], [0.0, 0.0, 0.0, 1.0]])
ALIGNMENT = Alignment(MATRIX, SOURCE, TARGET, "layer 1 (not measured)")


def side(words):
    """A side whose words are two pieces each, all but the end."""
    halves = [half for word in words for half in (word[:1], word[1:])]
    place = [number for number in range(len(words)) for _ in range(2)]
    return Tokenized(" ".join(words), (4,) * len(halves) + (2,), (*halves, END), (*words, END), (*place, len(words)))


def record(source=("le", "chat"), target=("the", "cat", "sits"), *, layers=2, heads=3, model="small", aligner=None):
    """A record of a small Transformer with random weights."""
    ours, theirs = side(source), side(target)
    rows, columns = len(theirs.pieces), len(ours.pieces)

    def weights(heads, rows, columns):
        return torch.randn(heads, rows, columns).softmax(-1)

    cross = [Layer("cross", layer, weights(heads, rows, columns)) for layer in range(layers)]
    back = weights(2, rows, rows).roll(-1, -1)
    others = [Layer("encoder-self", 0, weights(heads, columns, columns)), Layer("decoder-self", 0, back)]
    return Record(ours, theirs, (*cross, *others), aligner or Aligner("cross", 0, (1,), "AER", 0.2, 7, "gold"), model)
