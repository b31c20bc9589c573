"""Spectral normalisation: a singular value by hand, PyTorch's own beside it, and when its vectors move."""

import copy

import pytest
import torch
from torch import nn

from regard.gan.spectral import Convolution, Embedding, Linear, Sigma

LAYERS = {
    "convolution": (lambda on: Convolution(3, 5, spectral=on), (2, 3, 7, 7)),
    "linear": (lambda on: Linear(7, 5, spectral=on), (2, 7)),
}


def values(layer):
    """The singular values of the weight that a layer computes with."""
    return torch.linalg.svdvals((layer.weight / layer.sigma(layer.weight)).detach().flatten(1))


def turned(sigma, weight, count=60):
    for _ in range(count):
        sigma(weight)
    return sigma


def test_a_singular_value_by_hand():
    weight = torch.tensor([[3.0, 0.0], [0.0, -5.0], [0.0, 0.0]])
    sigma = turned(Sigma(weight), weight)
    assert sigma(weight).item() == pytest.approx(5.0, rel=1e-5)
    assert sigma.u.abs().tolist() == pytest.approx([0, 1, 0], abs=1e-5)


def test_one_turn_by_hand():
    weight = torch.tensor([[2.0, 1.0], [0.0, 1.0]])
    sigma = Sigma(weight)
    sigma.u.copy_(torch.tensor([0.6, 0.8]))
    v = torch.tensor([1.2, 1.4]) / (1.2**2 + 1.4**2) ** 0.5
    product = torch.tensor([2 * v[0] + v[1], v[1]])
    assert sigma(weight).item() == pytest.approx(product.norm().item(), rel=1e-6)
    assert torch.allclose(sigma.u, product / product.norm(), atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_the_largest_singular_value_is_one(name):
    layer, shape = LAYERS[name][0](True), LAYERS[name][1]
    for _ in range(80):
        layer(torch.randn(shape))
    found = values(layer)
    assert found.max().item() == pytest.approx(1.0, abs=1e-3)
    assert (found[1:] < 1.001).all()


def test_a_weight_is_a_matrix_of_outputs_and_all_the_rest():
    layer = Convolution(3, 5)
    turned(layer.sigma, layer.weight)
    right = torch.linalg.svdvals(layer.weight.detach().reshape(5, 27)).max()
    assert layer.sigma(layer.weight).item() == pytest.approx(right.item(), rel=1e-4)


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_as_pytorchs_own(name):
    """Values and gradients, once both have turned long enough to know the same vectors."""
    made, shape = LAYERS[name]
    ours = made(True).double()
    plain = made(False).double()
    plain.load_state_dict({key: each for key, each in ours.state_dict().items() if "sigma" not in key})
    theirs = nn.utils.parametrizations.spectral_norm(plain)
    rows = torch.randn(shape, dtype=torch.double)
    for _ in range(300):
        ours(rows), theirs(rows)
    one, two = ours(rows), theirs(rows)
    assert torch.allclose(one, two, atol=1e-8)
    one.square().sum().backward(), two.square().sum().backward()
    assert torch.allclose(ours.weight.grad, theirs.parametrizations.weight.original.grad, atol=1e-7)


def test_its_vector_turns_once_a_forward_in_training_and_never_in_use():
    layer = Linear(7, 5)
    before = layer.sigma.u.clone()
    twin = copy.deepcopy(layer)
    layer(torch.randn(2, 7))
    twin.sigma._turn(twin.weight.detach())
    assert not torch.equal(layer.sigma.u, before)
    assert torch.equal(layer.sigma.u, twin.sigma.u), "one turn, no more"
    layer.eval()
    before = layer.sigma.u.clone()
    first = layer(torch.ones(2, 7))
    assert torch.equal(layer(torch.ones(2, 7)), first)
    assert torch.equal(layer.sigma.u, before)
    with torch.no_grad():
        layer.train()(torch.ones(2, 7))
    assert not torch.equal(layer.sigma.u, before), "a pass that learns nothing is one all the same"


def test_its_vector_is_kept_with_the_weights():
    layer = Convolution(3, 5)
    assert "sigma.u" in layer.state_dict()
    other = Convolution(3, 5)
    other.load_state_dict(layer.state_dict())
    pixels = torch.randn(2, 3, 7, 7)
    assert torch.equal(layer(pixels), other(pixels))


def test_it_can_be_switched_off():
    layer = Linear(7, 5, spectral=False)
    rows = torch.randn(2, 7)
    assert torch.equal(layer(rows), nn.functional.linear(rows, layer.weight, layer.bias))
    assert set(layer.state_dict()) == {"weight", "bias"}


def test_in_half_precision_the_singular_value_is_found_in_full():
    layer = Linear(64, 64)
    turned(layer.sigma, layer.weight)
    layer.eval()
    full = layer.sigma(layer.weight)
    with torch.autocast("cpu", torch.bfloat16):
        half = layer.sigma(layer.weight)
        found = layer(torch.randn(3, 64))
    assert half.dtype == torch.float32 and found.dtype == torch.bfloat16
    assert half.item() == pytest.approx(full.item(), rel=1e-5)


def test_vectors_of_classes_are_divided_too():
    table = Embedding(3, 5)
    turned(table.sigma, table.weight)
    found = table(torch.tensor([2, 0]))
    right = table.weight[[2, 0]] / torch.linalg.svdvals(table.weight.detach()).max()
    assert torch.allclose(found, right, atol=1e-5)


def test_the_vectors_are_held_still_for_the_gradient():
    """d(w / sigma) has the term of sigma, whose gradient is u v'."""
    layer = Linear(5, 3, bias=False).double().eval()
    layer.sigma.double()
    turned(layer.sigma.train(), layer.weight, 200).eval()
    weight = layer.weight.detach().clone().requires_grad_()
    layer.sigma(weight).backward()
    u, _, v = torch.linalg.svd(weight.detach())
    assert torch.allclose(weight.grad.abs(), torch.outer(u[:, 0], v[0]).abs(), atol=1e-6)
