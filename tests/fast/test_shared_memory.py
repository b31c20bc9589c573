"""A memory held once a sentence is looked at as if every row had its own."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.fast.shared_memory import SharedMemory
from regard.hooks import Looked, hook
from regard.types import Padded
from small import ATTENDING, SOURCE, batch, model, overrides, words

SCORES = ("dot", "scaled_dot", "general", "additive", "cosine", "location")


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """The few rows of these tests count as many."""
    monkeypatch.setattr("regard.fast.shared_memory.FEW", 0)


def started(*groups):
    built, pairs = model([item for group in groups for item in group]).eval(), batch()
    return built, built.start(pairs.source)


def copied(state):
    """The same state with a memory of its own for every row."""
    memory = state.memory
    owner = memory.owner if memory.owner is not None else torch.arange(len(memory.layers[0].keys))
    layers = tuple(layer.reorder(owner) for layer in memory.layers)
    return type(state)(**{**vars(state), "memory": SharedMemory(layers)})


def assert_same(built, state):
    tokens = torch.arange(2, 2 + rows_of(state))
    one, other = built.step(tokens, state), built.step(tokens, copied(state))
    assert torch.allclose(one.logits, other.logits, atol=1e-5)
    for ours, theirs in zip(one.looked, other.looked, strict=True):
        assert ours.weights.shape == theirs.weights.shape
        assert torch.allclose(ours.weights, theirs.weights, atol=1e-6)
    return one


def rows_of(state):
    memory = state.memory
    return len(memory.layers[0].keys) if memory.owner is None else len(memory.owner)


@pytest.mark.parametrize("decoder", ATTENDING)
def test_rows_that_share_see_what_rows_that_do_not_see(decoder):
    built, state = started(overrides("predict", decoder))
    with torch.no_grad():
        for index in ([0, 0, 0, 1, 2, 2], [0, 1, 2, 4, 5, 5], [3, 3, 3, 4], [1, 0]):
            state = assert_same(built, state.reorder(torch.tensor(index))).state


@pytest.mark.parametrize("decoder", ATTENDING)
def test_the_rows_of_one_sentence_alone(decoder):
    built = model(overrides("predict", decoder)).eval()
    source = batch().source
    alone = Padded(source.data[:1, : source.lengths[0]], source.mask[:1, : source.lengths[0]])
    state = built.start(alone)
    with torch.no_grad():
        for index in ([0, 0, 0], [2, 0, 1, 1, 0], [3, 4]):
            state = assert_same(built, state.reorder(torch.tensor(index))).state
    assert len(state.memory.layers[0].keys) == 1


@pytest.mark.parametrize("score", SCORES)
def test_every_score(score):
    built, state = started(overrides("predict", "luong"), [f"attend.score={score}"])
    with torch.no_grad():
        assert_same(built, state.reorder(torch.tensor([0, 0, 1, 2, 2])))


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.lists(st.lists(st.integers(0, 99), min_size=1, max_size=7), min_size=1, max_size=4))
def test_any_rows_in_any_order(moves):
    built, state = started(overrides("predict", "luong"))
    with torch.no_grad():
        for move in moves:
            state = assert_same(built, state.reorder(torch.tensor(move) % rows_of(state))).state


def test_the_keys_stay_where_they_are_until_most_are_not_looked_at():
    _, state = started(overrides("predict", "luong"))
    keys = state.memory.layers[0].keys
    shared = state.reorder(torch.tensor([0, 0, 1, 1, 2]))
    assert shared.memory.layers[0].keys is keys
    fewer = shared.reorder(torch.tensor([2, 3]))
    assert torch.equal(fewer.memory.layers[0].keys, keys[1:2])
    assert fewer.memory.owner.tolist() == [0, 0]


def test_where_the_place_of_a_query_matters_rows_look_apart():
    built, state = started(overrides("predict", "luong"), ["attend.scope=local_m"])
    shared = state.reorder(torch.tensor([0, 0, 2]))
    assert shared.memory.owner is None
    assert len(shared.memory.layers[0].keys) == 3
    with torch.no_grad():
        assert_same(built, shared)


class Counted(torch.nn.Linear):
    """A layer without bias that counts the rows that it multiplies."""

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs, bias=False)
        self.rows = []

    def forward(self, rows):
        self.rows.append(rows.shape[:-1].numel())
        return super().forward(rows)


def looks(built, state, owners):
    """A look of so many rows, and the width of what they bring home."""
    shared = state.reorder(torch.tensor(owners))
    query = torch.randn(len(owners), 1, state.layers[0].hidden.shape[-1])
    looked = shared.memory.look(0, built.predict.attend, query, start=None, real=None)
    return looked, shared, looked.context.shape[-1]


@torch.no_grad()
def test_what_multiplies_the_context_is_multiplied_with_every_value_once():
    built, state = started(overrides("predict", "luong"), ["attend.choice=sigmoid"])  # whose weights sum to anything
    looked, shared, width = looks(built, state, [0, 0, 1, 1, 2])
    linear = Counted(width, 4)
    assert torch.allclose(looked.through(linear), looked.context @ linear.weight.T, atol=1e-5)
    again, fewer, _ = looks(built, shared, [0, 1, 2, 3])  # the third sentence is left behind, and its values
    assert torch.allclose(again.through(linear), again.context @ linear.weight.T, atol=1e-5)
    assert len(fewer.memory.layers[0].keys) == 2
    assert linear.rows == [3 * 7]


@torch.no_grad()
def test_values_are_not_multiplied_where_it_would_not_pay():
    built = model(overrides("predict", "luong")).eval()
    state = built.start(words(SOURCE, [99, 60, 3]))
    looked, _, width = looks(built, state, [0, 1, 1, 2, 2])
    linear = Counted(width, 4)
    looked.through(linear)
    assert linear.rows == [5], "three sources of 99 positions, and five rows that will hardly take so many steps"
    with torch.enable_grad():
        looked, _, _ = looks(*started(overrides("predict", "luong")), [0, 0, 1, 1, 2])
        looked.through(linear).sum().backward()
    assert linear.rows == [5, 5] and linear.weight.grad is not None


@pytest.mark.parametrize("decoder", [name for name in ATTENDING if name not in ("lstmn", "transformer")])
@torch.no_grad()
def test_every_recurrent_decoder_multiplies_the_values_and_not_the_context(decoder, monkeypatch):
    built, state = started(overrides("predict", decoder))
    shared = state.reorder(torch.tensor([0, 0, 1, 1, 2]))
    found = built.step(torch.arange(2, 7), shared)
    assert shared.memory.passed
    monkeypatch.setattr(SharedMemory, "values_through", lambda *_: None)
    plain = built.step(torch.arange(2, 7), state.reorder(torch.tensor([0, 0, 1, 1, 2])))
    assert torch.allclose(found.logits, plain.logits, atol=1e-5)
    assert not torch.allclose(found.logits[0], found.logits[1], atol=1e-3)


@torch.no_grad()
def test_few_rows_multiply_their_contexts(monkeypatch):
    monkeypatch.setattr("regard.fast.shared_memory.FEW", 5)
    built, state = started(overrides("predict", "bahdanau"))
    shared = state.reorder(torch.tensor([0, 0, 1, 1, 2]))
    assert_same(built, shared)
    assert not shared.memory.passed


def test_a_watcher_sees_every_row():
    built, state = started(overrides("predict", "luong"))
    shared, seen = state.reorder(torch.tensor([0, 0, 1, 2, 2])), []
    with torch.no_grad(), hook(Looked, lambda event: seen.append(event.weights)):
        built.step(torch.arange(2, 7), shared)
    assert [len(weights) for weights in seen] == [5]
