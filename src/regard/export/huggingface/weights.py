"""The weights by the names that `transformers` gives them: what importing does, the other way round."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.export.huggingface.config import first_place
from regard.export.huggingface.fitting import Fitted
from regard.importing.names import FOLLOWS, HEADS, albert_stack, bert_stack, both, gpt2_asks, gpt2_stack, gpt2_turned


def weights_of(found: Fitted) -> dict[str, Tensor]:
    """Every weight, in memory of its own."""
    named = _decoder(found) if found.family == "gpt2" else {**_stack(found), **_head(found)}
    return {name: weight.detach().clone().contiguous() for name, weight in named.items()}


def _stack(found: Fitted) -> dict[str, Tensor]:
    """The embedding and the encoder; before their names stands the family, where there is a head."""
    model, ours = found.model, dict(found.model.named_parameters())
    classifies = found.family == "roberta" and found.goal == "classify"  # it keeps the pooling layer in its head
    pooled = model.encode.pool is not None and not classifies
    layers = len(model.encode.layers)
    pairs = albert_stack(pooled) if found.family == "albert" else bert_stack(layers, pooled)
    named: dict[str, Tensor] = {theirs: ours[name] for name, theirs in pairs}
    places, segment = model.embed.position.table, model.embed.segment
    before = places.new_zeros(first_place(found), places.shape[1])
    named["embeddings.word_embeddings.weight"] = found.old_rows(model.embed.table.weight)
    named["embeddings.position_embeddings.weight"] = torch.cat((before, places))
    named["embeddings.token_type_embeddings.weight"] = (
        places.new_zeros(1, places.shape[1]) if segment is None else segment.weight
    )
    prefix = "" if found.goal == "encode" else f"{found.family}."
    return {f"{prefix}{name}": weight for name, weight in named.items()}


def _head(found: Fitted) -> dict[str, Tensor]:
    ours = dict(found.model.named_parameters())
    if found.goal == "encode":
        return {}
    if found.goal != "fill":
        pairs = [("predict.score", "classifier")]
        if found.family == "roberta" and found.goal == "classify":
            pairs = [("encode.pool", "classifier.dense"), ("predict.score", "classifier.out_proj")]
        return {theirs: ours[name] for name, theirs in both(pairs)}
    dense, norm, bias = HEADS[found.family]
    named: dict[str, Tensor] = {
        theirs: ours[name] for name, theirs in both([("predict.transform", dense), ("predict.norm", norm)])
    }
    named[bias] = found.old_rows(ours["predict.bias"])
    if found.pairs:  # of their two numbers the first says that it follows, of ours the second
        follows = both([("predict.follows", FOLLOWS[found.family])])
        named |= {theirs: ours[name].flip(0) for name, theirs in follows}
    return named


def _decoder(found: Fitted) -> dict[str, Tensor]:
    ours, layers = dict(found.model.named_parameters()), len(found.model.predict.layers)
    named = {
        "wte.weight": found.old_rows(ours["predict.embed.table.weight"]),
        "wpe.weight": ours["predict.embed.position.table"],
        **{theirs: ours[name] for name, theirs in gpt2_stack(layers)},
    }
    for name, theirs in gpt2_turned(layers):
        named[f"{theirs}.weight"], named[f"{theirs}.bias"] = ours[f"{name}.weight"].T, ours[f"{name}.bias"]
    for three, theirs in gpt2_asks(layers):
        named[f"{theirs}.weight"] = torch.cat([ours[f"{each}.weight"] for each in three]).T
        named[f"{theirs}.bias"] = torch.cat([ours[f"{each}.bias"] for each in three])
    return {f"transformer.{name}": weight for name, weight in named.items()}
