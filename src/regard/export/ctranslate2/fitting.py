"""Which models CTranslate2 can express: Transformers of our own parts with plain attention. Told all at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

from regard.align.record import Aligner
from regard.attend.heads import Heads
from regard.attend.scope import Causal, Global
from regard.attend.score import Dot, ScaledDot
from regard.embed.position import Learned, Sinusoid
from regard.embed.tokens import Tokens
from regard.encode.transformer import TransformerEncoder
from regard.errors import ModelError
from regard.export.expected import expected, plain_heads
from regard.model import Model
from regard.predict.transformer import TransformerDecoder
from regard.predict.words import Linear, Tied

SCORES: dict[type, str] = {ScaledDot: "scaled_dot", Dot: "dot"}
HINT = "Use the model as it is (regard translate MODEL runs every part there is), or export it --to onnx."


def check_expressible(model: Model, aligner: Aligner | None = None) -> None:
    """Refuse a model that CTranslate2 cannot run, naming every part that is in the way."""
    problems = dict.fromkeys(_problems(model, aligner))  # what every layer has in common is told once
    if problems:
        told = "\n".join(f"  {each}" for each in problems)
        raise ModelError(f"CTranslate2 cannot express this model:\n{told}", hint=HINT)


def _problems(model: Model, aligner: Aligner | None) -> Iterator[str]:
    """What is in the way. A subclass may do anything, so only the very classes count."""
    if type(model.encode) is not TransformerEncoder:
        yield expected("encode", "transformer", model.encode)
    if type(model.predict) is not TransformerDecoder:
        yield expected("predict", "transformer", model.predict)
    if type(model.encode) is not TransformerEncoder or type(model.predict) is not TransformerDecoder:
        return
    yield from _embeds("embed", model.embed)
    yield from _embeds("predict.embed", model.predict.embed)
    if model.encode.repeats > 1:
        yield "encode.share_layers: expected false; found true."
    for layer in model.encode.layers:
        yield from plain_heads("encode.attend", layer.attend, SCORES, (Global,))
    for layer in model.predict.layers:
        # The decoder itself hides the future, so that both scopes are the same here.
        yield from plain_heads("predict.self_attend", layer.self_attend, SCORES, (Global, Causal))
        yield from plain_heads("attend", layer.attend, SCORES, (Global,))
    every: list[Any] = [*model.encode.layers, *model.predict.layers]
    if any(layer.feed.activation != "relu" for layer in every):
        yield "activation: expected relu in every feed-forward."
    yield from _counts(model)
    readout = model.predict.readout
    if type(readout) is not Linear and not (type(readout) is Tied and type(readout.fit) is nn.Identity):
        yield expected("predict.readout", "linear or tied, without a fit between", readout)
    if aligner is not None and aligner.kind != "cross":
        yield f"alignment.json: expected heads of cross attention; found {aligner.kind}."


def _embeds(key: str, embed: Any) -> Iterator[str]:
    if type(embed) is not Tokens:
        yield expected(key, "tokens", embed)
    elif type(embed.position) not in (Sinusoid, Learned, type(None)):
        yield expected(f"{key}.position", "sinusoid, learned or none", embed.position)
    else:
        named = {"segments": embed.segment, "norm": embed.norm, "inner": embed.widen}
        yield from (f"{key}.{name}: expected none; found one." for name, part in named.items() if part is not None)


def _counts(model: Model) -> Iterator[str]:
    """CTranslate2 knows one number of heads for the encoder and one for the decoder."""
    sides = {"encode": ("attend",), "predict": ("self_attend", "attend")}
    for side, asked in sides.items():
        attends = [getattr(layer, name) for layer in getattr(model, side).layers for name in asked]
        counts = sorted({each.heads for each in attends if isinstance(each, Heads)})
        if len(counts) > 1:
            places = "[predict.self_attend] and [attend]" if side == "predict" else "[encode.attend]"
            yield f"{places}: expected one number of heads; found {' and '.join(map(str, counts))}."
