"""The Transformer stacks against PyTorch's, with its weights copied over."""

import pytest
import torch
from torch import nn

from regard.encode.convolve import ConvolutionEncoder
from regard.encode.transformer import TransformerEncoder
from regard.errors import ShapeError
from regard.masks import from_lengths
from regard.predict.transformer import TransformerDecoder
from regard.registry import maker
from regard.types import Memory, Padded, Widths
from small import words


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


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_encoder_is_pytorchs(norm):
    layer = nn.TransformerEncoderLayer(6, 3, 13, norm_first=norm == "before", batch_first=True)
    theirs = shake(nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(6) if norm == "before" else None)).eval()
    ours = TransformerEncoder(6, layers=2, feed=13, norm=norm, attend=maker("attend", "heads", heads=3)).eval()
    for copied, original in zip(ours.layers, theirs.layers, strict=True):
        copy_heads(original.self_attn, copied.attend)
        copy_rest(original, copied, {"norm1": copied.around_attend, "norm2": copied.around_feed})
    if norm == "before":
        ours.last.load_state_dict(theirs.norm.state_dict())
    mask = from_lengths(torch.tensor((7, 5, 2)))
    data = torch.randn(3, 7, 6)
    expected = theirs(data, src_key_padding_mask=~mask)
    found = ours(Padded(data, mask))
    assert torch.allclose(found.values[mask], expected[mask], atol=1e-5)
    assert torch.allclose(found.summary[1], expected[1, :5].mean(0), atol=1e-5)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_the_decoder_is_pytorchs(norm):
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
    mask, states = from_lengths(torch.tensor((7, 5, 2))), torch.randn(3, 7, 6)
    target = words(37, (5, 3, 4))
    expected = theirs(
        ours.embed.vectors(target.data),
        states,
        tgt_mask=~torch.ones(5, 5, dtype=torch.bool).tril(),
        tgt_key_padding_mask=~target.mask,
        memory_key_padding_mask=~mask,
    )
    taught = ours.teach(target, Memory(states, states, mask, states[:, 0]))
    assert torch.allclose(taught.logits[target.mask], ours.readout(expected)[target.mask], atol=1e-5)


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
