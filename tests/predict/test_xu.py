"""The decoder of Show, Attend and Tell: a step in NumPy, its first state, the gate, and what the coverage adds."""

import numpy as np
import pytest
import torch

from regard.hooks import loss_terms
from regard.predict.xu import uncovered
from regard.types import Attended, Batch
from small import TARGET, batch, model, pictures, words

XU = ["predict.part=xu", "predict.hidden=7", "predict.embed.width=5", "attend.score.part=additive"]
SEEN = [*XU, "embed.part=pixels", "encode.part=grid", "encode.hidden=11", "encode.layers=2"]


def seen(more=()):
    """A model of images, in double precision, and a batch."""
    built = model([*SEEN, *more], source=3).double()
    source = pictures([(13, 17), (11, 7), (5, 12)])
    return built, Batch(type(source)(source.data.double(), source.mask), words(TARGET, (6, 3, 5)))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def affine(linear, x):
    found = x @ linear.weight.detach().numpy().T
    return found if linear.bias is None else found + linear.bias.detach().numpy()


def step_by_hand(decoder, keys, token, hidden, kept, gate):
    """One step for one item, from its real cells."""
    score, cell = decoder.attend.score, decoder.cells[0]
    scores = np.tanh(affine(score.of_query, hidden) + affine(score.of_key, keys)) @ score.vector.detach().numpy()
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    beta = sigmoid(affine(decoder.select, hidden)) if gate else 1.0
    context = beta * (weights @ keys)
    word = decoder.embed.table.weight.detach().numpy()[token]
    total = affine(cell.project[0], word) + affine(cell.project[1], context) + affine(cell.recur, hidden)
    enter, forget, new, leave = np.split(total, 4)
    kept = sigmoid(forget) * kept + sigmoid(enter) * np.tanh(new)
    hidden = sigmoid(leave) * np.tanh(kept)
    deep = np.tanh(word + affine(decoder.readout.join, np.concatenate((hidden, context))))
    return affine(decoder.readout.inner.score, deep), hidden, kept, weights


@pytest.mark.parametrize("gate", [True, False])
def test_two_steps_by_hand(gate):
    built, pairs = seen([f"predict.gate={str(gate).lower()}"])
    decoder, memory = built.predict, built.read(pairs.source)
    assert (decoder.select is None) != gate
    state = decoder.start(memory)
    numbers = []
    for row in range(3):
        keys = memory.keys[row][memory.mask[row]].detach().numpy()
        mean = keys.mean(0)
        hidden = np.tanh(affine(decoder.bridge.hidden[0][0], mean))
        kept = np.tanh(affine(decoder.bridge.cell[0][0], mean))
        np.testing.assert_allclose(state.layers[0].hidden[row].detach(), hidden, atol=1e-12)
        np.testing.assert_allclose(state.layers[0].cell[row].detach(), kept, atol=1e-12)
        numbers.append((keys, hidden, kept))
    for place in (0, 1):
        stepped = decoder.step(pairs.target.data[:, place], state)
        state = stepped.state
        for row, (keys, hidden, kept) in enumerate(numbers):
            token = int(pairs.target.data[row, place])
            logits, hidden, kept, weights = step_by_hand(decoder, keys, token, hidden, kept, gate)
            numbers[row] = keys, hidden, kept
            np.testing.assert_allclose(stepped.logits[row].detach(), logits, atol=1e-12)
            np.testing.assert_allclose(
                stepped.looked[0].weights[row, 0][memory.mask[row]].detach(), weights, atol=1e-12
            )
            np.testing.assert_allclose(state.layers[0].cell[row].detach(), kept, atol=1e-12)


def test_the_first_states_may_have_a_layer_more():
    built, pairs = seen(["predict.bridge.hidden=3"])
    first = built.predict.bridge(built.read(pairs.source))[0]
    assert [each.out_features for each in built.predict.bridge.cell[0] if hasattr(each, "out_features")] == [3, 7]
    assert first.hidden.abs().max() < 1 and not torch.equal(first.hidden, first.cell)
    plain = model([*XU, "predict.cell=gru"])
    assert plain.predict.bridge.cell is None
    assert plain.predict.bridge(plain.read(batch().source))[0].cell is None


def test_the_uncovered_by_hand():
    """Two steps over two places: 0.5 + 0.9 and 0.5 + 0.1; the third step is padding, the third place too."""
    weights = torch.tensor([[[0.5, 0.5, 0.0], [0.9, 0.1, 0.0], [1.0, 0.0, 0.0]]])
    looked = Attended(torch.zeros(1, 3, 2), lambda: weights)
    real, mask = torch.tensor([[True, True, False]]), torch.tensor([[True, True, False]])
    assert uncovered(looked, real, mask).item() == pytest.approx(0.4**2 + 0.4**2)
    heads = Attended(torch.zeros(1, 3, 2), lambda: torch.stack((weights, weights.flip(-1)), 1))
    both = (weights + weights.flip(-1)) / 2
    assert uncovered(heads, real, mask).item() == pytest.approx(((1 - both[0, :2].sum(0)) ** 2)[:2].sum().item())


@pytest.mark.parametrize(("coverage", "training"), [(0.3, True), (0.0, True), (0.3, False)])
def test_the_coverage_is_a_term_of_the_loss_in_training_alone(coverage, training):
    built, pairs = seen([f"predict.coverage={coverage}"])
    built.train(training)
    with loss_terms() as extra:
        taught = built.teach(pairs)
    assert len(extra.told) == bool(coverage and training)
    memory = built.read(pairs.source)
    wanted = coverage * uncovered(taught.looked[0], pairs.target.mask[:, 1:], memory.mask).mean() if training else 0.0
    assert extra(torch.zeros(3)).item() == pytest.approx(float(torch.as_tensor(wanted).detach()))
    if extra.told:
        extra(torch.zeros(3)).backward()
        assert built.predict.attend.score.vector.grad.abs().sum() > 0


def test_aiming_at_one_look_a_place_is_aiming_at_as_many_as_there_are():
    """The two differ by what no weights change: L - 2 T + T^2 / L."""
    weights = torch.rand(1, 3, 5, requires_grad=True)
    shares = weights / weights.sum(-1, keepdim=True)
    real, mask = torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 5, dtype=torch.bool)
    ones = uncovered(Attended(torch.zeros(1, 3, 2), lambda: shares), real, mask).sum()
    evens = (3 / 5 - shares.sum(1)).square().sum()
    assert ones.item() == pytest.approx(evens.item() + 5 - 6 + 9 / 5, abs=1e-5)
    first, second = (torch.autograd.grad(each, weights, retain_graph=True)[0] for each in (ones, evens))
    assert torch.allclose(first, second, atol=1e-6)


def test_coverage_spreads_the_looks():
    """Minimised alone, the term has every place looked at."""
    built, pairs = seen(["predict.coverage=1.0"])
    moves = torch.optim.Adam(built.parameters(), 0.01)
    found = []
    for _ in range(30):
        with loss_terms() as extra:
            built.train().teach(pairs)
        moves.zero_grad()
        extra(torch.zeros(3)).backward()
        moves.step()
        found.append(float(extra(torch.zeros(3)).detach()))
    assert found[-1] < found[0]


def test_the_gradient_is_right():
    built = model([*SEEN, "predict.coverage=0.7", "encode.hidden=2", "predict.hidden=3"], source=3).double().train()
    source = pictures([(5, 7), (3, 4)])
    source = type(source)(source.data.double(), source.mask)
    target = words(TARGET, (4, 3))
    memory = built.read(source)
    weights = [each for name, each in built.predict.named_parameters() if "table" not in name]
    built.predict.embed.table.weight.requires_grad_(False)

    def loss(keys, *_):
        with loss_terms() as extra:
            taught = built.predict.teach(
                type(target)(target.data[:, :-1], target.mask[:, 1:]),
                type(memory)(keys, keys, memory.mask, keys.mean(1), grid=memory.grid),
            )
        return taught.logits.square().mean() + extra(torch.zeros(2, dtype=torch.double))

    keys = memory.keys.detach().requires_grad_()
    assert torch.autograd.gradcheck(loss, (keys, *weights), fast_mode=True)


def test_without_an_attention_the_mean_is_seen_for_every_word():
    built, pairs = seen(["attend=none"])
    decoder, memory = built.predict, built.read(pairs.source)
    assert not decoder.attends and model(XU).predict.attends
    state = decoder.start(memory)
    stepped = decoder.step(pairs.target.data[:, 0], state)
    assert stepped.looked == () and torch.equal(stepped.state.feed, memory.summary)
    cell, before = decoder.cells[0], state.layers[0]
    word = decoder.embed.table(pairs.target.data[:, 0])
    context = torch.sigmoid(decoder.select(before.hidden)) * memory.summary
    after = cell(cell.project[0](word) + cell.project[1](context), before)
    deep = torch.tanh(word + decoder.readout.join(torch.cat((after.hidden, context), -1)))
    assert torch.allclose(stepped.logits, decoder.readout.inner.score(deep), atol=1e-12)
    with loss_terms() as extra:
        taught = built.train().teach(pairs)
    assert taught.looked == () and extra.told == []
    assert torch.allclose(taught.logits[:, 0], stepped.logits, atol=1e-12)
    order = torch.tensor([2, 0])
    again = decoder.step(pairs.target.data[order, 0], state.reorder(order))
    assert torch.allclose(again.logits, stepped.logits[order], atol=1e-12)
