"""The Transformer's decoder without a source: the past alone, the sizes and the beginnings of GPT-2."""

import math
from importlib.util import find_spec

import pytest
import torch
from torch.nn import functional as F

from regard.errors import ShapeError, UsageError
from regard.fast.static_cache import StaticCacheState
from regard.recipe import resolve
from regard.recipe.resolve import Recipe
from regard.registry import maker
from regard.sublayers import FeedForward
from regard.types import Batch, nothing
from small import TARGET, smaller, words

SIZES = {"width": 12, "hidden": 7, "feed": 17, "heads": 3, "longest": 19}


def gpt(**changes):
    recipe = resolve("gpt2", [f"{key}={value}" for key, value in changes.items()])
    small = Recipe(recipe.about, smaller(recipe.model, SIZES), recipe.train, recipe.task)
    return small.build(0, TARGET).eval()


def logits(model, ids):
    taught = words(TARGET, (ids.shape[1],) * len(ids))
    taught.data[:] = ids
    return model.predict.teach(taught, model.nothing_read(len(ids))).logits


def test_the_smallest_gpt2_has_its_size():
    with torch.device("meta"):  # shapes alone
        model = resolve("gpt2-paper").build(0, 50257)
    assert sum(weight.numel() for weight in model.parameters()) == 124_439_808


@pytest.mark.parametrize("recipe", ["gpt2", "lstm-lm", "lstmn"])
def test_the_future_changes_nothing(recipe):
    """To the last bit: and no gradient comes back from it."""
    found = resolve(recipe)
    model = Recipe(found.about, smaller(found.model, SIZES), found.train, found.task).build(0, TARGET).eval()
    ids = torch.randint(4, TARGET, (3, 11))
    before = logits(model, ids)
    for place in range(1, 11):
        other = ids.clone()
        other[:, place] = 4 + (ids[:, place] - 3) % (TARGET - 4)
        assert not torch.equal(other, ids)
        after = logits(model, other)
        assert torch.equal(after[:, :place], before[:, :place])
        assert not torch.equal(after[:, place], before[:, place])
    vectors = model.predict.embed.vectors(ids).detach().requires_grad_()
    model.predict.embed.vectors = lambda *_: vectors
    logits(model, ids)[:, 4].sum().backward()
    assert (vectors.grad[:, 5:] == 0).all() and vectors.grad[:, :5].any()


@torch.inference_mode()
def test_what_was_read_at_once_lies_in_the_tables_of_the_steps():
    model, ids = gpt(), torch.randint(4, TARGET, (3, 13))
    state = model.predict.start(model.nothing_read(3))
    assert isinstance(state, StaticCacheState)
    read = model.predict.read_on(ids[:, :11], state)
    assert isinstance(read, StaticCacheState) and read.step == 11
    for place in (11, 12):
        stepped = model.predict.step(ids[:, place], read)
        assert torch.allclose(stepped.logits, logits(model, ids)[:, place], atol=1e-5)
        read = stepped.state


def test_a_cached_step_is_the_full_pass():
    model, ids = gpt(), torch.randint(4, TARGET, (3, 13))
    whole = logits(model, ids)
    for grad in (torch.no_grad(), torch.enable_grad()):
        with grad:
            state = model.start(nothing(3))
            for place in range(13):
                stepped = model.step(ids[:, place], state)
                state = stepped.state
                assert torch.allclose(stepped.logits, whole[:, place], atol=1e-5)
                assert stepped.looked == ()
    moved = model.start(nothing(3))
    index = torch.tensor([2, 0, 0, 1])
    moved = model.step(ids[:, 0], moved).state.reorder(index)
    again = model.step(ids[index, 1], moved).logits
    assert torch.allclose(again, whole[index, 1], atol=1e-5)


def test_rows_that_began_later_stand_beside_others():
    model, ids = gpt(**{"predict.embed.position": "none"}), torch.randint(4, TARGET, (2, 7))
    state = model.start(nothing(2))
    for place in range(3):
        state = model.step(ids[:, place], state).state
    late = torch.randint(4, TARGET, (1,))
    device = ids.device
    both = state.counted(2, device).concatenate(model.start(nothing(1)).counted(1, device))
    found = model.step(torch.cat((ids[:, 3], late)), both).logits
    assert torch.allclose(found[:2], model.step(ids[:, 3], state).logits, atol=1e-5)
    assert torch.allclose(found[2:], model.step(late, model.start(nothing(1))).logits, atol=1e-5)


def by_hand(weights, ids, heads):
    """GPT-2 in plain functions."""
    width = weights["embed.table.weight"].shape[1]
    rows = weights["embed.table.weight"][ids] + weights["embed.position.table"][: ids.shape[1]]

    def norm(name, some):
        return F.layer_norm(some, (width,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-5)

    def linear(name, some):
        return some @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    count = ids.shape[1]
    past = torch.ones(count, count).tril().bool()
    layer = 0
    while f"layers.{layer}.feed.widen.weight" in weights:
        here = f"layers.{layer}"
        some = norm(f"{here}.around_self.norm", rows)
        query, key, value = (
            linear(f"{here}.self_attend.of_{name}", some).view(len(ids), count, heads, -1).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        scores = (query @ key.transpose(-1, -2) / math.sqrt(width / heads)).masked_fill(~past, -1e10)
        seen = (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)
        rows = rows + linear(f"{here}.self_attend.join", seen)
        wide = linear(f"{here}.feed.widen", norm(f"{here}.around_feed.norm", rows))
        bent = 0.5 * wide * (1 + torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)))
        rows = rows + linear(f"{here}.feed.narrow", bent)
        layer += 1
    return norm("last", rows) @ weights["embed.table.weight"].T


def test_it_is_gpt2_by_hand():
    model, ids = gpt().double(), torch.randint(4, TARGET, (2, 11))
    assert torch.allclose(logits(model, ids), by_hand(model.predict.state_dict(), ids, 3), atol=1e-10)


@pytest.mark.skipif(find_spec("transformers") is None, reason="transformers is not installed (the extra 'import')")
def test_it_is_the_gpt2_of_transformers():
    from transformers import GPT2Config, GPT2LMHeadModel

    ours = gpt()
    layers, width = len(ours.predict.layers), 12
    settings = {"n_embd": width, "n_layer": layers, "n_head": 3, "n_inner": 17, "n_positions": 19, "vocab_size": TARGET}
    theirs = GPT2LMHeadModel(GPT2Config(**settings)).eval()
    weights = ours.predict.state_dict()
    copied = {"transformer.wte.weight": weights["embed.table.weight"]}
    copied["transformer.wpe.weight"] = weights["embed.position.table"]
    for layer in range(layers):
        here, there = f"layers.{layer}", f"transformer.h.{layer}"
        names = {"ln_1": "around_self.norm", "ln_2": "around_feed.norm"}
        for kind in ("weight", "bias"):
            copied |= {f"{there}.{name}.{kind}": weights[f"{here}.{own}.{kind}"] for name, own in names.items()}
            three = [weights[f"{here}.self_attend.of_{name}.{kind}"] for name in ("query", "key", "value")]
            copied[f"{there}.attn.c_attn.{kind}"] = torch.cat(three)
            copied[f"{there}.attn.c_proj.{kind}"] = weights[f"{here}.self_attend.join.{kind}"]
            copied[f"{there}.mlp.c_fc.{kind}"] = weights[f"{here}.feed.widen.{kind}"]
            copied[f"{there}.mlp.c_proj.{kind}"] = weights[f"{here}.feed.narrow.{kind}"]
    copied |= {f"transformer.ln_f.{kind}": weights[f"last.{kind}"] for kind in ("weight", "bias")}
    turned = {key: value.T if ".c_" in key and value.dim() == 2 else value for key, value in copied.items()}
    missing, unexpected = theirs.load_state_dict(turned, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}
    ids = torch.randint(4, TARGET, (3, 11))
    assert torch.allclose(logits(ours, ids), theirs(ids).logits, atol=1e-5)


def test_residual_layers_begin_scaled_down():
    torch.manual_seed(3)
    recipe = resolve("gpt2", ["predict.layers=9", "predict.embed.width=96", "predict.feed=384"])
    weights = dict(recipe.build(0, 101).named_parameters())
    for name, weight in weights.items():
        if name.endswith("bias"):
            assert (weight == 0).all()
        elif weight.dim() == 1:
            assert (weight == 1).all(), name
        else:
            scaled = name.endswith(("self_attend.join.weight", "feed.narrow.weight"))
            assert weight.std().item() == pytest.approx(0.02 / (math.sqrt(18) if scaled else 1), rel=0.1), name
    plain = dict(resolve("gpt2", ["predict.layers=9", "initialise.scaled=false"]).build(0, 101).named_parameters())
    assert plain["predict.layers.0.feed.narrow.weight"].std().item() == pytest.approx(0.02, rel=0.1)


@pytest.mark.parametrize(("scaled", "grows"), [("true", False), ("false", True)])
def test_what_is_scaled_does_not_grow_with_depth(scaled, grows):
    """The variance of the skip at the top, of three layers and of twenty-seven."""
    found = []
    for layers in (3, 27):
        torch.manual_seed(5)
        sizes = [
            "predict.embed.width=48",
            "predict.feed=192",
            f"predict.layers={layers}",
            f"initialise.scaled={scaled}",
        ]
        model = resolve("gpt2", [*sizes, "initialise.deviation=0.2"]).build(0, 61).eval()
        model.predict.last = torch.nn.Identity()
        taught = words(61, (17, 17, 17))
        found.append(model.predict.teach(taught, model.nothing_read(3)).rows.var().item())
    assert (found[1] > 3 * found[0]) == grows


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh"])
def test_activations(activation):
    feed = FeedForward(5, 7, activation).double()
    rows = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
    wide = rows @ feed.widen.weight.T + feed.widen.bias
    bent = {
        "relu": wide.clamp(min=0),
        "gelu": wide * 0.5 * (1 + torch.erf(wide / math.sqrt(2))),
        "gelu_tanh": 0.5 * wide * (1 + torch.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))),
    }[activation]
    wanted = bent @ feed.narrow.weight.T + feed.narrow.bias
    assert torch.allclose(feed(rows), wanted, atol=1e-12)
    with torch.no_grad():
        assert torch.allclose(feed(rows), wanted, atol=1e-12)
    assert torch.autograd.gradcheck(feed, (rows,))


def test_what_cannot_be_is_told():
    recipe = resolve("gpt2").model.settings["predict"]
    with pytest.raises(UsageError, match="without a source the decoder 'transformer' does not attend"):
        recipe(TARGET, gpt().predict and _widths(0), maker("attend", "heads"))
    with pytest.raises(UsageError, match="'transformer' attends"):
        recipe(TARGET, _widths(8), None)
    with pytest.raises(ShapeError, match="there is no source"):
        resolve("lstm-lm", ["predict.bridge=copy"]).build(0, TARGET)


def _widths(size):
    from regard.types import Widths

    return Widths(size, size, size)


def test_a_batch_without_a_source_is_taught_and_forced():
    from regard.search import force

    model = gpt()
    target = words(TARGET, (6, 3, 5))
    found = force(model, Batch(None, target))
    rows = torch.log_softmax(model.teach(Batch(None, target)).logits, -1).detach()
    for row, each in enumerate(found):
        length = int(target.mask[row].sum())
        wanted = sum(float(rows[row, at, target.data[row, at + 1]]) for at in range(length - 1))
        assert each.likelihood == pytest.approx(wanted, abs=1e-5)
