"""LAMB: two steps by hand, where its ratio does not apply, and a state that can be saved."""

import copy

import numpy as np
import pytest
import torch

from regard.learn.lamb import Lamb
from regard.learn.optimise import optimiser_for
from regard.learn.settings import TrainSettings
from regard.registry import maker
from small import batch, model

RATE, BETAS, EPSILON, DECAY = 0.3, (0.8, 0.9), 1e-3, 0.1


def made(*weights):
    matrices, vectors = ([each for each in weights if (each.dim() > 1) == want] for want in (True, False))
    groups = [{"params": matrices, "weight_decay": DECAY}, {"params": vectors, "weight_decay": 0.0}]
    return Lamb([each for each in groups if each["params"]], RATE, BETAS, EPSILON)


def test_two_steps_by_hand():
    matrix = torch.nn.Parameter(torch.tensor([[3.0, 0.0], [0.0, -4.0]], dtype=torch.float64))
    vector = torch.nn.Parameter(torch.tensor([2.0, 1.0], dtype=torch.float64))
    optimiser, wanted = made(matrix, vector), [matrix.detach().numpy().copy(), vector.detach().numpy().copy()]
    means, squares = [np.zeros((2, 2)), np.zeros(2)], [np.zeros((2, 2)), np.zeros(2)]
    for step, scale in enumerate((1.0, -0.5), 1):
        gradients = [scale * np.array([[1.0, 2.0], [0.5, 1.0]]), scale * np.array([1.0, -3.0])]
        matrix.grad, vector.grad = map(torch.from_numpy, gradients)
        optimiser.step()
        for each, gradient in enumerate(gradients):
            means[each] = BETAS[0] * means[each] + (1 - BETAS[0]) * gradient
            squares[each] = BETAS[1] * squares[each] + (1 - BETAS[1]) * gradient**2
            root = np.sqrt(squares[each] / (1 - BETAS[1] ** step)) + EPSILON
            update = means[each] / (1 - BETAS[0] ** step) / root + (0 if each else DECAY) * wanted[each]
            ratio = 1.0 if each else np.sqrt((wanted[0] ** 2).sum()) / np.sqrt((update**2).sum())
            before = wanted[each]
            wanted[each] = before - RATE * ratio * update
            if not each:  # the step is as long as the matrix, times the rate
                assert np.linalg.norm(wanted[0] - before) == pytest.approx(RATE * np.linalg.norm(before))
        assert np.allclose(matrix.detach().numpy(), wanted[0], atol=1e-12)
        assert np.allclose(vector.detach().numpy(), wanted[1], atol=1e-12)


def test_a_matrix_of_zeros_moves_and_one_without_a_gradient_stays():
    zero, still, none = (torch.nn.Parameter(torch.zeros(2, 3)) for _ in range(3))
    zero.grad, still.grad = torch.ones(2, 3), torch.zeros(2, 3)
    made(zero, still, none).step()
    assert torch.allclose(zero, torch.full((2, 3), -RATE), rtol=2e-3)
    assert (still == 0).all() and (none == 0).all()


def test_it_learns_and_goes_on_where_it_was():
    built, pairs = model().recipe.build(31, 37), batch()
    settings = TrainSettings(rate=0.01, optimiser=maker("optimiser", "lamb"))
    optimiser, losses = optimiser_for(built, settings), []

    def update(some, with_them):
        logits, wanted = some.teach(pairs).logits, pairs.target.data[:, 1:]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
        with_them.zero_grad()
        loss.backward()
        with_them.step()
        return float(loss.detach())

    losses = [update(built, optimiser) for _ in range(30)]
    assert losses[-1] < 0.8 * losses[0]
    twin = model().recipe.build(31, 37)
    twin.load_state_dict(built.state_dict())
    other = optimiser_for(twin, settings)
    other.load_state_dict(copy.deepcopy(optimiser.state_dict()))
    assert update(built, optimiser) == update(twin, other)
    assert all(torch.equal(a, b) for a, b in zip(built.parameters(), twin.parameters(), strict=True))
