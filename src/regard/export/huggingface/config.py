"""config.json: what `transformers` builds the model with."""

from __future__ import annotations

from typing import Any

from regard.data.tokenizer import END, PAD, START
from regard.export.huggingface.fitting import Fitted
from regard.importing.origin import ADDED

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu_tanh": "gelu_new"}


def config_of(found: Fitted, size: int, classes: tuple[str, ...]) -> dict[str, Any]:
    """All that is said of a model of so many pieces, with these classes if it has some."""
    common: dict[str, Any] = {
        "architectures": [found.architecture],
        "model_type": found.family,
        "dtype": "float32",
        "vocab_size": size,
        "tie_word_embeddings": True,
        "bos_token_id": number_of(found, END if found.family == "gpt2" else START),
        "eos_token_id": number_of(found, END),
        "pad_token_id": number_of(found, PAD),
    }
    return {**common, **(_decoder(found) if found.family == "gpt2" else _encoder(found)), **_labels(classes)}


def number_of(found: Fitted, piece: int) -> int | None:
    """The number that one of our first four pieces has there; None where there is none."""
    number = found.origin.numbers[piece] if found.origin else piece
    return None if number == ADDED else number


def first_place(found: Fitted) -> int:
    """How many rows stand before the vector of the first place: RoBERTa counts from its padding on."""
    return (number_of(found, PAD) or 0) + 1 if found.family == "roberta" else 0


def _encoder(found: Fitted) -> dict[str, Any]:
    embed, layer = found.model.embed, found.model.encode.layers[0]
    told = {
        "hidden_size": embed.width,
        "num_hidden_layers": found.recipe.model.settings["encode"].settings["layers"],
        "num_attention_heads": layer.attend.heads,
        "intermediate_size": layer.feed.widen.out_features,
        "hidden_act": ACTIVATIONS[layer.feed.activation],
        "hidden_dropout_prob": layer.around_feed.dropout,
        "attention_probs_dropout_prob": layer.attend.attend.dropout,
        "max_position_embeddings": first_place(found) + len(embed.position.table),
        "type_vocab_size": 1 if embed.segment is None else embed.segment.num_embeddings,
        "layer_norm_eps": embed.norm.eps,
    }
    if found.family == "albert":
        told |= {"embedding_size": embed.table.embedding_dim, "num_hidden_groups": 1, "inner_group_num": 1}
    if found.goal in ("classify", "tag"):
        told["classifier_dropout_prob" if found.family == "albert" else "classifier_dropout"] = (
            found.model.predict.dropout
        )
    return told


def _decoder(found: Fitted) -> dict[str, Any]:
    predict = found.model.predict
    layer = predict.layers[0]
    return {
        "n_positions": len(predict.embed.position.table),
        "n_embd": predict.embed.width,
        "n_layer": len(predict.layers),
        "n_head": layer.self_attend.heads,
        "n_inner": layer.feed.widen.out_features,
        "activation_function": ACTIVATIONS[layer.feed.activation],
        "embd_pdrop": predict.embed.dropout,
        "resid_pdrop": layer.around_feed.dropout,
        "attn_pdrop": layer.self_attend.attend.dropout,
        "layer_norm_epsilon": 1e-5,
    }


def _labels(classes: tuple[str, ...]) -> dict[str, Any]:
    if not classes:
        return {}
    return {
        "id2label": {str(number): name for number, name in enumerate(classes)},
        "label2id": {name: number for number, name in enumerate(classes)},
    }
