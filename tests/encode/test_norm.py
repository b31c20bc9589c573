"""Batch normalisation over the cells that are real, beside PyTorch's."""

import torch
from torch import nn
from torch.nn import functional as F

from regard.encode.norm import CellNorm


def test_padding_is_in_no_mean_of_a_batch():
    """In training too: what a batch is normalised by are its real cells."""
    data, mask = torch.randn(2, 5, 3, 7), torch.ones(2, 3, 7, dtype=torch.bool)
    mask[1, :, 4:] = False
    norm = CellNorm(5)
    found = norm(data, mask)
    real = data.movedim(1, -1)[mask]
    expected = F.batch_norm(real, None, None, training=True)
    assert torch.allclose(found.movedim(1, -1)[mask], expected, atol=1e-5)
    assert not found.movedim(1, -1)[~mask].any()
    assert torch.allclose(norm.mean, 0.1 * real.mean(0), atol=1e-6)
    assert torch.allclose(norm.variance, 0.9 + 0.1 * real.var(0), atol=1e-5)
    data[1, :, :, 4:] = 1e4
    assert torch.equal(CellNorm(5)(data, mask), found)


def test_a_full_batch_is_normalised_as_pytorch_does():
    ours, theirs = CellNorm(3), nn.BatchNorm2d(3)
    data, mask = torch.randn(2, 3, 5, 7), torch.ones(2, 5, 7, dtype=torch.bool)
    assert torch.allclose(ours(data, mask), theirs(data), atol=1e-6)
    assert torch.equal(CellNorm(3).whole(data), CellNorm(3)(data, mask))
    assert torch.allclose(ours.eval()(data, mask), theirs.eval()(data), atol=1e-6)


def test_one_cell_alone_is_normalised_as_in_use():
    norm = CellNorm(3)
    assert torch.allclose(norm(torch.ones(1, 3, 1, 1), torch.ones(1, 1, 1, dtype=torch.bool)), torch.ones(1), atol=1e-4)
    assert not norm.mean.any()
