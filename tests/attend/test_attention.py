"""Attention: the public function, the fused path against the explicit one, heads against PyTorch's."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import regard
from regard.attend import Attention, Heads
from regard.errors import ShapeError, UnknownName, UsageError
from regard.masks import is_open
from regard.registry import maker


def inputs(width=5, values=5, queries=7, keys=7, dtype=torch.float32):
    return (
        torch.randn(3, queries, width, dtype=dtype),
        torch.randn(3, keys, width, dtype=dtype),
        torch.randn(3, keys, values, dtype=dtype),
    )


def some_keys(keys=7):
    return torch.arange(keys) < torch.tensor([keys, 4, 2])[:, None]


def test_by_hand():
    query = torch.tensor([[[1.0, 0.0]]])
    keys = torch.log(torch.tensor([[[1.0, 9.0], [3.0, 9.0], [100.0, 9.0]]]))
    values = torch.tensor([[[4.0], [8.0], [1000.0]]])
    looked = regard.attention(query, keys, values, mask=torch.tensor([[True, True, False]]), score="dot")
    assert torch.allclose(looked.weights, torch.tensor([[[0.25, 0.75, 0.0]]]))
    assert torch.allclose(looked.context, torch.tensor([[[7.0]]]))


@pytest.mark.parametrize("scope", ["global", "causal"])
@pytest.mark.parametrize("padded", [False, True])
def test_scaled_dot_is_pytorchs(scope, padded):
    query, keys, values = inputs()
    mask = some_keys() if padded else None
    allowed = torch.ones(3, 7, 7, dtype=torch.bool) if mask is None else mask.unsqueeze(1).expand(3, 7, 7)
    if scope == "causal":
        allowed = allowed & torch.ones(7, 7, dtype=torch.bool).tril()
    expected = F.scaled_dot_product_attention(query, keys, values, attn_mask=allowed)
    found = regard.attention(query, keys, values, mask=mask, scope=scope)
    assert torch.allclose(found.context, expected, atol=1e-5)
    assert torch.allclose(found.weights.sum(-1), torch.ones(3, 7), atol=1e-6)


@pytest.mark.parametrize("score", ["dot", "scaled_dot", "general"])
@pytest.mark.parametrize("scope", ["global", "causal"])
@pytest.mark.parametrize("mask", ["none", "padded", "empty", "own"])
def test_fused_is_explicit(score, scope, mask):
    attend = Attention(5, 5, 5, score=maker("score", score), scope=maker("scope", scope))
    assert attend.fusible
    masks = {
        "none": None,
        "padded": some_keys(),
        "empty": some_keys() & torch.tensor([[True], [False], [True]]),
        "own": torch.rand(3, 7, 7) < 0.5,
    }
    results = []
    for path in (attend.fused, attend.explicit):
        torch.manual_seed(3)
        attend.zero_grad()
        given = [each.requires_grad_() for each in inputs()]
        looked = path(given[0], attend.prepare(given[1], given[2], masks[mask]))
        (looked.context * torch.randn(3, 7, 5)).sum().backward()
        results.append(
            [
                looked.context,
                looked.weights,
                *(each.grad for each in given),
                *(each.grad for each in attend.parameters()),
            ]
        )
    for fused, explicit in zip(*results, strict=True):
        assert torch.isfinite(fused).all()
        assert torch.allclose(fused, explicit, atol=1e-5)


def test_the_fused_path_runs_when_nobody_watches_and_only_then(monkeypatch):
    """And only where there are many keys: those of a short sentence are looked at in the open."""
    monkeypatch.setattr(Attention, "short", 6)
    attend = Attention(5, 5, 5, score=maker("score", "scaled_dot"))
    calls = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F, "scaled_dot_product_attention", lambda *args, **options: calls.append(1) or kernel(*args, **options)
    )
    query, keys, values = inputs()
    attend(query, attend.prepare(keys, values))
    assert len(calls) == 1
    with regard.watch() as seen:
        attend(query, attend.prepare(keys, values))
    assert len(calls) == 1
    assert len(seen.looks) == 1
    few = [each[:, :6] for each in (keys, values)]
    assert attend(query, attend.prepare(*few)).context.shape == query.shape
    assert len(calls) == 1


def test_all_heads_share_the_numbers_of_one_mask(monkeypatch):
    """What is kept for the way back has one mask of queries and keys for each sentence, not one for each head."""
    monkeypatch.setattr(Attention, "short", 0)
    single = maker("attend", "attention", score=maker("score", "scaled_dot"), scope=maker("scope", "causal"))
    attend = Heads(6, 6, 6, heads=3, attend=single)
    rows = torch.randn(2, 11, 6)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: kept.append(tensor.numel()) or tensor, lambda t: t):
        attend(rows, attend.prepare(rows, rows, torch.ones(2, 11, dtype=torch.bool)))
    assert max(kept) <= 2 * 11 * 11


@pytest.mark.parametrize(("score", "kept"), [("dot", 0), ("additive", 0), ("additive", 10_000), ("cosine", 0)])
@pytest.mark.parametrize("heads", [False, True], ids=["one head", "three heads"])
def test_in_half_precision_it_is_nearly_the_same(score, kept, heads, monkeypatch):
    """Under autocast, as training does it: values and gradients within what eight bits can tell."""
    monkeypatch.setattr("regard.attend.additive.KEPT", kept)
    single = maker("attend", "attention", score=maker("score", score))
    attend = Heads(6, 6, 6, heads=3, attend=single) if heads else single(6, 6, 6)
    given, upstream = torch.randn(3, 11, 6), torch.randn(3, 11, 6)
    mask = torch.arange(11) < torch.tensor([11, 4, 2])[:, None]
    found = []
    for half in (False, True):
        rows = given.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            looked = attend(rows, attend.prepare(rows, rows, mask))
        (looked.context * upstream).sum().backward()
        found.append((looked.context.float(), looked.weights.float(), rows.grad))
    for whole, half in zip(*found, strict=True):
        assert torch.allclose(whole, half, atol=0.05 * float(whole.detach().abs().max()))
        assert not torch.equal(whole, half)


@pytest.mark.parametrize("heads", [(), (2,)], ids=["one head", "two heads"])
def test_the_kernel_is_given_a_mask_only_where_something_is_hidden(monkeypatch, heads):
    monkeypatch.setattr(Attention, "short", 0)
    given = []
    kernel = F.scaled_dot_product_attention
    monkeypatch.setattr(
        F,
        "scaled_dot_product_attention",
        lambda query, keys, values, mask, *rest, **options: (
            given.append(mask) or kernel(query, keys, values, mask, *rest, **options)
        ),
    )
    attend = Attention(5, 5, 5, score=maker("score", "scaled_dot"))
    query, keys, values = (torch.randn(3, *heads, 7, 5) for _ in range(3))
    everything = torch.ones(3, *(1 for _ in heads), 7, dtype=torch.bool)
    bare = attend(query, attend.prepare(keys, values, everything)).context
    hidden = everything.clone()
    hidden[0, ..., 4:] = False
    masked = attend(query, attend.prepare(keys, values, hidden)).context
    assert [mask is None for mask in given] == [True, False]
    assert torch.allclose(bare[1:], masked[1:], atol=1e-6)
    assert not torch.allclose(bare[0], masked[0], atol=1e-3)


def test_every_query_may_have_its_own_mask():
    query, keys, values = inputs(queries=2)
    mask = torch.zeros(3, 2, 7, dtype=torch.bool)
    mask[:, 0, 3] = True
    looked = regard.attention(query, keys, values, mask=mask)
    assert torch.allclose(looked.context[:, 0], values[:, 3])
    assert not looked.context[:, 1].any()


def test_a_part_may_stand_for_a_name():
    query, keys, values = inputs()
    score = regard.part("score", "additive", query=5, key=5, hidden=3)
    looked = regard.attention(query, keys, values, score=score, choice=regard.part("choice", "sigmoid", key=5))
    assert torch.allclose(looked.weights, torch.sigmoid(score(query, score.prepare(keys))))


def test_what_must_be_learned_cannot_be_had_by_name():
    query, keys, values = inputs()
    with pytest.raises(UsageError, match=r"the score 'additive' has something to learn(.|\n)*regard\.part"):
        regard.attention(query, keys, values, score="additive")
    with pytest.raises(UsageError, match="the scope 'local_p' has something to learn"):
        regard.attention(query, keys, values, scope="local_p")
    with pytest.raises(UnknownName, match="Did you mean 'scaled_dot'"):
        regard.attention(query, keys, values, score="scaled-dot")


def test_a_mask_of_the_wrong_shape_is_refused_in_words():
    query, keys, values = inputs(queries=2)
    with pytest.raises(ShapeError, match=r"\(3, 7\) or \(batch, queries, keys\) = \(3, 2, 7\); it has \(7, 3\)"):
        regard.attention(query, keys, values, mask=torch.ones(7, 3, dtype=torch.bool))


def test_tensors_that_do_not_fit_are_refused_in_words():
    query, keys, values = inputs()
    with pytest.raises(ShapeError, match=r"share a batch(.|\n)*\(3, 7, 5\), \(3, 7, 5\) and \(3, 6, 5\)"):
        regard.attention(query, keys, values[:, :6])
    with pytest.raises(ShapeError, match=r"query must have three axes(.|\n)*\(7, 5\)"):
        regard.attention(query[0], keys, values)


def test_dropout_drops_weights_in_training_only():
    attend = Attention(5, 5, 5, score=maker("score", "cosine"), dropout=0.5)
    query, keys, values = inputs()
    ones = torch.ones_like(values)
    sums = attend(query, attend.prepare(keys, ones)).context
    assert not torch.allclose(sums, torch.ones_like(sums))
    sums = attend.eval()(query, attend.prepare(keys, ones)).context
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-6)


@pytest.mark.parametrize("bias", [True, False])
def test_heads_are_pytorchs(bias):
    ours, theirs = (
        Heads(6, 10, 14, heads=3, bias=bias).eval(),
        nn.MultiheadAttention(6, 3, bias=bias, kdim=10, vdim=14, batch_first=True).eval(),
    )
    with torch.no_grad():
        for name, projection in (("q", ours.of_query), ("k", ours.of_key), ("v", ours.of_value)):
            getattr(theirs, f"{name}_proj_weight").copy_(projection.weight)
        theirs.out_proj.weight.copy_(ours.join.weight)
        if bias:
            for projection in (ours.of_query, ours.of_key, ours.of_value):
                projection.bias.normal_()
            theirs.in_proj_bias.copy_(torch.cat([p.bias for p in (ours.of_query, ours.of_key, ours.of_value)]))
            theirs.out_proj.bias.copy_(ours.join.bias)
    query, keys, values = torch.randn(3, 5, 6), torch.randn(3, 7, 10), torch.randn(3, 7, 14)
    mask = some_keys()
    expected, weights = theirs(query, keys, values, key_padding_mask=~mask, average_attn_weights=False)
    looked = ours(query, ours.prepare(keys, values, mask))
    assert torch.allclose(looked.context, expected, atol=1e-5)
    assert torch.allclose(looked.weights, weights, atol=1e-5)


def test_heads_that_cannot_share_a_width_are_refused():
    with pytest.raises(ShapeError, match=r"7 heads cannot share a width of 32(.|\n)*heads = 8"):
        Heads(32, 32, 32, heads=7)


def test_more_prepared_keys_follow_the_first():
    attend = Attention(5, 5, 5, score=maker("score", "location"), choice=maker("choice", "gated")).eval()
    query, keys, values = inputs()
    whole = attend(query, attend.prepare(keys, values, some_keys()))
    first = attend.prepare(keys[:, :3], values[:, :3], some_keys()[:, :3])
    rest = attend.prepare(keys[:, 3:], values[:, 3:], some_keys()[:, 3:], start=3)
    assert torch.allclose(attend(query, first.extend(rest)).context, whole.context)


def test_only_a_mask_that_is_known_to_be_open_is_left_out(monkeypatch):
    """Not one that cannot be read here, nor one of no keys, nor one in a graph that is being traced."""
    everything = torch.ones(2, 3, 5, dtype=torch.bool)
    assert is_open(everything)
    assert not is_open(everything.to("meta"))
    assert not is_open(everything[..., :0])
    assert not is_open(torch.arange(5) < 4)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert not is_open(everything)


def test_how_the_projections_of_heads_begin():
    torch.manual_seed(3)
    heads = Heads(62, 101, 37, heads=2)
    for projection in (heads.of_query, heads.of_key, heads.of_value):
        bound = (6 / sum(projection.weight.shape)) ** 0.5
        assert 0.99 * bound < float(projection.weight.detach().abs().max()) <= bound
