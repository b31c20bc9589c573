"""What Hugging Face calls the weights of our models, family by family: pairs of our name and theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Pairs = list[tuple[str, str]]


def both(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """The weight and the bias of some layers or norms."""
    return [(f"{ours}.{each}", f"{theirs}.{each}") for ours, theirs in pairs for each in ("weight", "bias")]


def bert_stack(layers: int, pooled: bool) -> Pairs:
    """The embedding and the encoder of BERT and RoBERTa, without the tables of pieces, places and segments."""
    found = [("embed.norm", "embeddings.LayerNorm")]
    for layer in range(layers):
        ours, theirs = f"encode.layers.{layer}", f"encoder.layer.{layer}"
        found += [(f"{ours}.attend.of_{each}", f"{theirs}.attention.self.{each}") for each in ("query", "key", "value")]
        found += [
            (f"{ours}.attend.join", f"{theirs}.attention.output.dense"),
            (f"{ours}.around_attend.norm", f"{theirs}.attention.output.LayerNorm"),
            (f"{ours}.feed.widen", f"{theirs}.intermediate.dense"),
            (f"{ours}.feed.narrow", f"{theirs}.output.dense"),
            (f"{ours}.around_feed.norm", f"{theirs}.output.LayerNorm"),
        ]
    return both([*found, *([("encode.pool", "pooler.dense")] if pooled else [])])


def albert_stack(pooled: bool) -> Pairs:
    """The embedding and the one layer of ALBERT, likewise."""
    ours, theirs = "encode.layers.0", "encoder.albert_layer_groups.0.albert_layers.0"
    found = [("embed.norm", "embeddings.LayerNorm"), ("embed.widen", "encoder.embedding_hidden_mapping_in")]
    found += [(f"{ours}.attend.of_{each}", f"{theirs}.attention.{each}") for each in ("query", "key", "value")]
    found += [
        (f"{ours}.attend.join", f"{theirs}.attention.dense"),
        (f"{ours}.around_attend.norm", f"{theirs}.attention.LayerNorm"),
        (f"{ours}.feed.widen", f"{theirs}.ffn"),
        (f"{ours}.feed.narrow", f"{theirs}.ffn_output"),
        (f"{ours}.around_feed.norm", f"{theirs}.full_layer_layer_norm"),
    ]
    return both([*found, *([("encode.pool", "pooler")] if pooled else [])])


# The head that finds hidden pieces: its linear layer and norm; then its bias; then the head for two texts.
HEADS = {
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "albert": ("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
}
FOLLOWS = {"bert": "cls.seq_relationship", "albert": "sop_classifier.classifier"}


def gpt2_stack(layers: int) -> Pairs:
    """The norms of GPT-2's decoder."""
    found = [("predict.last", "ln_f")]
    for layer in range(layers):
        ours, theirs = f"predict.layers.{layer}", f"h.{layer}"
        found += [(f"{ours}.around_self.norm", f"{theirs}.ln_1"), (f"{ours}.around_feed.norm", f"{theirs}.ln_2")]
    return both(found)


def gpt2_turned(layers: int) -> Pairs:
    """Its linear layers, whose weights GPT-2 keeps with rows for columns; `c_attn` is query, key and value in one."""
    found = []
    for layer in range(layers):
        ours, theirs = f"predict.layers.{layer}", f"h.{layer}"
        found += [
            (f"{ours}.self_attend.join", f"{theirs}.attn.c_proj"),
            (f"{ours}.feed.widen", f"{theirs}.mlp.c_fc"),
            (f"{ours}.feed.narrow", f"{theirs}.mlp.c_proj"),
        ]
    return found


def gpt2_asks(layers: int) -> list[tuple[tuple[str, ...], str]]:
    """The query, key and value of each layer, and what holds all three."""
    return [
        (
            tuple(f"predict.layers.{layer}.self_attend.of_{each}" for each in ("query", "key", "value")),
            f"h.{layer}.attn.c_attn",
        )
        for layer in range(layers)
    ]


ASKS = {"query": "q_proj", "key": "k_proj", "value": "v_proj"}


def marian_stack(encoder: int, decoder: int) -> Pairs:
    """The layers of Marian's encoder and decoder."""
    found: Pairs = []
    for layer in range(encoder):
        names = {"attend": "self_attn", "around_attend": "self_attn_layer_norm"}
        found += _marian_layer(f"encode.layers.{layer}", f"encoder.layers.{layer}", names)
    for layer in range(decoder):
        names = {"self_attend": "self_attn", "around_self": "self_attn_layer_norm"}
        names |= {"attend": "encoder_attn", "around_attend": "encoder_attn_layer_norm"}
        found += _marian_layer(f"predict.layers.{layer}", f"decoder.layers.{layer}", names)
    return both(found)


def _marian_layer(ours: str, theirs: str, names: Mapping[str, str]) -> Pairs:
    found = [
        (f"{ours}.feed.widen", f"{theirs}.fc1"),
        (f"{ours}.feed.narrow", f"{theirs}.fc2"),
        (f"{ours}.around_feed.norm", f"{theirs}.final_layer_norm"),
    ]
    for one, other in names.items():
        if one.startswith("around"):
            found.append((f"{ours}.{one}.norm", f"{theirs}.{other}"))
        else:
            found += [(f"{ours}.{one}.of_{each}", f"{theirs}.{other}.{asked}") for each, asked in ASKS.items()]
            found.append((f"{ours}.{one}.join", f"{theirs}.{other}.out_proj"))
    return found
