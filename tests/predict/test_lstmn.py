"""Long short-term memory-networks: the equations by hand, the limits in which they are an LSTM, what is recorded."""

import numpy as np
import pytest
import torch
from torch import nn

import regard
from regard.encode.lstmn import LstmnEncoder
from regard.errors import ShapeError, UsageError
from regard.masks import from_lengths
from regard.recipe import resolve
from regard.registry import maker
from regard.tape import Tape, TapeLayer
from regard.types import Attended, Padded, Prepared, Recurrent, nothing
from small import TARGET, model, words

ADDITIVE = maker("attend", "attention", score=maker("score", "additive", hidden=3))
INPUTS, HIDDEN = 5, 7


def layer(cell="lstm", attend=ADDITIVE):
    return TapeLayer(INPUTS, HIDDEN, maker("cell", cell), attend).double()


def through(made, rows):
    """A layer over all rows: states, cells, and the weights of each look."""
    blank = rows.new_zeros(len(rows), HIDDEN)
    tape = Tape.empty(Recurrent(blank, blank if made.cell.keeps else None))
    found, looks = [], []
    for step in range(rows.shape[1]):
        after, tape, looked = made(rows[:, step], made.cell.project[0](rows[:, step]), tape, step)
        found.append(after)
        looks.append(looked.weights[:, 0])
    return found, looks


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_the_equations_by_hand():
    """Cheng et al. 2016, equations 4 to 9, one row at a time, in NumPy."""
    made, rows = layer(), torch.randn(2, 6, INPUTS, dtype=torch.float64)
    found, looks = through(made, rows)
    named = {name: weight.detach().numpy() for name, weight in made.named_parameters()}
    score = "self_attend.score"
    for row in range(2):
        states, cells, before = [], [], np.zeros(HIDDEN)
        for step in range(6):
            x = rows[row, step].numpy()
            query = named[f"{score}.of_query.weight"] @ np.concatenate((x, before))
            query = query + named.get(f"{score}.of_query.bias", 0)
            scores = [named[f"{score}.vector"] @ np.tanh(query + named[f"{score}.of_key.weight"] @ h) for h in states]
            share = np.exp(scores) / np.exp(scores).sum() if states else np.zeros(0)
            hidden = sum((s * h for s, h in zip(share, states, strict=True)), np.zeros(HIDDEN))
            cell = sum((s * c for s, c in zip(share, cells, strict=True)), np.zeros(HIDDEN))
            gates = named["cell.project.0.weight"] @ x + named["cell.project.0.bias"]
            gates = gates + named["cell.recur.weight"] @ hidden + named["cell.recur.bias"]
            enter, forget, new, leave = np.split(gates, 4)
            cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
            states.append(sigmoid(leave) * np.tanh(cell))
            cells.append(cell)
            before = hidden
            assert np.allclose(found[step].hidden[row].detach().numpy(), states[-1], atol=1e-10)
            assert np.allclose(found[step].cell[row].detach().numpy(), cells[-1], atol=1e-10)
            assert np.allclose(looks[step][row].detach().numpy(), [*share, 0.0], atol=1e-10)


class Last(nn.Module):
    """Looks at the last state on the tape and at nothing else."""

    width = 2 * HIDDEN

    def prepare(self, keys, values, mask=None, start=0, gates=None):
        return Prepared(keys, values, mask.unsqueeze(1))

    def forward(self, query, prepared, *, start=None, real=None):
        weights = torch.zeros_like(prepared.keys[..., :1]).transpose(-1, -2).repeat(1, query.shape[1], 1)
        if prepared.keys.shape[1] > 1:
            weights[..., -2] = 1.0  # the last place of all is that of the input itself
        return Attended(weights @ prepared.values, lambda: weights)


def test_looking_at_the_last_state_alone_it_is_an_lstm():
    made, rows = layer(), torch.randn(3, 6, INPUTS, dtype=torch.float64)
    made.self_attend = Last()
    cell = nn.LSTMCell(INPUTS, HIDDEN).double()
    with torch.no_grad():
        cell.weight_ih.copy_(made.cell.project[0].weight), cell.bias_ih.copy_(made.cell.project[0].bias)
        cell.weight_hh.copy_(made.cell.recur.weight), cell.bias_hh.copy_(made.cell.recur.bias)
    found, _ = through(made, rows)
    state = torch.zeros(3, HIDDEN, dtype=torch.float64), torch.zeros(3, HIDDEN, dtype=torch.float64)
    for step in range(6):
        state = cell(rows[:, step], state)
        assert torch.equal(found[step].hidden, state[0]), "bit for bit"
        assert torch.equal(found[step].cell, state[1])
        state = torch.cat(state, -1).chunk(2, -1)  # side by side, as on a tape: a product may add in another order


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_gradients(cell):
    made = layer(cell)
    rows = torch.randn(2, 4, INPUTS, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda some: through(made, some)[0][-1].hidden, (rows,), fast_mode=True)


def test_the_first_look_is_empty_and_each_other_sums_to_one():
    _, looks = through(layer(), torch.randn(3, 5, INPUTS, dtype=torch.float64))
    assert (looks[0] == 0).all()
    for step, weights in enumerate(looks[1:], 1):
        assert weights.shape == (3, step + 1)
        assert torch.allclose(weights.sum(-1), torch.ones(3, dtype=torch.float64))
        assert (weights[:, -1] == 0).all(), "a state is not on the tape before it is there"


def test_any_attention_reads_a_tape_if_it_brings_home_what_stands_there():
    for score in ("dot", "cosine"):
        with pytest.raises((ShapeError, RuntimeError)):  # a query of word and state is wider than a key
            through(
                layer(attend=maker("attend", "attention", score=maker("score", score))), torch.randn(1, 3, 5).double()
            )
    heads = maker("attend", "heads", heads=2, width=2 * HIDDEN)
    found, _ = through(layer(attend=heads), torch.randn(2, 4, INPUTS, dtype=torch.float64))
    assert torch.isfinite(found[-1].hidden).all()
    with pytest.raises(ShapeError, match=r"(?s)as wide as what stands on it, 14.*Write width = 14"):
        layer(attend=maker("attend", "heads", heads=2, width=8))
    gated = maker("choice", "gated", encode=maker("encode", "recurrent", hidden=4))
    with pytest.raises(UsageError, match="read their neighbours"):
        layer(attend=maker("attend", "attention", score=maker("score", "additive"), choice=gated))


# --- in models ---------------------------------------------------------------------------------------------


def test_what_a_language_model_looked_at_is_recorded():
    settings = ["predict.hidden=8", "predict.embed.width=6", "predict.layers=2", "predict.self_attend.score.hidden=5"]
    built = resolve("lstmn", settings).build(0, TARGET).eval()
    target = words(TARGET, (6, 6, 6))
    with regard.watch(built) as seen:
        built.predict.teach(target, built.nothing_read(3))
    assert seen.kinds == {"decoder-self": 2}
    weights = seen.weights("decoder-self", 0)
    assert weights.shape == (3, 1, 6, 6)
    assert (weights.triu(0) == 0).all(), "neither itself nor what comes after"
    assert torch.allclose(weights.sum(-1)[..., 1:], torch.ones(3, 1, 5), atol=1e-5)
    state = built.start(nothing(3))
    for column in range(6):
        state = built.step(target.data[:, column], state).state
    assert [tape.slots.keys.shape[1] for tape in state.tapes] == [6, 6]


def test_with_a_source_it_looks_at_both():
    built = model(["predict.part=lstmn", "predict.hidden=8", "predict.embed.width=8", "predict.bridge=project"])
    source, target = words(31, (7, 5, 2)), words(TARGET, (6, 3, 5))
    with regard.watch(built) as seen:
        taught = built.predict.teach(target, built.read(source))
    assert set(seen.kinds) == {"cross", "decoder-self"}
    assert len(taught.looked) == 1 and taught.looked[0].weights.shape == (3, 6, 7)
    assert built.predict.attends and not built.predict.continuous
    assert not resolve("lstmn").build(0, TARGET).predict.attends


def test_an_encoder_reads_from_left_to_right_and_keeps_the_last_real_state():
    encoder = LstmnEncoder(INPUTS, hidden=HIDDEN, layers=2, attend=ADDITIVE).double()
    mask = from_lengths(torch.tensor((6, 4, 1)))
    rows = torch.randn(3, 6, INPUTS, dtype=torch.float64)
    memory = encoder(Padded(rows, mask))
    first, _ = through(encoder.layers[0], rows)
    for row, length in enumerate((6, 4, 1)):
        assert torch.allclose(memory.final[0].hidden[row], first[length - 1].hidden[row])
        assert torch.allclose(memory.final[0].cell[row], first[length - 1].cell[row])
        assert torch.allclose(memory.summary[row], memory.values[row, length - 1])
        assert (memory.values[row, length:] == 0).all()
    dirty = rows.clone()
    dirty[~mask] = float("nan")
    dirty.requires_grad_()
    again = encoder(Padded(dirty, mask))
    assert torch.allclose(again.values, memory.values)
    again.summary.sum().backward()
    assert torch.isfinite(dirty.grad).all()


def test_a_step_is_as_precise_as_its_weights_under_autocast():
    """Its products are small: in half precision they would take longer, and so would what follows them."""
    made = layer().float()
    rows = torch.randn(2, 6, INPUTS)
    expected, looks = through(made, rows)
    with torch.autocast("cpu", torch.bfloat16):
        projected = made.cell.project[0](rows)
        assert projected.dtype == torch.bfloat16
        found, seen = through(made, rows)
    assert found[-1].hidden.dtype == found[-1].cell.dtype == torch.float32
    assert torch.allclose(found[-1].hidden, expected[-1].hidden, atol=0.02)
    assert torch.allclose(seen[-1], looks[-1], atol=0.02)
