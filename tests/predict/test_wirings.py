"""The recurrent wirings: which tensor asks, when, and where the answer goes. Steps written out by hand."""

import pytest
import torch

from regard.errors import UsageError
from regard.recipe import resolve
from regard.registry import maker
from regard.types import Recurrent
from small import batch, model, overrides


def spied(built, pairs, monkeypatch):
    """One step, with the query that was asked, before and after it."""
    decoder, asked = built.predict, []
    ask = decoder.ask
    monkeypatch.setattr(decoder, "ask", lambda query, *rest: asked.append(query) or ask(query, *rest))
    before = decoder.start(built.read(pairs.source))
    stepped = decoder.step(pairs.target.data[:, 0], before)
    return asked[0], before, stepped


def test_bahdanau_asks_with_the_state_before_the_step(monkeypatch):
    asked, before, _ = spied(model(overrides("predict", "bahdanau")), batch(), monkeypatch)
    assert asked is before.layers[0].hidden


def test_luong_asks_with_the_state_after_the_step(monkeypatch):
    asked, _, stepped = spied(model([*overrides("predict", "luong"), "predict.layers=2"]), batch(), monkeypatch)
    assert asked is stepped.state.layers[-1].hidden


@pytest.mark.parametrize("context", ["held", "fresh"])
def test_google_asks_with_the_bottom_layer(monkeypatch, context):
    built = model([*overrides("predict", "google"), f"predict.context={context}", "predict.layers=3"])
    asked, before, stepped = spied(built, batch(), monkeypatch)
    assert asked is (before if context == "held" else stepped.state).layers[0].hidden


def test_the_tutorial_asks_with_word_and_state(monkeypatch):
    built, pairs = model(overrides("predict", "tutorial")), batch()
    asked, before, _ = spied(built, pairs, monkeypatch)
    word = built.predict.embed.vectors(pairs.target.data[:, :1])[:, 0]
    assert torch.equal(asked, torch.cat((word, before.layers[0].hidden), -1))


@pytest.mark.parametrize("shown", ["previous", "current"])
def test_a_bahdanau_step_by_hand(shown):
    built, pairs = model([*overrides("predict", "bahdanau"), "predict.cell=cho", f"predict.state={shown}"]), batch()
    decoder, memory = built.predict, built.read(pairs.source)
    state = decoder.start(memory)
    stepped = decoder.step(pairs.target.data[:, 0], state)
    score, cell = decoder.attend.score, decoder.cells[0]
    for b, length in enumerate((7, 5, 2)):
        s = torch.tanh(decoder.bridge.hidden[0](memory.summary[b]))
        e = torch.stack(
            [score.vector @ torch.tanh(score.of_query(s) + score.of_key(memory.keys[b, j])) for j in range(length)]
        )
        a = torch.softmax(e, 0)
        c = sum(a[j] * memory.values[b, j] for j in range(length))
        word = decoder.embed.table(pairs.target.data[b, 0])
        after = cell((cell.project[0](word) + cell.project[1](c))[None], Recurrent(s[None])).hidden[0]
        features = torch.cat((s if shown == "previous" else after, word, c))
        assert torch.allclose(stepped.looked[0].weights[b, 0, :length], a, atol=1e-5)
        assert torch.allclose(stepped.state.layers[0].hidden[b], after, atol=1e-5)
        assert torch.allclose(stepped.logits[b], decoder.readout(features), atol=1e-5)


def test_the_papers_initialisation_begins_uniform():
    built, pairs = model([*overrides("predict", "bahdanau"), "attend.score.uniform=true"]), batch()
    weights = built.teach(pairs).looked[0].weights
    for row, length in enumerate((7, 5, 2)):
        assert (weights[row, :, :length] - 1 / length).abs().max() < 1e-6


def test_a_luong_step_by_hand():
    built, pairs = model([*overrides("predict", "luong"), "attend.score=general", "predict.cell=lstm"]), batch()
    decoder, memory = built.predict, built.read(pairs.source)
    first = decoder.step(pairs.target.data[:, 0], decoder.start(memory))
    second = decoder.step(pairs.target.data[:, 1], first.state)
    cell, word = decoder.cells[0], decoder.embed.table(pairs.target.data[:, 1])
    h = cell(cell.project[0](word) + cell.project[1](first.state.feed), first.state.layers[0]).hidden
    scores = torch.einsum("bd,bsd->bs", h, decoder.attend.score.prepare(memory.keys))
    a = torch.softmax(scores.masked_fill(~memory.mask, float("-inf")), -1)
    vector = torch.tanh(decoder.join(torch.cat((torch.einsum("bs,bsd->bd", a, memory.values), h), -1)))
    assert torch.allclose(second.state.feed, vector, atol=1e-5)
    assert torch.allclose(second.logits, decoder.readout(vector), atol=1e-5)


def test_luong_without_an_attention_sees_the_summary_at_every_step():
    built = model(["predict.part=luong", "predict.bridge=zero", "attend=none"])
    pairs, decoder = batch(), built.predict
    memory = built.read(pairs.source)
    state = decoder.start(memory)
    assert decoder.attend is None and not decoder.attends
    vector = torch.zeros_like(state.feed)
    for place in (0, 1):
        stepped = decoder.step(pairs.target.data[:, place], state)
        word = decoder.embed.vectors(pairs.target.data[:, place : place + 1], place)[:, 0]
        cell = decoder.cells[0]
        hidden = cell(cell.project[0](word) + cell.project[1](vector), state.layers[0]).hidden
        vector = torch.tanh(torch.cat((memory.summary, hidden), -1) @ decoder.join.weight.T)
        state = stepped.state
        assert torch.allclose(state.feed, vector, atol=1e-6) and stepped.looked == ()
    turned = state.reorder(torch.tensor([2, 0, 1]))
    assert torch.equal(turned.seen, memory.summary[[2, 0, 1]])


@pytest.mark.parametrize("decoder", ["bahdanau", "luong", "google", "tutorial"])
def test_keys_are_projected_once_a_sentence(decoder):
    built, calls = model(overrides("predict", decoder)), []
    built.predict.attend.score.of_key.register_forward_hook(lambda *_: calls.append(1))
    built.teach(batch())
    assert len(calls) == 1


def test_no_feeding_is_feeding_with_its_matrix_at_zero():
    feeding, without = (
        model([*overrides("predict", "luong"), f"predict.feeding={flag}"]) for flag in ("true", "false")
    )
    without.load_state_dict({key: value for key, value in feeding.state_dict().items() if "project.1" not in key})
    feeding.predict.cells[0].project[1].weight.data.zero_()
    pairs = batch()
    assert torch.allclose(feeding.teach(pairs).logits, without.teach(pairs).logits, atol=1e-6)


@pytest.mark.parametrize(("context", "first"), [("held", 2), ("fresh", 2), ("held", 3), ("held", 4)])
def test_a_google_step_by_hand(context, first):
    skips = [] if first == 2 else [f"predict.residual_from={first}"]  # the second layer, if nobody says
    built = model([*overrides("predict", "google"), f"predict.context={context}", "predict.layers=3", *skips])
    pairs = batch()
    decoder = built.predict
    state = decoder.step(pairs.target.data[:, 0], decoder.start(built.read(pairs.source))).state
    stepped = decoder.step(pairs.target.data[:, 1], state)
    word = decoder.embed.table(pairs.target.data[:, 1])

    def ask(query):
        return decoder.attend(query[:, None], state.memory.layers[0]).context[:, 0]

    def step(number, read, context):
        cell = decoder.cells[number]
        return cell(cell.project[0](read) + cell.project[1](context), state.layers[number]).hidden

    if context == "held":
        c = ask(state.layers[0].hidden)
        bottom = step(0, word, c)
    else:
        bottom = step(0, word, state.feed)
        c = ask(bottom)
    middle = step(1, bottom, c) + (bottom if first == 2 else 0)  # the skip adds what was read from below, no context
    top = step(2, middle, c) + (middle if first <= 3 else 0)
    assert torch.allclose(stepped.logits, decoder.readout(top), atol=1e-5)


def test_a_tutorial_step_by_hand():
    """relu(W [word; context]), then one step of a gated unit from it, and the readout sees its state alone."""
    built, pairs = model(overrides("predict", "tutorial")), batch()
    decoder, memory = built.predict, built.read(pairs.source)
    before = decoder.start(memory)
    stepped = decoder.step(pairs.target.data[:, 0], before)
    word, hidden = decoder.embed.table(pairs.target.data[:, 0]), before.layers[0].hidden
    context = decoder.attend(torch.cat((word, hidden), -1)[:, None], before.memory.layers[0]).context[:, 0]
    combined = torch.relu(decoder.cells[0].project[0](word) + decoder.combine(context))
    cell = decoder.cells[0].cell
    after = cell(cell.project[0](combined), Recurrent(hidden)).hidden
    assert torch.allclose(stepped.state.layers[0].hidden, after, atol=1e-6)
    assert torch.allclose(stepped.logits, decoder.readout(after), atol=1e-6)


def test_a_taught_step_stands_at_its_own_position():
    """With a window of one word to either side, step t looks at words t - 1 to t + 1."""
    built = model(["attend.scope=local_m", "attend.scope.reach=1"])
    weights = built.teach(batch(source=(7,), target=(5,))).looked[0].weights[0]
    rows, columns = torch.meshgrid(torch.arange(len(weights)), torch.arange(7), indexing="ij")
    assert torch.equal(weights > 0, (rows - columns).abs() <= 1)


@torch.no_grad()
def test_a_window_over_the_past_moves_on_with_the_steps():
    window = ["predict.self_attend.attend.scope=local_m", "predict.self_attend.attend.scope.reach=1"]
    built, pairs = model([*overrides("predict", "transformer"), *window]), batch(target=(6, 6, 6))
    taught, state = built.teach(pairs).logits, built.start(pairs.source)
    for place in range(5):
        stepped = built.step(pairs.target.data[:, place], state)
        assert torch.allclose(stepped.logits, taught[:, place], atol=1e-5)
        state = stepped.state


def test_both_looks_of_a_transformer_know_which_queries_are_real():
    built, pairs, told = model(overrides("predict", "transformer")), batch(), []
    for layer in built.predict.layers:
        for attend in (layer.self_attend, layer.attend):
            attend.register_forward_pre_hook(lambda _, given, named: told.append(named["real"]), with_kwargs=True)
    built.teach(pairs)
    assert len(told) == 2 * len(built.predict.layers)
    assert all(torch.equal(real, pairs.target.mask[:, 1:]) for real in told)


def test_plain_knows_the_source_by_its_start_alone():
    built, pairs = model(overrides("predict", "plain")), batch()
    state = built.start(pairs.source)
    assert state.memory is None
    assert built.step(pairs.target.data[:, 0], state).looked == ()


def test_no_decoder_sees_the_piece_it_predicts():
    for name in ("bahdanau", "luong", "google", "tutorial", "plain", "transformer"):
        built, pairs = model(overrides("predict", name)), batch(target=(6, 6, 6))
        before = built.teach(pairs).logits
        pairs.target.data[:, 3] = (pairs.target.data[:, 3] + 1) % 30 + 4
        after = built.teach(pairs).logits
        assert torch.equal(before[:, :3], after[:, :3]), name
        assert not torch.allclose(before[:, 3:], after[:, 3:]), name


def test_the_source_matters():
    """Sources exchanged between rows must change what is predicted: nothing but the source tells rows apart."""
    for name in ("bahdanau", "luong", "google", "tutorial", "plain", "transformer"):
        built, pairs = model(overrides("predict", name)), batch(source=(5, 5, 5), target=(6, 6, 6))
        before = built.teach(pairs).logits
        pairs.source.data.copy_(pairs.source.data.roll(1, 0))
        assert not torch.allclose(before, built.teach(pairs).logits), name


def test_an_attention_that_is_missing_or_idle_is_refused():
    with pytest.raises(UsageError, match=r"'google' attends, and the recipe has no \[attend\] table"):
        resolve("gnmt", ["attend=none"]).build(11, 13)
    with pytest.raises(UsageError, match="'plain' does not attend"):
        resolve("seq2seq", ["attend=attention"]).build(11, 13)


def test_gates_that_read_their_neighbours_may_not_look_at_the_past():
    gates = maker("choice", "gated", encode=maker("encode", "recurrent"))
    heads = maker("attend", "heads", heads=2, attend=maker("attend", "attention", choice=gates))
    from regard.predict.transformer import TransformerDecoder
    from regard.types import Widths

    with pytest.raises(UsageError, match="would see the future"):
        TransformerDecoder(11, Widths(8, 8, 8), heads, self_attend=heads, embed=maker("embed", "tokens", width=8))
