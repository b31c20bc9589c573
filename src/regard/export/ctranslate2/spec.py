"""A Transformer's tensors where CTranslate2 expects them. Read from the built model, not from its recipe.

What CTranslate2 would otherwise compute in its own way is stored: positions (its sinusoids are laid out in halves
and count from one), the factor of the token vectors, the epsilon of the norms, the scale of the scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import torch
from ctranslate2.specs import (
    TransformerDecoderSpec,
    TransformerEncoderSpec,
    TransformerSpec,
    attention_spec,
    common_spec,
    transformer_spec,
)
from jaxtyping import Float
from torch import Tensor, nn

from regard.align.record import Aligner
from regard.attend.heads import Heads
from regard.data.tokenizer import Tokenizer
from regard.embed.position import Learned
from regard.embed.tokens import Tokens
from regard.encode.transformer import EncoderLayer
from regard.errors import ModelError
from regard.export.ctranslate2.heads import heads_first
from regard.model import Model
from regard.predict.transformer import DecoderLayer
from regard.predict.words import Linear
from regard.sublayers import FeedForward, Residual
from regard.types import Modules

ACTIVATIONS = {
    "relu": common_spec.Activation.RELU,
    "gelu": common_spec.Activation.GELU,
    "gelu_tanh": common_spec.Activation.GELUTanh,
    "silu": common_spec.Activation.SWISH,
}
POSITIONS = 1024  # of a sinusoid, which itself has no end: more than a line of `regard translate` has


def transformer(model: Model, aligner: Aligner) -> TransformerSpec:
    """The specification of a model that `check_expressible` let through, with its aligning heads in front."""
    with torch.no_grad():
        spec = TransformerSpec(_encoder(model), _decoder(model, aligner))
    spec.config.layer_norm_epsilon = _epsilon(model)
    spec.config.add_source_eos = False  # sources come with their end, so that it has a column of its own
    return spec


def register_vocabularies(spec: TransformerSpec, source: Tokenizer, target: Tokenizer) -> None:
    """Name the pieces of both sides."""
    spec.register_source_vocabulary(piece_names(source))
    spec.register_target_vocabulary(piece_names(target))


def piece_names(tokenizer: Tokenizer) -> list[str]:
    """A name for each id, without white space, which parts names in a vocabulary map: a space is written \\u0020."""
    pieces = (tokenizer.backend.id_to_token(piece) or "" for piece in range(len(tokenizer)))
    return [re.sub(r"[\s\\]", lambda found: f"\\u{ord(found[0]):04x}", piece) for piece in pieces]


def positions(embed: Tokens) -> int:
    """How many positions an exported embedder knows."""
    return embed.position.table.shape[0] if isinstance(embed.position, Learned) else POSITIONS


def _encoder(model: Model) -> TransformerEncoderSpec:
    layers = model.encode.layers
    spec = TransformerEncoderSpec(
        len(layers), layers[0].attend.heads, pre_norm=layers[0].around_attend.before, activation=_activation(layers)
    )
    _embed(spec, spec.embeddings[0], model.embed)
    for theirs, ours in zip(spec.layer, layers, strict=True):
        _encoder_layer(theirs, ours)
    _last(spec, model.encode.last)
    return spec


def _decoder(model: Model, aligner: Aligner) -> TransformerDecoderSpec:
    layers = model.predict.layers
    count = layers[0].attend.heads
    spec = TransformerDecoderSpec(
        len(layers),
        count,
        pre_norm=layers[0].around_self.before,
        activation=_activation(layers),
        alignment_layer=aligner.layer,
        alignment_heads=len(aligner.heads) or count,
    )
    _embed(spec, spec.embeddings, model.predict.embed)
    for number, (theirs, ours) in enumerate(zip(spec.layer, layers, strict=True)):
        _decoder_layer(theirs, ours, aligner.heads if number == aligner.layer else ())
    _last(spec, model.predict.last)
    readout = model.predict.readout
    if isinstance(readout, Linear):
        _linear(spec.projection, [readout.score])
    else:
        spec.projection.weight, spec.projection.bias = _array(readout.table.weight), _array(readout.bias)
    return spec


def _encoder_layer(spec: transformer_spec.TransformerEncoderLayerSpec, layer: EncoderLayer) -> None:
    _attend(spec.self_attention, layer.attend, layer.around_attend, reflects=True)
    _feed(spec.ffn, layer.feed, layer.around_feed)


def _decoder_layer(
    spec: transformer_spec.TransformerDecoderLayerSpec, layer: DecoderLayer, first: tuple[int, ...]
) -> None:
    _attend(spec.self_attention, layer.self_attend, layer.around_self, reflects=True)
    _attend(spec.attention, heads_first(layer.attend, first), layer.around_attend, reflects=False)
    _feed(spec.ffn, layer.feed, layer.around_feed)


def _attend(spec: attention_spec.MultiHeadAttentionSpec, attend: Heads, around: Residual, *, reflects: bool) -> None:
    """Self-attention projects query, keys and values in one product, attention over a memory in two."""
    asks, tells = [attend.of_query], [attend.of_key, attend.of_value]
    for theirs, ours in zip(
        spec.linear, ([*asks, *tells], [attend.join]) if reflects else (asks, tells, [attend.join]), strict=True
    ):
        _linear(theirs, ours)
    spec.queries_scale = float(attend.attend.score.scale)
    _norm(spec.layer_norm, around.norm)


def _feed(spec: transformer_spec.FeedForwardSpec, feed: FeedForward, around: Residual) -> None:
    _linear(spec.linear_0, [feed.widen])
    _linear(spec.linear_1, [feed.narrow])
    _norm(spec.layer_norm, around.norm)


def _linear(spec: common_spec.LinearSpec, layers: Iterable[nn.Linear]) -> None:
    """One product for several that have the same input."""
    layers = list(layers)
    spec.weight = _array(torch.cat([each.weight for each in layers]))
    if all(each.bias is not None for each in layers):
        spec.bias = _array(torch.cat([each.bias for each in layers]))


def _norm(spec: common_spec.LayerNormSpec, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _last(spec: TransformerEncoderSpec | TransformerDecoderSpec, last: nn.Module) -> None:
    """The norm at the top of a stack that norms before its sublayers."""
    if isinstance(last, nn.LayerNorm):
        _norm(spec.layer_norm, last)


def _embed(
    spec: TransformerEncoderSpec | TransformerDecoderSpec, table: common_spec.EmbeddingsSpec, embed: Tokens
) -> None:
    table.weight = _array(embed.table.weight)
    spec.scale_embeddings = float(embed.factor)
    spec.position_encodings.encodings = _array(_places(embed))


def _places(embed: Tokens) -> Float[Tensor, "S D"]:
    if embed.position is None:  # CTranslate2 always adds positions; these say nothing
        return torch.zeros(POSITIONS, embed.width)
    return embed.position(0, positions(embed))


def _epsilon(model: Model) -> float:
    """The one epsilon of all norms."""
    found = {norm.eps for norm in model.modules() if isinstance(norm, nn.LayerNorm)}
    if len(found) > 1:
        raise ModelError(f"CTranslate2 knows one epsilon for all norms; this model has {sorted(found)}.")
    return found.pop()


def _activation(layers: Modules) -> common_spec.Activation:
    """The one activation of a stack's feed-forwards."""
    return ACTIVATIONS[layers[0].feed.activation]


def _array(weight: Tensor) -> Any:
    """A copy of the numbers for NumPy: quantising works in place, and the model is still needed."""
    return weight.detach().float().clone(memory_format=torch.contiguous_format).numpy()
