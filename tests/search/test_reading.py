"""Sources are read in groups of like length, and nothing comes out differently."""

import pytest
import torch

from regard.model import Model
from regard.search import reading
from regard.search.reading import read_by_length
from regard.show.watch import watch
from regard.types import Padded
from small import TEXT_ENCODERS, model, overrides, words

LENGTHS = [3, 11, 5, 11, 1, 7, 2, 11, 4, 0]


@pytest.fixture
def read(monkeypatch):
    """What is read, each time."""
    found, plain = [], Model.read

    def reads(self, source):
        found.append(tuple(source.data.shape))
        return plain(self, source)

    monkeypatch.setattr(Model, "read", reads)
    return found


def tensors(memory):
    found = [memory.keys, memory.values, memory.summary]
    return found + [each for state in memory.final for each in (state.hidden, state.cell) if each is not None]


LSTM = ["encode.cell=lstm", "encode.layers=2", "predict.cell=lstm", "predict.layers=2"]


@pytest.mark.parametrize("changes", [*(overrides("encode", name) for name in TEXT_ENCODERS), LSTM], ids=str)
def test_groups_are_read_as_all_at_once(changes, read, monkeypatch):
    monkeypatch.setattr(reading, "FEWEST", 2)
    built, given = model(changes), words(31, LENGTHS)
    with torch.no_grad():
        whole, found = built.read(given), read_by_length(built, given)
    assert read == [(10, 11), (3, 11), (2, 7), (2, 4), (2, 2), (1, 1)]  # nothing is read as one position
    assert torch.equal(found.mask, whole.mask)
    real = given.mask.unsqueeze(-1)
    for one, two in zip(tensors(found), tensors(whole), strict=True):
        some = real if one.dim() == 3 else real.any(1)
        assert torch.allclose(one * some, two * some, atol=1e-5)


def test_few_rows_or_like_ones_are_read_at_once_and_so_is_what_is_watched(read, monkeypatch):
    built, given = model(), words(31, LENGTHS)
    read_by_length(built, given)
    monkeypatch.setattr(reading, "FEWEST", 2)
    mask = torch.ones(9, 5, dtype=torch.bool)
    read_by_length(built, Padded(4 * mask.long(), mask))
    with watch(built):
        read_by_length(built, given)
    assert read == [(10, 11), (9, 5), (10, 11)]
