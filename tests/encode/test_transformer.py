"""The Transformer stacks against PyTorch's, with its weights copied over."""

import pytest
import torch
from torch import nn

from regard.encode.convolve import ConvolutionEncoder
from regard.encode.transformer import TransformerEncoder
from regard.errors import ShapeError
from regard.learn.loss import sequence_loss
from regard.masks import from_lengths
from regard.predict.transformer import TransformerDecoder
from regard.recipe import resolve
from regard.registry import maker
from regard.types import Batch, Memory, Padded, Widths
from small import model, overrides, words


def copy_heads(theirs, ours):
    with torch.no_grad():
        for block, projection in zip(
            theirs.in_proj_weight.chunk(3), (ours.of_query, ours.of_key, ours.of_value), strict=True
        ):
            projection.weight.copy_(block)
        for block, projection in zip(
            theirs.in_proj_bias.chunk(3), (ours.of_query, ours.of_key, ours.of_value), strict=True
        ):
            projection.bias.copy_(block)
        ours.join.load_state_dict(theirs.out_proj.state_dict())


def copy_rest(theirs, ours, norms):
    ours.feed.widen.load_state_dict(theirs.linear1.state_dict())
    ours.feed.narrow.load_state_dict(theirs.linear2.state_dict())
    for name, around in norms.items():
        around.norm.load_state_dict(getattr(theirs, name).state_dict())


def shake(module):
    """Weights unlike those they start with, so that a forgotten bias or norm shows."""
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    return module


@pytest.fixture(params=["few keys", "fused", "many keys"])
def length(request, kernel_calls):
    """The longest of three sequences: looked at in the open, or by the fused kernel, made to or by their length."""
    if request.param == "fused":
        request.getfixturevalue("fused")
    yield 41 if request.param == "many keys" else 7
    assert bool(kernel_calls) == (request.param != "few keys")


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_encoder_is_pytorchs(norm, length):
    layer = nn.TransformerEncoderLayer(6, 3, 13, norm_first=norm == "before", batch_first=True)
    theirs = shake(nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(6) if norm == "before" else None)).eval()
    ours = TransformerEncoder(6, layers=2, feed=13, norm=norm, attend=maker("attend", "heads", heads=3)).eval()
    for copied, original in zip(ours.layers, theirs.layers, strict=True):
        copy_heads(original.self_attn, copied.attend)
        copy_rest(original, copied, {"norm1": copied.around_attend, "norm2": copied.around_feed})
    if norm == "before":
        ours.last.load_state_dict(theirs.norm.state_dict())
    mask = from_lengths(torch.tensor((length, 5, 2)))
    data = torch.randn(3, length, 6)
    expected = theirs(data, src_key_padding_mask=~mask)
    found = ours(Padded(data, mask))
    assert torch.allclose(found.values[mask], expected[mask], atol=1e-5)
    assert torch.allclose(found.summary[1], expected[1, :5].mean(0), atol=1e-5)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_decoder_is_pytorchs(norm, length):
    layer = nn.TransformerDecoderLayer(6, 3, 13, norm_first=norm == "before", batch_first=True)
    theirs = shake(nn.TransformerDecoder(layer, 2, norm=nn.LayerNorm(6) if norm == "before" else None)).eval()
    heads = maker("attend", "heads", heads=3)
    ours = TransformerDecoder(
        37,
        Widths(6, 6, 6),
        heads,
        layers=2,
        feed=13,
        norm=norm,
        self_attend=heads,
        embed=maker("embed", "tokens", width=6),
    ).eval()
    for copied, original in zip(ours.layers, theirs.layers, strict=True):
        copy_heads(original.self_attn, copied.self_attend)
        copy_heads(original.multihead_attn, copied.attend)
        copy_rest(
            original, copied, {"norm1": copied.around_self, "norm2": copied.around_attend, "norm3": copied.around_feed}
        )
    if norm == "before":
        ours.last.load_state_dict(theirs.norm.state_dict())
    mask, states = from_lengths(torch.tensor((length, 5, 2))), torch.randn(3, length, 6)
    count = length - 2
    target = words(37, (count, 3, 4))
    expected = theirs(
        ours.embed.vectors(target.data),
        states,
        tgt_mask=~torch.ones(count, count, dtype=torch.bool).tril(),
        tgt_key_padding_mask=~target.mask,
        memory_key_padding_mask=~mask,
    )
    taught = ours.teach(target, Memory(states, states, mask, states[:, 0]))
    assert torch.allclose(taught.logits[target.mask], ours.readout(expected)[target.mask], atol=1e-5)


SMALL = (
    *("embed.width=6", "predict.embed.width=6", "embed.dropout=0", "predict.embed.dropout=0"),
    *("encode.layers=2", "predict.layers=3", "encode.feed=13", "predict.feed=11"),
    *("attend.heads=3", "encode.attend.heads=3", "predict.self_attend.heads=3"),
)


def whole(*settings):
    torch.manual_seed(11)
    return resolve("transformer", (*SMALL, *settings)).build(37, 37).eval()


def copied_whole(ours, norm):
    """PyTorch's whole Transformer with our weights; the paper has no norm on top of layers that end in one."""
    theirs = nn.Transformer(6, 3, 2, 3, 13, norm_first=norm == "before", batch_first=True)
    for layer in theirs.decoder.layers:
        layer.linear1, layer.linear2 = nn.Linear(6, 11), nn.Linear(11, 6)
    shake(theirs).eval()
    if norm == "after":
        theirs.encoder.norm = theirs.decoder.norm = None
    else:
        ours.encode.last.load_state_dict(theirs.encoder.norm.state_dict())
        ours.predict.last.load_state_dict(theirs.decoder.norm.state_dict())
    for copied, original in zip(ours.encode.layers, theirs.encoder.layers, strict=True):
        copy_heads(original.self_attn, copied.attend)
        copy_rest(original, copied, {"norm1": copied.around_attend, "norm2": copied.around_feed})
    for copied, original in zip(ours.predict.layers, theirs.decoder.layers, strict=True):
        copy_heads(original.self_attn, copied.self_attend)
        copy_heads(original.multihead_attn, copied.attend)
        norms = {"norm1": copied.around_self, "norm2": copied.around_attend, "norm3": copied.around_feed}
        copy_rest(original, copied, norms)
    return theirs


def embedded(table, ids):
    """sqrt(d) E[x] + position, written out."""
    places, pairs = torch.arange(ids.shape[1])[:, None], torch.arange(0, 6, 2)
    angles = places / 10000 ** (pairs / 6)
    codes = torch.stack((angles.sin(), angles.cos()), -1).flatten(1)
    return table[ids] * 6**0.5 + codes


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_whole_transformer_is_pytorchs(norm, length):
    """From ids to the scores of every piece, in a padded batch, with one table for all three uses."""
    ours = whole(f"encode.norm={norm}", f"predict.norm={norm}")
    theirs = copied_whole(ours, norm)
    table = ours.embed.table.weight
    pair = Batch(words(37, (length, 5, 2)), words(37, (length - 1, 3, 5)))
    seen = pair.target.data[:, :-1]
    real = pair.target.mask[:, 1:]
    count = seen.shape[1]
    states = theirs(
        embedded(table, pair.source.data),
        embedded(table, seen),
        tgt_mask=~torch.ones(count, count, dtype=torch.bool).tril(),
        src_key_padding_mask=~pair.source.mask,
        tgt_key_padding_mask=~real,
        memory_key_padding_mask=~pair.source.mask,
    )
    found = ours.teach(pair).logits
    assert torch.allclose(found[real], (states @ table.T)[real], atol=2e-5)


# Lines of a recipe that put another attention into the one stack there is.
INSIDE = {
    "plain": (),
    "learned positions": ("embed.position=learned", "predict.embed.position=learned"),
    "no positions": ("embed.position=none", "predict.embed.position=none"),
    "norms after": ("encode.norm=after", "predict.norm=after"),
    "additive heads": tuple(f"{place}.attend.score=additive" for place in ("attend", "encode.attend")),
    "additive past": ("predict.self_attend.attend.score=additive",),
    "cosine heads": ("attend.attend.score=cosine", "predict.self_attend.attend.score=cosine"),
    "local reading": ("encode.attend.attend.scope=local_m", "encode.attend.attend.scope.reach=2"),
    "local past": ("predict.self_attend.attend.scope=local_m", "predict.self_attend.attend.scope.reach=2"),
    "predicted windows": ("attend.attend.scope=local_p",),
    "hard looks": ("attend.attend.choice=hard",),
    "no heads": ("attend.part=attention", "attend.score=additive"),
}


@pytest.mark.parametrize("settings", INSIDE.values(), ids=INSIDE)
def test_what_is_remembered_changes_no_piece(settings):
    """Step by step over the remembered past, every piece gets the scores that it gets when all is read anew."""
    model = whole(*settings)
    source = words(37, (7, 5, 2))
    token, written = torch.full((3,), 2), torch.full((3, 1), 2)
    state = model.start(source)
    for _ in range(6):
        stepped = model.step(token, state)
        anew = Padded(written, torch.ones_like(written, dtype=torch.bool))
        taught = model.predict.teach(anew, model.read(source)).logits[:, -1]
        assert torch.allclose(stepped.logits, taught, atol=1e-5)
        token, state = taught.argmax(-1), stepped.state
        written = torch.cat((written, token.unsqueeze(1)), 1)


@pytest.mark.parametrize("settings", INSIDE.values(), ids=INSIDE)
def test_it_learns_with_any_attention_inside(settings):
    """A few updates on one batch make its pieces less surprising, and every weight takes part."""
    model = whole(*settings).train()
    pair = Batch(words(37, (7, 5, 2)), words(37, (6, 3, 5)))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        loss = sequence_loss(model, pair)
        optimiser.zero_grad()
        loss.total.backward()
        optimiser.step()
        losses.append(float(loss.nll))
    assert sum(losses[-5:]) < 0.8 * sum(losses[:5])
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in model.parameters())


def test_without_positions_the_encoder_sees_a_bag():
    """Reordering the source reorders what is encoded, and nothing else; with positions it does not."""
    order = torch.tensor((3, 0, 4, 1, 2))
    source = words(37, (5,))
    turned = Padded(source.data[:, order], source.mask)
    bag, places = whole("embed.position=none"), whole()
    assert torch.allclose(bag.read(turned).values, bag.read(source).values[:, order], atol=1e-6)
    assert not torch.allclose(places.read(turned).values, places.read(source).values[:, order], atol=0.1)


def test_a_convolution_sees_as_far_as_its_layers_reach():
    encoder = ConvolutionEncoder(3, hidden=5, layers=2, kernel=3).eval()
    data = torch.randn(1, 11, 3)
    mask = torch.ones(1, 11, dtype=torch.bool)
    changed = data.clone()
    changed[0, 5] += 1
    moved = (encoder(Padded(data, mask)).values - encoder(Padded(changed, mask)).values).abs().sum(-1)[0] > 0
    assert moved.nonzero().flatten().tolist() == [3, 4, 5, 6, 7]


def test_an_even_kernel_has_no_middle():
    with pytest.raises(ShapeError, match=r"odd kernel(.|\n)*kernel = 5"):
        ConvolutionEncoder(3, kernel=4)


def test_the_look_of_a_layer_knows_which_queries_are_real():
    built, source, told = model(overrides("encode", "transformer")), words(31, (7, 5, 2)), []
    for layer in built.encode.layers:
        layer.attend.register_forward_pre_hook(lambda _, given, named: told.append(named["real"]), with_kwargs=True)
    built.read(source)
    assert len(told) == len(built.encode.layers)
    assert all(torch.equal(real, source.mask) for real in told)
