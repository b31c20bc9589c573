"""The straight steps of a simple Transformer decoder do what the general ones do."""

import pytest
import torch

from regard.fast.kv_cache import TransformerState
from regard.fast.static_cache import TILE, StaticCacheState, remembering
from regard.hooks import Looked, hook
from regard.recipe import resolve
from regard.search import Options, beam_search
from regard.types import Padded
from small import batch, model, overrides, words

BASE = [*overrides("predict", "transformer"), "attend.part=heads", "attend.heads=2"]
SIMPLE = {
    "as it is": [],
    "norm after": ["predict.norm=after"],
    "no bias": ["attend.bias=false", "predict.self_attend.bias=false"],
    "dot": ["attend.attend.score=dot"],
    "general": ["attend.attend.score=general", "predict.self_attend.attend.score=general"],
    "one layer": ["predict.layers=1"],
    "learned positions": ["predict.embed.position=learned"],
}
OTHERS = {
    "additive": ["attend.attend.score=additive"],
    "cosine": ["predict.self_attend.attend.score=cosine"],
    "windows": ["attend.attend.scope=local_m"],
    "hard": ["attend.attend.choice=hard"],
    "no heads": ["attend.part=attention"],
}
MOVES = [[0, 0, 0, 1, 2, 2], [0, 1, 2, 4, 5, 5], [5, 3, 3, 0, 1, 2, 4], [3, 3, 3, 4], [1, 0], [0] * 20, [19, 2, 7]]


def made(settings, kind=torch.double):
    """A model in use, and its state before the first step; the general state and the straight one."""
    built = model([*BASE, *settings]).eval().to(kind)
    source = batch().source
    with torch.enable_grad():
        general = built.start(source)
    with torch.no_grad():
        return built, general, built.start(source)


def assert_same(one, other, within=1e-10):
    assert torch.allclose(one.logits, other.logits, atol=within)
    assert len(one.looked) == len(other.looked)
    for ours, theirs in zip(one.looked, other.looked, strict=True):
        assert ours.weights.shape == theirs.weights.shape
        assert torch.allclose(ours.weights, theirs.weights, atol=within)
        assert torch.allclose(ours.context, theirs.context, atol=within)


@torch.no_grad()
@pytest.mark.parametrize("move", ["reorder", "reorder_in_place"])
@pytest.mark.parametrize("settings", SIMPLE.values(), ids=SIMPLE)
def test_every_step_is_the_general_one(settings, move, monkeypatch):
    monkeypatch.setattr("regard.fast.static_cache.LARGE", 2_000)  # some tables are, some are not
    built, general, static_cache = made(settings)
    assert isinstance(general, TransformerState)
    assert isinstance(static_cache, StaticCacheState)
    tokens = torch.tensor([4, 9, 5])
    for number in range(2 * TILE + 3):
        one, other = built.step(tokens, general), built.step(tokens, static_cache)
        assert_same(one, other)
        index = torch.tensor(MOVES[number // 5] if number % 5 == 0 else torch.randperm(len(tokens)).tolist())
        general, static_cache = one.state.reorder(index), getattr(other.state, move)(index)
        tokens = torch.randint(4, 37, (len(index),))


@torch.no_grad()
@pytest.mark.parametrize("settings", OTHERS.values(), ids=OTHERS)
def test_what_is_not_simple_goes_the_general_way(settings):
    assert isinstance(made(settings)[2], TransformerState)


def test_who_learns_or_watches_goes_the_general_way():
    built, _, _ = made([])
    source = batch().source
    assert isinstance(built.start(source), TransformerState)
    with torch.no_grad(), hook(Looked, lambda event: None):
        assert isinstance(built.start(source), TransformerState)


@torch.no_grad()
def test_a_source_with_nothing_to_look_at_goes_the_general_way():
    built, _, _ = made([])
    source = words(31, (3, 2))
    empty = Padded(source.data, source.mask & torch.tensor([[True], [False]]))
    state = built.start(empty)
    assert isinstance(state, TransformerState)
    assert built.step(torch.tensor([4, 4]), state).logits.isfinite().all()


@torch.no_grad()
@pytest.mark.parametrize("steps", [0, 3, TILE - 1, TILE])
def test_two_steps_from_one_state_leave_one_another_alone(steps):
    built, _, state = made([])
    tokens = torch.tensor([4, 5, 6])
    for _ in range(steps):
        state = built.step(tokens, state).state
    first = built.step(tokens, state)
    expected = built.step(tokens, first.state).logits
    again = built.step(tokens, state)
    built.step(tokens + 7, state)  # another way to go on, which must not be seen
    assert torch.equal(first.logits, again.logits)
    assert torch.allclose(built.step(tokens, first.state).logits, expected, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("steps", [0, 2, TILE + 1])
def test_a_counted_state_goes_on_as_the_straight_one(steps):
    built, _, state = made([])
    tokens = torch.tensor([4, 5, 6])
    for _ in range(steps):
        state = built.step(tokens, state).state
    counted = state.counted(3, tokens.device)
    assert isinstance(counted, TransformerState)
    assert counted.step.tolist() == [steps] * 3
    one, other = built.step(tokens, state), built.step(tokens, counted)
    assert torch.allclose(one.logits, other.logits, atol=1e-10)


def language_model(kind=torch.double):
    """A decoder without a source, in use, and its states before the first step: the general and the straight one."""
    settings = [
        *("predict.layers=2", "predict.feed=11", "predict.embed.width=6", "predict.self_attend.heads=2"),
        "predict.embed.position.longest=67",
    ]
    built = resolve("gpt2", settings).build(0, 37).eval().to(kind)
    with torch.enable_grad():
        general = built.predict.start(built.nothing_read(3))
    with torch.no_grad():
        return built, general, built.predict.start(built.nothing_read(3))


@torch.no_grad()
@pytest.mark.parametrize("move", ["reorder", "reorder_in_place"])
def test_without_a_source_every_step_is_the_general_one(move):
    built, general, straight = language_model()
    assert isinstance(general, TransformerState)
    assert isinstance(straight, StaticCacheState)
    tokens = torch.tensor([4, 9, 5])
    for number in range(2 * TILE + 3):
        one, other = built.step(tokens, general), built.step(tokens, straight)
        assert_same(one, other)
        assert not other.looked
        index = torch.tensor(MOVES[number // 5] if number % 5 == 0 else torch.randperm(len(tokens)).tolist())
        general, straight = one.state.reorder(index), getattr(other.state, move)(index)
        tokens = torch.randint(4, 37, (len(index),))
    counted = straight.counted(len(tokens), tokens.device)
    assert torch.allclose(built.step(tokens, counted).logits, built.step(tokens, straight).logits, atol=1e-10)


@torch.no_grad()
@pytest.mark.parametrize("count", [3, TILE, TILE + 5])
def test_what_was_read_at_once_is_remembered_as_if_step_by_step(count):
    built, general, straight = language_model()
    tokens = torch.randint(4, 37, (3, count + 2))
    for place in range(count):
        general = built.step(tokens[:, place], general).state
    straight = remembering(straight, general.past)
    for place in range(count, count + 2):
        one, other = built.step(tokens[:, place], general), built.step(tokens[:, place], straight)
        assert_same(one, other)
        general, straight = one.state, other.state


def memory_of(state):
    """Where the tables of a state lie, and what is free beside them."""
    tables = [table for pair in state.past for table in pair]
    return {each.untyped_storage().data_ptr() for each in [*tables, *([] if state.free is None else [state.free])]}


@torch.no_grad()
def test_rows_that_move_on_stay_in_the_memory_that_is_there(monkeypatch):
    monkeypatch.setattr("regard.fast.static_cache.LARGE", 0)
    built, _, state = made([])
    state = state.reorder_in_place(torch.arange(3).repeat(5))
    tokens, before = torch.arange(4, 19), None
    for number in range(TILE):
        state = built.step(tokens, state).state
        after = state.reorder_in_place(torch.randperm(len(tokens))[: 15 - number // 4])
        if 1 < number < TILE - 1:
            assert memory_of(after) == before
        assert not state.past, "who follows gives up what was there"
        state, before, tokens = after, memory_of(after), tokens[: after.count]
    assert state.room == 2 * TILE, "there is room again, as rows have moved"
    assert len(before) == 2 * len(state.past) + 1


@torch.no_grad()
def test_what_lay_in_the_memory_before_is_not_seen(monkeypatch):
    """Rows that fill up, and places that are still free, are zeros, whatever was there: NaN times nothing is NaN."""
    monkeypatch.setattr("regard.fast.static_cache.LARGE", 0)
    built, _, state = made([], torch.bfloat16)
    state = state.reorder_in_place(torch.arange(3).repeat(11))
    for number in range(2 * TILE):
        tokens = torch.full((state.count,), 5)
        stepped = built.step(tokens, state)
        assert stepped.logits.isfinite().all()
        state = stepped.state
        if state.free is not None:
            state.free.fill_(torch.nan)
        state = state.reorder_in_place(torch.randperm(state.count)[: 33 - number // 2])


@torch.no_grad()
def test_rows_that_fill_up_a_tile_are_nobodys():
    built, _, state = made([], torch.bfloat16)
    many = state.reorder(torch.arange(3).repeat(7))  # 21 rows of 32
    assert (many.count, many.rows) == (21, 32)
    tokens = torch.tensor([4, 9, 5]).repeat(7)
    for _ in range(3):
        stepped, few = built.step(tokens, many), built.step(tokens[:3], state)
        assert stepped.logits.shape == (21, 37)
        assert stepped.looked[0].weights.shape[0] == 21
        assert torch.allclose(stepped.logits.view(7, 3, 37), few.logits.expand(7, 3, 37), atol=0.1, rtol=0.05)
        many, state = stepped.state, few.state
    assert (state.count, state.rows) == (3, 3)


@pytest.mark.parametrize("options", [Options(beam=3, nbest=2, max_length=40), Options(beam=4, beta=0.2, max_length=9)])
def test_a_search_finds_what_the_general_steps_find(options, monkeypatch):
    built, source = made([])[0], words(31, (7, 1, 2, 5, 5))
    found = beam_search(built, source, options, start=1, end=2, record=True)
    monkeypatch.setattr("regard.fast.static_cache.in_use", lambda: False)
    expected = beam_search(built, source, options, start=1, end=2, record=True)
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert one.ids == other.ids
            assert one.score == pytest.approx(other.score, abs=1e-9)
            assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(one.weights, other.weights, strict=True))
