"""Greedy search: the likeliest piece at every step, and what was looked at for it."""

import pytest
import torch

from regard.search.greedy import greedy
from regard.types import Batch, Padded
from small import DECODERS, batch, model, overrides

START, END = 1, 2


@pytest.mark.parametrize("decoder", DECODERS)
def test_what_is_found_is_what_force_decoding_finds(decoder):
    built, source = model(overrides("predict", decoder)), batch().source
    outputs = greedy(built, source, start=START, end=END, longest=9)
    for row, found in enumerate(outputs):
        length = int(source.mask[row].sum())
        alone = Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length])
        written = torch.tensor([[START, *found.ids, END]])
        taught = built.teach(Batch(alone, Padded(written, torch.ones_like(written).bool())))
        chances = torch.log_softmax(taught.logits[0], -1)
        assert chances[: len(found.ids)].argmax(-1).tolist() == found.ids
        expected = chances.gather(1, written[0, 1:, None]).sum().item()
        assert found.score == pytest.approx(expected, abs=1e-4)
        if decoder == "plain":
            assert found.weights is None
        else:
            looked = taught.looked[-1].weights[0]
            expected = looked.mean(0) if looked.dim() == 3 else looked
            assert torch.allclose(found.weights[: len(found.ids), :length], expected[: len(found.ids)], atol=1e-5)


def test_an_output_ends_where_the_end_is_likeliest_and_never_later_than_asked():
    built = model(overrides("predict", "luong"))
    bias = built.predict.readout.score.bias.data
    bias[5] = 100.0
    assert greedy(built, batch().source, start=START, end=END, longest=4)[0].ids == [5] * 4
    bias[END] = 200.0
    found = greedy(built, batch().source, start=START, end=END, longest=4)[0]
    assert found.ids == []
    assert found.weights.shape == (1, 7)
