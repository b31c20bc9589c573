"""Greedy search: the likeliest piece at every step, and what was looked at for it."""

from math import inf

import pytest
import torch

from regard.search import Options, greedy_search
from regard.types import Batch, Padded
from small import DECODERS, batch, model, overrides

START, END = 1, 2


def greedy(built, source, longest):
    return greedy_search(built, source, Options(max_length=longest, stretch=inf), start=START, end=END, record=True)


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_is_found_is_what_force_decoding_finds(decoder):
    built, source = model(overrides("predict", decoder)), batch().source
    for row, found in enumerate(greedy(built, source, 9)):
        length = int(source.mask[row].sum())
        alone = Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length])
        written = torch.tensor([[START, *found.ids, END]])
        taught = built.teach(Batch(alone, Padded(written, torch.ones_like(written).bool())))
        chances = torch.log_softmax(taught.logits[0], -1)
        assert tuple(chances[: len(found.ids)].argmax(-1).tolist()) == found.ids
        expected = chances.gather(1, written[0, 1:, None]).sum().item()
        assert found.likelihood == pytest.approx(expected, abs=1e-4)
        assert len(found.weights) == len(taught.looked)
        for ours, looked in zip(found.weights, taught.looked, strict=True):
            expected = looked.weights[0] if looked.weights.dim() == 4 else looked.weights
            assert torch.allclose(ours, expected, atol=1e-5)


def test_an_output_ends_where_the_end_is_likeliest_and_never_later_than_asked():
    built = model(overrides("predict", "luong"))
    bias = built.predict.readout.score.bias.data
    bias[5] = 100.0
    assert greedy(built, batch().source, 4)[0].ids == (5,) * 4
    bias[END] = 200.0
    found = greedy(built, batch().source, 4)[0]
    assert found.ids == ()
    assert found.weights[0].shape == (1, 1, 7)
