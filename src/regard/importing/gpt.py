"""GPT-2 in Hugging Face format.

It has one special piece, the end of a text, with which a text begins too. Ours has four: the other three are added,
and a bias keeps them from ever being written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from regard.importing.huggingface import architecture, config_of, is_of, weights_of
from regard.importing.names import gpt2_asks, gpt2_stack, gpt2_turned
from regard.importing.origin import ADDED
from regard.importing.vocabulary import Vocabulary, vocabulary_of
from regard.importing.write import Source, activation, require, tokenizer_file, write_model

NEVER = -1e9  # the bias of a piece that is not of the model
USUAL = {
    "activation_function": "gelu_new",
    "n_inner": None,
    "embd_pdrop": 0.1,
    "resid_pdrop": 0.1,
    "attn_pdrop": 0.1,
}
FIXED = {
    "layer_norm_epsilon": 1e-5,
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
}


def recognises(folder: Path) -> bool:
    """Is this one?"""
    return is_of(folder, "gpt2")


def convert(folder: Path, out: Path) -> None:
    """Write it as a model folder of ours."""
    config = {**USUAL, **config_of(folder)}
    architecture(config, "gpt2")
    require(config, folder, FIXED)
    source = Source(folder, weights_of(folder, "transformer."))
    table = source.take("wte.weight")
    vocabulary = vocabulary_of(folder, len(table), {"</s>": "<|endoftext|>"})
    size = len(vocabulary.order)
    files = tokenizer_file("target", vocabulary.text) | vocabulary.origin("gpt2").files()
    settings = _settings(config, source, vocabulary, folder)
    write_model("gpt2", settings, _weights(source, vocabulary, int(config["n_layer"])), (0, size), out, files)


def _weights(source: Source, vocabulary: Vocabulary, layers: int) -> dict[str, Tensor]:
    table = source.take("wte.weight")
    found = {
        "predict.embed.table.weight": vocabulary.rows(table),
        "predict.embed.position.table": source.take("wpe.weight"),
    }
    if ADDED in vocabulary.order:
        found["predict.readout.bias"] = vocabulary.rows(table.new_zeros(len(table)), missing=NEVER)
    found |= {ours: source.take(theirs) for ours, theirs in gpt2_stack(layers)}
    for ours, theirs in gpt2_turned(layers):
        found[f"{ours}.weight"] = source.take(f"{theirs}.weight").T
        found[f"{ours}.bias"] = source.take(f"{theirs}.bias")
    for three, theirs in gpt2_asks(layers):
        weights, biases = source.take(f"{theirs}.weight").T.chunk(3), source.take(f"{theirs}.bias").chunk(3)
        for each, weight, bias in zip(three, weights, biases, strict=True):
            found[f"{each}.weight"], found[f"{each}.bias"] = weight, bias
    return found


def _settings(config: dict[str, Any], source: Source, vocabulary: Vocabulary, folder: Path) -> list[str]:
    width, longest = config["n_embd"], len(source.take("wpe.weight"))
    return [
        'about.title="GPT2LMHeadModel, imported"',
        f"task.examples.length={longest - 1}",
        f"predict.layers={config['n_layer']}",
        f"predict.feed={config['n_inner'] or 4 * width}",
        f"predict.activation={activation(config['activation_function'], folder)}",
        f"predict.dropout={config['resid_pdrop']}",
        f"predict.self_attend.heads={config['n_head']}",
        f"predict.self_attend.attend.dropout={config['attn_pdrop']}",
        f"predict.readout.bias={str(ADDED in vocabulary.order).lower()}",
        f"predict.embed.width={width}",
        f"predict.embed.dropout={config['embd_pdrop']}",
        f"predict.embed.position.longest={longest}",
    ]
