"""Self-attention over a grid, and the block that stands in its place as a control."""

import pytest
import torch
from torch.nn import functional as F

import regard
from regard.gan.layers import EqualResidual, SelfAttention
from regard.registry import maker, names

WIDTH = 16


def sizes(module):
    return sum(each.numel() for each in module.parameters())


def with_gamma(value=0.7, **settings):
    layer = SelfAttention(WIDTH, False, **settings)
    torch.nn.init.constant_(layer.gamma, value)
    return layer


@pytest.mark.parametrize("spectral", [True, False])
@pytest.mark.parametrize("pool", [True, False])
def test_at_the_start_it_changes_nothing(spectral, pool):
    layer, data = SelfAttention(WIDTH, spectral, pool=pool), torch.randn(2, WIDTH, 4, 6)
    assert torch.equal(layer(data), data)


def test_at_the_start_gamma_alone_learns():
    layer, data = SelfAttention(WIDTH, True), torch.randn(2, WIDTH, 4, 6)
    layer(data).square().sum().backward()
    assert layer.gamma.grad.abs() > 0
    for each in (layer.of_query, layer.of_key, layer.of_value, layer.out):
        assert each.weight.grad is not None and not each.weight.grad.any()


def by_hand(layer, data):
    """The paper's equations, cell by cell."""
    cells = data.flatten(2)
    f, g, h = (
        torch.einsum("ac,bcn->ban", each.weight, cells) for each in (layer.of_key, layer.of_query, layer.of_value)
    )
    scores = torch.einsum("bai,baj->bij", f, g)  # s_ij = f(x_i)'g(x_j)
    beta = scores.softmax(1)  # over i: what cell j looks at
    seen = torch.einsum("bij,bei->bej", beta, h)
    return data + layer.gamma * torch.einsum("ce,ben->bcn", layer.out.weight, seen).view_as(data), beta


def test_it_is_the_papers_equations():
    layer, data = with_gamma(), torch.randn(2, WIDTH, 3, 5)
    right, beta = by_hand(layer, data)
    assert torch.allclose(layer(data), right, atol=1e-6)
    with regard.watch(layer) as seen:
        layer(data)
    (look,) = seen.looks
    assert torch.allclose(look.weights[:, 0], beta.mT, atol=1e-6)
    assert torch.allclose(look.weights.sum(-1), torch.ones(2, 1, 15), atol=1e-6)


def test_it_is_one_head_of_pytorchs_kernel_at_scale_one():
    layer, data = with_gamma(), torch.randn(2, WIDTH, 7, 5)
    cells = data.flatten(2).mT
    query, keys, values = (each(cells).unsqueeze(1) for each in (layer.of_query, layer.of_key, layer.of_value))
    seen = F.scaled_dot_product_attention(query, keys, values, scale=1.0).squeeze(1)
    right = data + layer.gamma * layer.out(seen).mT.view_as(data)
    assert torch.allclose(layer(data), right, atol=1e-5)


def test_pooled_keys_are_the_largest_of_two_by_two_cells():
    layer, data = with_gamma(pool=True), torch.randn(1, WIDTH, 4, 6)
    keys = layer.of_key(data.flatten(2).mT).mT.view(1, -1, 4, 6)
    values = layer.of_value(data.flatten(2).mT).mT.view(1, -1, 4, 6)
    pooled = [
        torch.stack([torch.stack([each[0, :, r : r + 2, c : c + 2].amax((1, 2)) for c in (0, 2, 4)]) for r in (0, 2)])
        for each in (keys, values)
    ]
    query = layer.of_query(data.flatten(2).mT)[0]
    weights = (query @ pooled[0].flatten(0, 1).T).softmax(-1)
    seen = layer.out(weights @ pooled[1].flatten(0, 1))
    assert torch.allclose(layer(data)[0], data[0] + layer.gamma * seen.T.view(WIDTH, 4, 6), atol=1e-5)


def test_widths_are_the_papers():
    layer = SelfAttention(WIDTH, False)
    shapes = [tuple(each.weight.shape) for each in (layer.of_query, layer.of_key, layer.of_value, layer.out)]
    assert shapes == [(2, 16), (2, 16), (8, 16), (16, 8)]
    whole = SelfAttention(WIDTH, False, values_narrower=1)
    assert tuple(whole.of_value.weight.shape) == (16, 16)
    assert tuple(SelfAttention(4, False).of_query.weight.shape) == (1, 4), "never narrower than one"


def test_moved_cells_move_what_they_gather():
    """Only what cells hold matters, not where they stand."""
    layer, data = with_gamma(), torch.randn(1, WIDTH, 4, 4)
    order = torch.randperm(16)
    mixed = data.flatten(2)[:, :, order].view_as(data)
    assert torch.allclose(layer(mixed).flatten(2), layer(data).flatten(2)[:, :, order], atol=1e-5)


def test_any_attention_can_stand_in_it():
    for score in ("additive", "cosine", "scaled_dot"):
        layer = with_gamma(attend=maker("attend", "attention", score=maker("score", score)))
        found = layer(torch.randn(2, WIDTH, 3, 5))
        assert found.shape == (2, WIDTH, 3, 5)
        found.sum().backward()
        assert layer.of_query.weight.grad.any()


@pytest.mark.parametrize("width", [8, 16, 32, 64, 256])
@pytest.mark.parametrize("narrower", [{}, {"values_narrower": 1}])
def test_the_control_has_as_many_weights(width, narrower):
    ours, control = (sizes(each(width, True, **narrower)) for each in (SelfAttention, EqualResidual))
    assert ours <= control
    inside = EqualResidual(width, True, **narrower).narrow.out_channels
    assert 2 * width * (inside - 1) + 9 * (inside - 1) ** 2 < ours, "one number less inside would be fewer"


def test_the_control_sees_what_lies_beside_a_cell_alone():
    layer = EqualResidual(WIDTH, False)
    data = torch.randn(1, WIDTH, 7, 7, requires_grad=True)
    layer(data)[0, :, 3, 3].sum().backward()
    reached = data.grad[0].abs().sum(0) > 0
    assert reached[2:5, 2:5].any() and not reached[[0, 1, 5, 6]].any() and not reached[:, [0, 1, 5, 6]].any()


@pytest.mark.parametrize("name", names("layer"))
@pytest.mark.parametrize("spectral", [True, False])
def test_every_layer_keeps_the_grid_and_takes_half_precision(name, spectral):
    layer = names("layer")[name](WIDTH, spectral)
    for gamma in (each for key, each in layer.named_parameters() if key == "gamma"):
        torch.nn.init.ones_(gamma)
    data = torch.randn(2, WIDTH, 4, 6).to(memory_format=torch.channels_last)
    assert layer(data).shape == data.shape
    assert ("sigma" in " ".join(layer.state_dict())) == spectral
    with torch.autocast("cpu", torch.bfloat16):
        found = layer(data.requires_grad_())
    found.float().square().sum().backward()
    assert all(torch.isfinite(each.grad).all() and each.grad.any() for each in layer.parameters())
