"""Attention that drops weights as one operation: the same values and gradients as step by step, with the same draws."""

import pytest
import torch

from regard import masks
from regard.fast.dropout import factors
from regard.fast.dropped_attention import dropped_attention

SHARE, SCALE = 0.3, 0.7
MASKS = {
    "none": None,
    "of keys": masks.from_lengths(torch.tensor((11, 7)))[:, None, None],
    "causal": masks.causal(5, 11, 2)[None, None],
    "of each row": (masks.from_lengths(torch.tensor((11, 7)))[:, None] & masks.causal(5, 11, 6))[:, None],
}


def plain(query, keys, values, allowed):
    """Every step in the open."""
    everything = torch.ones(1, 1, 1, keys.shape[-2], dtype=torch.bool) if allowed is None else allowed
    weights = masks.softmax(SCALE * query @ keys.mT, everything)
    return (weights * factors(weights.shape, SHARE).to(weights.dtype)) @ values


def inputs(kind=torch.double):
    """Query, keys and values of two rows and three heads, as heads are split: not side by side in memory."""
    torch.manual_seed(1)
    shapes = ((2, 5, 3, 7), (2, 11, 3, 7), (2, 11, 3, 13))
    return [torch.randn(shape, dtype=kind).transpose(1, 2).requires_grad_() for shape in shapes]


@pytest.mark.parametrize("allowed", MASKS.values(), ids=MASKS)
def test_values_and_gradients_are_those_of_every_step_by_itself(allowed):
    found = []
    for attend in (plain, lambda *given: dropped_attention(*given, SHARE, SCALE)):
        given = inputs()
        torch.manual_seed(5)
        context = attend(*given, allowed)
        context.square().sum().backward()
        found.append([context.detach(), *(each.grad for each in given)])
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-10)


def test_a_row_that_may_look_at_nothing_stays_finite():
    given = inputs()
    allowed = torch.ones(2, 1, 5, 11, dtype=torch.bool)
    allowed[0, 0, 3] = False
    context = dropped_attention(*given, allowed, SHARE, SCALE)
    context.sum().backward()
    assert all(each.isfinite().all() for each in (context, *(each.grad for each in given)))


def test_half_precision_stays_near():
    full = [each.detach() for each in inputs(torch.float32)]
    half = [each.bfloat16() for each in full]
    found = []
    for given in (full, half):
        torch.manual_seed(5)
        with torch.autocast("cpu", torch.bfloat16):
            found.append(dropped_attention(*given, MASKS["causal"], SHARE, SCALE))
    assert found[1].dtype == torch.bfloat16
    assert torch.allclose(found[0], found[1].float(), atol=0.2)
