"""Steps packed for the few rows of one image: as the equations of `predict/xu.py` have them."""

import pytest
import torch

from regard.fast import xu_step
from regard.hooks import Looked, Weighed, hook
from regard.predict.xu import ImageState
from small import TARGET, model, pictures

XU = ["predict.part=xu", "predict.hidden=7", "predict.embed.width=5", "attend.score.part=additive"]
SEEN = [*XU, "attend.score.hidden=11", "embed.part=pixels", "encode.part=grid", "encode.hidden=13", "encode.layers=2"]


def seen(*more, kind=torch.float64):
    """A model in use, and what it has read of one image."""
    built = model([*SEEN, *more], source=3).to(kind).eval()
    built.predict.packs = True
    picture = pictures([(13, 17)])
    with torch.no_grad():
        return built, built.read(type(picture)(picture.data.to(kind), picture.mask))


def plain(decoder, memory):
    decoder.packs = False
    state = decoder.start(memory)
    decoder.packs = True
    assert not isinstance(state, ImageState)
    return state


def step(decoder, tokens, *states):
    """The same step of several states; the states after it."""
    found = [decoder.step(torch.tensor(tokens), state) for state in states]
    for other in found[1:]:
        assert torch.allclose(found[0].logits, other.logits, rtol=0, atol=1e-12)
        assert torch.allclose(found[0].looked[0].weights, other.looked[0].weights, rtol=0, atol=1e-12)
        assert torch.allclose(found[0].looked[0].context, other.looked[0].context, rtol=0, atol=1e-12)
        assert found[0].state.step == other.state.step
        for ours, theirs in zip(found[0].state.layers, other.state.layers, strict=True):
            assert torch.allclose(ours.cell, theirs.cell, rtol=0, atol=1e-12)
    return [each.state for each in found]


@pytest.mark.parametrize("more", [(), ("predict.gate=false",), ("predict.readout.part=maxout",)])
@torch.no_grad()
def test_steps_are_those_of_the_equations(more):
    built, memory = seen(*more)
    slow, quick = plain(built.predict, memory), built.predict.start(memory)
    assert isinstance(quick, ImageState)
    slow, quick = step(built.predict, [1], slow, quick)
    rows = torch.tensor([0, 0, 0])
    slow, quick = step(built.predict, [5, 9, 5], slow.reorder(rows), quick.reorder(rows))
    rows = torch.tensor([2, 0])
    slow, quick = step(built.predict, [9, 12], slow.reorder(rows), quick.reorder_in_place(rows))
    step(built.predict, [5, TARGET - 1], slow, quick)


@torch.no_grad()
def test_what_is_projected_far_beyond_is_cut_alike():
    built, memory = seen()
    built.predict.attend.score.of_query.weight *= 1000
    step(built.predict, [4], plain(built.predict, memory), built.predict.start(memory))


@torch.no_grad()
def test_weights_that_were_changed_are_packed_anew():
    built, memory = seen()
    step(built.predict, [4], plain(built.predict, memory), built.predict.start(memory))
    kept = built.predict.packed
    assert built.predict.start(memory).image.packed is kept
    for name, weight in built.predict.named_parameters():
        if name.startswith(("bridge", "readout.inner", "attend.score.of_key")):
            continue  # which are not packed
        weight.mul_(-1.5)
        again = built.predict.start(memory)
        assert again.image.packed is not kept, name
        step(built.predict, [4], plain(built.predict, memory), again)
        kept = again.image.packed


@torch.no_grad()
def test_a_word_is_multiplied_once(monkeypatch):
    built, memory = seen()
    state, asked = built.predict.start(memory), []
    vectors = built.predict.embed.vectors
    monkeypatch.setattr(built.predict.embed, "vectors", lambda ids, *more: asked.append(ids.tolist()) or vectors(ids))
    for tokens in ([7], [7], [8]):
        state = built.predict.step(torch.tensor(tokens), state).state
    state = built.predict.step(torch.tensor([8, 7, 9]), state.reorder(torch.tensor([0, 0, 0]))).state
    assert asked == [[[7]], [[8]], [[9]]]


@torch.no_grad()
def test_only_where_it_may():
    """Not of several images, not where cells are padding, not while somebody watches or weighs, not in training."""
    built, memory = seen()
    start = built.predict.start
    assert isinstance(start(memory), ImageState)
    assert not isinstance(start(memory.reorder(torch.tensor([0, 0]))), ImageState)
    memory.mask[0, -1] = False
    assert not isinstance(start(memory), ImageState)
    memory.mask[0, -1] = True
    for kind in (Looked, Weighed):
        with hook(kind, lambda event: None):
            assert not isinstance(start(memory), ImageState)
    with torch.autocast("cpu"):
        assert not isinstance(start(memory), ImageState)
    with torch.enable_grad():
        assert not isinstance(start(memory), ImageState)
    built.predict.packs = False
    assert not isinstance(start(memory), ImageState)


@pytest.mark.parametrize(
    "more",
    [
        ("attend.choice=hard",),
        ("attend.score.part=general",),
        ("attend.score.part=fading",),
        ("attend.scope=local_p",),
        ("predict.cell=gru",),
        ("predict.embed.position=sinusoid",),
    ],
)
@torch.no_grad()
def test_other_wirings_go_their_own_way(more):
    built = model([*(each for each in SEEN if each != "attend.score.hidden=11"), *more], source=3).eval()
    built.predict.packs = True
    assert not isinstance(built.predict.start(built.read(pictures([(13, 17)]))), ImageState)


def test_half_precision_goes_its_own_way():
    built, memory = seen(kind=torch.bfloat16)
    with torch.no_grad():
        assert not isinstance(built.predict.start(memory), ImageState)


def test_cell_order():
    """Sigmoids stand together: enter, forget, leave, new."""
    rows = torch.arange(8.0).unsqueeze(1)
    assert xu_step._cell(rows).flatten().tolist() == [0, 1, 2, 3, 6, 7, 4, 5]
