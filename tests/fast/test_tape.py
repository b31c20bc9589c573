"""All steps of a tape at once: the same numbers and gradients as step by step, and only where nothing else is asked."""

import pytest
import torch

from regard.hooks import Looked, hook
from regard.registry import maker
from regard.tape import Tape, TapeLayer
from regard.types import Recurrent

ROWS, STEPS, INPUTS, HIDDEN, SCORE = 3, 11, 5, 7, 2
ADDITIVE = maker("attend", "attention", score=maker("score", "additive", hidden=SCORE))


def layer(cell="lstm", attend=ADDITIVE):
    return TapeLayer(INPUTS, HIDDEN, maker("cell", cell), attend).double()


def given(steps=STEPS):
    below = torch.randn(ROWS, steps, INPUTS, dtype=torch.float64, requires_grad=True)
    start = Recurrent(*(torch.randn(ROWS, HIDDEN, dtype=torch.float64, requires_grad=True) for _ in range(2)))
    return below, start


def in_the_open(made, below, projected, start):
    tape, found = Tape.empty(start), []
    for step in range(below.shape[1]):
        after, tape, _ = made(below[:, step], projected[:, step], tape, step)
        found.append(after)
    return tuple(torch.stack(each, 1) for each in zip(*((one.hidden, one.cell) for one in found), strict=True))


@pytest.mark.parametrize("steps", [1, 2, STEPS, 37])
@pytest.mark.parametrize("score", ["additive", "fading"])
def test_states_and_gradients_are_those_of_single_steps(score, steps):
    made, (below, start) = (
        layer(attend=maker("attend", "attention", score=maker("score", score, hidden=SCORE))),
        given(steps),
    )
    learnt = [below, start.hidden, start.cell, *made.parameters()]
    found = []
    upstream = torch.randn(2, ROWS, steps, HIDDEN, dtype=torch.float64)
    for run in (made.run, lambda *args: in_the_open(made, *args)):
        states, cells = run(below, made.cell.project[0](below), start)
        total = (torch.stack((states, cells)) * upstream).sum()
        found.append((states, cells, *torch.autograd.grad(total, learnt, allow_unused=True)))
    for ours, theirs in zip(*found, strict=True):
        if theirs is None:  # with a single step nothing is looked at
            assert ours is None or not ours.any()
        else:
            assert torch.allclose(ours, theirs, atol=1e-10)


def test_half_precision_of_what_enters_is_widened():
    made, (below, start) = layer().float(), given()
    below, start = below.float(), Recurrent(start.hidden.float(), start.cell.float())
    with torch.autocast("cpu", torch.bfloat16):
        states, cells = made.run(below, made.cell.project[0](below), start)
    expected = made.run(below, made.cell.project[0](below), start)[0]
    assert states.dtype == cells.dtype == torch.float32
    assert torch.allclose(states, expected, atol=0.02)


@pytest.mark.parametrize(
    "attend",
    [
        maker("attend", "attention", score=maker("score", "general")),
        maker("attend", "attention", scope=maker("scope", "local_m")),
        maker("attend", "attention", choice=maker("choice", "sigmoid")),
        maker("attend", "attention", dropout=0.5),
    ],
)
def test_other_looks_go_step_by_step(attend):
    made, (below, start) = layer(attend=attend), given()
    assert made.run(below, made.cell.project[0](below), start) is None


def test_other_cells_and_watchers_go_step_by_step():
    made, (below, start) = layer("gru"), given()
    assert made.run(below, made.cell.project[0](below), start) is None
    made = layer()
    with hook(Looked, lambda event: None):
        assert made.run(below, made.cell.project[0](below), start) is None
    assert made.run(below, made.cell.project[0](below), start) is not None
