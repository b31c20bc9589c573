"""SNAIL's blocks: nothing looks ahead, reach is as long as it must be, several ends are as many sequences."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.encode.snail import Convolutions, DenseBlock, Pointer, Snail, before, seen
from regard.errors import ShapeError
from regard.hooks import Looked, hook
from regard.registry import maker
from regard.task import Spec
from regard.types import Branched, Padded

ATTEND = maker("attend", "attention", score=maker("score", "scaled_dot"), scope=maker("scope", "causal"))
WIDTH, STEPS = 5, 11


def open_mask(rows: int, steps: int) -> torch.Tensor:
    return torch.ones(rows, steps, dtype=torch.bool)


def blocks():
    torch.manual_seed(3)
    small = {"length": STEPS, "filters": 3, "keys": (7, 5), "values": (2, 3)}
    return {
        "dense": DenseBlock(WIDTH, 3, 2),
        "convolutions": Convolutions(WIDTH, 3, STEPS),
        "attention": Pointer(WIDTH, 7, 2, ATTEND),
        **{f"snail {kind}": Snail(WIDTH, **small, blocks=kind) for kind in ("both", "convolutions", "attention")},
    }


def run(block: nn.Module, states: torch.Tensor) -> torch.Tensor:
    mask = open_mask(*states.shape[:2])
    if isinstance(block, Snail):
        return block(Padded(states, mask)).values
    return block(states) if isinstance(block, DenseBlock) else block(states, mask)


@pytest.mark.parametrize("name", blocks())
def test_no_block_looks_ahead(name):
    block = blocks()[name].double()
    states = torch.randn(2, STEPS, WIDTH, dtype=torch.double)
    changed = states.clone()
    changed[:, -1] += 1.7
    one, other = run(block, states), run(block, changed)
    assert torch.equal(one[:, :-1], other[:, :-1]), "what stands before is not told"
    assert not torch.allclose(one[:, -1], other[:, -1])


@pytest.mark.parametrize("length", [2, 3, 5, 6, 8, 9, 26, 101])
def test_convolutions_reach_as_far_as_they_must(length):
    torch.manual_seed(7)
    block = Convolutions(3, 2, length).double()
    assert 2 ** (len(block.blocks) - 1) < length <= 2 ** len(block.blocks), "the logarithm of base two"
    states = torch.randn(1, 140, 3, dtype=torch.double, requires_grad=True)
    block(states, open_mask(1, 140))[0, -1].square().sum().backward()
    moved = states.grad[0].abs().sum(1)
    reach = 2 ** len(block.blocks)
    assert (moved[-reach:] > 0).all() and not moved[:-reach].any()


def test_of_a_single_step_there_is_nothing_to_gather():
    assert Convolutions(3, 2, 1).width == 3


def test_a_dense_block_is_two_convolutions():
    """Written once more with torch's own: tanh(conv) * sigmoid(conv), padded on the left by the dilation."""
    torch.manual_seed(5)
    block = DenseBlock(WIDTH, 3, 4)
    one, other = (nn.Conv1d(WIDTH, 3, 2, dilation=4) for _ in range(2))
    for place, each in enumerate((one, other)):
        rows = slice(3 * place, 3 * place + 3)
        each.weight.data = torch.stack((block.earlier.weight[rows], block.now.weight[rows]), -1)
        each.bias.data = block.now.bias[rows]
    states = torch.randn(2, STEPS, WIDTH)
    padded = F.pad(states.mT, (4, 0))
    expected = torch.cat((states, (one(padded).tanh() * other(padded).sigmoid()).mT), -1)
    assert torch.allclose(block(states), expected, atol=1e-6)


def test_a_dense_block_by_hand():
    block = DenseBlock(1, 1, 1)
    block.now.weight.data = torch.tensor([[2.0], [0.0]])
    block.earlier.weight.data = torch.tensor([[1.0], [0.0]])
    block.now.bias.data = torch.tensor([0.5, 0.0])
    found = block(torch.tensor([[[1.0], [3.0]]]))
    half = torch.tanh(torch.tensor([2.5, 7.5])) / 2  # 2 x 1 + 0.5; 2 x 3 + 1 + 0.5; the gate is open by a half
    assert torch.allclose(found[0], torch.stack((torch.tensor([1.0, 3.0]), half), 1))


def test_an_attention_block_by_hand():
    torch.manual_seed(2)
    block = Pointer(WIDTH, 7, 2, ATTEND)
    states = torch.randn(3, STEPS, WIDTH)
    scores = block.query(states) @ block.key(states).mT / 7**0.5
    weights = scores.masked_fill(torch.ones(STEPS, STEPS).triu(1).bool(), -torch.inf).softmax(-1)
    expected = torch.cat((states, weights @ block.value(states)), -1)
    assert torch.allclose(block(states, open_mask(3, STEPS)), expected, atol=1e-6)


def test_what_is_alike_is_looked_at_first():
    """Queries that begin as the keys do score |W x|^2 for what is the same, and no more for what is as long."""
    torch.manual_seed(19)
    block = Pointer(64, 16, 2, ATTEND, alike=True)
    asked = torch.randn(7, 1, 64)
    states = torch.cat((asked, torch.randn(7, 5, 64), asked), 1)  # the first is what the last asks about
    heard = []
    with hook(Looked, lambda event: heard.append(event.weights)):
        block(states, open_mask(7, 7))
    assert (heard[0][:, -1, 0] > heard[0][:, -1, 1:-1].max(-1).values).all()
    apart = Pointer(64, 16, 2, ATTEND)
    assert not torch.equal(apart.query.weight, apart.key.weight)


def test_what_stood_before():
    states = torch.arange(1.0, 6.0)[None, :, None]
    assert before(states, 2).flatten().tolist() == [0, 0, 1, 2, 3]
    assert before(states, 9).flatten().tolist() == [0] * 5
    assert before(states, 1, ends=3).flatten().tolist() == [0, 1, 2, 2, 2]  # three thirds steps, after 1 and 2
    assert before(states, 2, ends=3).flatten().tolist() == [0, 0, 1, 1, 1]
    assert before(states, 3, ends=3).flatten().tolist() == [0] * 5


def test_ends_do_not_see_one_another():
    found = seen(open_mask(2, 5), 3)
    assert found[0].long().tolist() == [[1] * 5, [1] * 5, [1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 0, 0, 1]]


@pytest.mark.parametrize("kind", ["both", "convolutions", "attention"])
def test_several_ends_are_as_many_sequences(kind):
    torch.manual_seed(11)
    model = Snail(WIDTH, length=8, filters=3, keys=(7, 5), values=(2, 3), blocks=kind).double()
    common, ends = torch.randn(3, 7, WIDTH, dtype=torch.double), torch.randn(3, 4, WIDTH, dtype=torch.double)
    together = model(Branched(torch.cat((common, ends), 1), open_mask(3, 11), 4))
    assert together.mask.shape == (12, 1) and together.summary.shape == (12, model.widths.summary)
    for end in range(4):
        alone = model(Padded(torch.cat((common, ends[:, end : end + 1]), 1), open_mask(3, 8)))
        assert torch.allclose(together.summary.view(3, 4, -1)[:, end], alone.summary)


def test_padding_changes_nothing_and_the_summary_is_the_last_real_state():
    torch.manual_seed(13)
    model = Snail(WIDTH, length=STEPS, filters=3, keys=(7, 5), values=(2, 3))
    states, mask = torch.randn(2, STEPS, WIDTH), open_mask(2, STEPS)
    mask[1, 6:] = False
    found = model(Padded(states, mask))
    alone = model(Padded(states[1:, :6], mask[1:, :6]))
    assert torch.allclose(found.values[1:, :6], alone.values, atol=1e-6) and not found.values[1, 6:].any()
    assert torch.allclose(found.summary[1], alone.values[0, -1], atol=1e-6)
    assert torch.equal(found.summary[0], found.values[0, -1])


def test_channels_grow_as_the_paper_counts():
    """c, + 32, + 128 ceil(log2 T), + 128, + 128 ceil(log2 T), + 256."""
    assert Snail(69).widths.summary == 69 + 32 + 128 * 3 + 128 + 128 * 3 + 256
    assert Snail(69, length=26).widths.summary == 69 + 32 + 128 * 5 + 128 + 128 * 5 + 256
    assert Snail(69, blocks="convolutions").widths.summary == 69 + 2 * 128 * 3
    assert Snail(69, blocks="attention").widths.summary == 69 + 32 + 128 + 256
    assert Snail.settings_of(Spec(1, (20, 5, 28, 28))) == {"length": 101}


def test_every_attention_can_be_watched_and_looks_at_no_future():
    model = Snail(WIDTH, length=STEPS, filters=3, keys=(7, 5), values=(2, 3))
    heard = []
    with hook(Looked, lambda event: heard.append(event.weights)):
        model(Padded(torch.randn(2, STEPS, WIDTH), open_mask(2, STEPS)))
    assert [each.shape for each in heard] == [(2, STEPS, STEPS)] * 2
    for weights in heard:
        assert torch.allclose(weights.sum(-1), torch.ones(2, STEPS)) and not weights.triu(1).any()


def test_watching_changes_nothing():
    model = Snail(WIDTH, length=STEPS, filters=3, keys=(7, 5), values=(2, 3)).double()
    source = Branched(torch.randn(2, 40, WIDTH, dtype=torch.double), open_mask(2, 40), 3)
    plain = model(source).summary
    with hook(Looked, lambda event: None):
        assert torch.allclose(model(source).summary, plain)


@pytest.mark.parametrize("widths", [{"keys": (3,), "values": (3, 5)}, {"keys": (), "values": ()}])
def test_widths_that_do_not_pair_are_refused(widths):
    with pytest.raises(ShapeError, match="each attention has keys and values"):
        Snail(WIDTH, **widths)


def test_gradients():
    torch.manual_seed(17)
    model = Snail(2, length=3, filters=2, keys=(3, 2), values=(2, 2)).double()
    states = torch.randn(2, 5, 2, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda data: model(Branched(data, open_mask(2, 5), 2)).summary, (states,))
