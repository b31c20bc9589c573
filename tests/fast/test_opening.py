"""A model that is opened draws nothing, and holds just what its file does."""

import pytest
import torch
from safetensors.torch import save_model
from torch import nn

from regard.fast.opening import Undrawn, read_weights


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.layer = nn.Embedding(13, 5, padding_idx=0), nn.Linear(5, 7)
        self.tied = self.table
        nn.init.xavier_uniform_(self.layer.weight)
        self.register_buffer("seen", torch.zeros(3).add_(2))
        self.register_buffer("made", torch.zeros(2).add_(1), persistent=False)


def test_nothing_is_drawn_and_buffers_are_made():
    before = torch.get_rng_state()
    with Undrawn():
        built = Small()
    assert torch.equal(before, torch.get_rng_state())
    assert built.seen.tolist() == [2, 2, 2] and built.made.tolist() == [1, 1]
    assert built.layer.weight.requires_grad


def test_what_was_saved_is_read_in_any_layout(tmp_path):
    saved = Small()
    saved.seen.fill_(5)
    save_model(saved, str(tmp_path / "file"))
    with Undrawn():
        built = Small()
    built.table.weight.data = built.table.weight.data.t().contiguous().t()
    read_weights(built, tmp_path / "file")
    for name, each in saved.state_dict().items():
        assert torch.equal(built.state_dict()[name], each), name
    assert built.table.weight.stride() == (1, 13)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda model: setattr(model, "layer", nn.Linear(5, 11)), "layer.weight has the shape"),
        (lambda model: delattr(model, "layer"), "layer.bias is missing"),
        (lambda model: setattr(model, "stray", nn.Linear(2, 3)), "stray.bias is none"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path, change, told):
    other = Small()
    change(other)
    save_model(other, str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match=told):
        read_weights(Small(), tmp_path / "file")
