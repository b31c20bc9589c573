"""Which heads align in a model of CTranslate2: it tells what one layer's first heads look at, and no more.

So its numbers are put into a model of our own, all of whose heads can be read and measured. Those that were chosen are
then moved to the front of their layer in its file, and the file told that layer. Head h owns rows h d .. (h + 1) d of
query, keys and values, and the same columns of the product that joins the heads: moved together, nothing else changes.

Letters: V pieces, D width.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.data.tokenizer import START
from regard.engine.ctranslate2 import PIECES
from regard.engine.ctranslate2.manifest import Manifest
from regard.engine.tokenizers import open_tokenizers
from regard.errors import UsageError
from regard.importing.ctranslate2.binary import Binary, read_binary, write_binary
from regard.importing.ctranslate2.vocabulary import read_names
from regard.importing.write import NEVER
from regard.model import Model
from regard.recipe import resolve
from regard.translate.translator import Translator

ACTIVATIONS = {0: "relu", 1: "gelu_tanh", 2: "silu", 3: "gelu"}
STRANGE = ("layernorm_embedding", "relative", "rotary", "linear_0_noact", "scale_outputs", "q_norm", "project_")


def as_translator(folder: Path) -> Translator:
    """The model of an imported folder as one of ours, in full precision."""
    binary = read_binary(folder / "model.bin")
    wrong = sorted({each for each in STRANGE for name in binary.variables if each in name})
    if (
        wrong
        or binary.number("decoder/alibi")
        or any(binary.number(f"{stack}/activation") not in ACTIVATIONS for stack in ("encoder", "decoder"))
    ):
        raise UsageError(f"{folder}: its layers are none of ours ({', '.join(wrong) or 'activation or alibi'}).")
    if not Manifest.read(folder).source_end:
        raise UsageError(f"{folder}: its sources have no end, as those of our models have.")
    pieces = json.loads((folder / PIECES).read_text(encoding="utf-8"))
    tables = {side: _order(read_names(folder, side), pieces[side]) for side in ("source", "target")}
    model: Model = resolve("transformer", _settings(binary)).build(len(tables["source"]), len(tables["target"]))
    weights = _weights(binary, tables)
    for name, parameter in model.named_parameters():
        parameter.data = weights[name].reshape(parameter.shape)
    source, target = open_tokenizers(folder, (len(tables["source"]), len(tables["target"])))
    return Translator(model.eval(), source, target, name=folder.name)


def read_from(folder: Path, aligner: Aligner) -> None:
    """Let an imported folder read its alignments from these heads."""
    binary, manifest = read_binary(folder / "model.bin"), Manifest.read(folder)
    heads, chosen = manifest.heads, aligner.within(manifest.layers, manifest.heads)
    first = chosen.heads or tuple(range(heads))
    order = [*first, *(head for head in range(heads) if head not in first)]
    changes = _moved(binary, f"decoder/layer_{chosen.layer}/attention", order)
    for name, value in (("alignment_layer", chosen.layer), ("alignment_heads", len(first))):
        changes[f"decoder/{name}"] = np.full_like(binary.variables[f"decoder/{name}"][1], value)
    draft = folder / ".model.bin"
    write_binary(binary.replaced(changes), draft)
    draft.replace(folder / "model.bin")
    text = json.dumps(chosen.to_json(), indent=2, ensure_ascii=False) + "\n"
    (folder / ALIGNER_FILE).write_text(text, encoding="utf-8")


def _moved(binary: Binary, name: str, order: Sequence[int]) -> dict[str, np.ndarray]:
    """The numbers of one attention with its heads in another order."""
    width = len(binary.variables[f"{name}/linear_0/weight"][1]) // len(order)
    rows = (np.array(order)[:, None] * width + np.arange(width)).reshape(-1)
    found = {}
    for linear, index in (("linear_0", rows), ("linear_1", np.concatenate((rows, rows + len(rows))))):
        for kind in ("weight", "bias", "weight_scale"):
            key = f"{name}/{linear}/{kind}"
            if key in binary.variables and binary.variables[key][1].ndim:
                found[key] = np.ascontiguousarray(binary.variables[key][1][index])
    joins = f"{name}/linear_2/weight"
    found[joins] = np.ascontiguousarray(binary.variables[joins][1][:, rows])
    return found


def _order(theirs: Sequence[str], ours: Sequence[str]) -> list[int]:
    """The row of each of our pieces in their table; -1 for one that they lack."""
    rows = {name: row for row, name in enumerate(theirs)}
    return [rows.get(name, -1) for name in ours]


def _settings(binary: Binary) -> list[str]:
    found = ['about.title="of CTranslate2"', "share=false", "task.joint=no", "predict.readout=linear"]
    parts = {"encoder": ("encode", "embed", ["encode.attend"])}
    parts["decoder"] = ("predict", "predict.embed", ["predict.self_attend", "attend"])
    for stack, (part, embed, attends) in parts.items():
        places, width = _places(binary, stack).shape
        feed = binary.weights(f"{stack}/layer_0/ffn/linear_0/weight")
        norm = "before" if binary.number(f"{stack}/pre_norm", 1) else "after"
        found += [
            f"{part}.layers={_layers(binary, stack)}",
            f"{part}.feed={0 if feed is None else len(feed)}",
            f"{part}.norm={norm}",
            f"{part}.activation={ACTIVATIONS[int(binary.number(f'{stack}/activation'))]}",
            f"{embed}.width={width}",
            f"{embed}.scale=false",
            f'{embed}.position={{part="learned",longest={places}}}',
        ]
        found += [f"{attend}.heads={int(binary.number(f'{stack}/num_heads', 8))}" for attend in attends]
    return found


def _layers(binary: Binary, stack: str) -> int:
    return len({name.split("/")[1] for name in binary.variables if name.startswith(f"{stack}/layer_")} - {"layer_norm"})


def _places(binary: Binary, stack: str) -> np.ndarray:
    found = binary.weights(f"{stack}/position_encodings/encodings")
    if found is None:
        raise UsageError("positions that CTranslate2 makes itself are not those of our models.")
    return found


def _weights(binary: Binary, tables: Mapping[str, Sequence[int]]) -> dict[str, Tensor]:
    """Its numbers by our names."""
    found: dict[str, np.ndarray] = {}
    for stack, part, embed, side in (
        ("encoder", "encode", "embed", "source"),
        ("decoder", "predict", "predict.embed", "target"),
    ):
        name = "encoder/embeddings_0/weight" if stack == "encoder" else "decoder/embeddings/weight"
        found[f"{embed}.table.weight"] = _rows(_sure(binary, name), tables[side]) * _scale(binary, stack)
        found[f"{embed}.position.table"] = _places(binary, stack)
        if binary.number(f"{stack}/pre_norm", 1):
            found |= _norm(binary, f"{part}.last", f"{stack}/layer_norm")
        for layer in range(_layers(binary, stack)):
            found |= _layer(binary, f"{part}.layers.{layer}", f"{stack}/layer_{layer}", stack)
    if binary.number("decoder/start_from_zero_embedding"):
        found["predict.embed.table.weight"][START] = 0
    found["predict.readout.score.weight"] = _rows(_sure(binary, "decoder/projection/weight"), tables["target"])
    bias = binary.weights("decoder/projection/bias")
    bias = np.zeros(len(_sure(binary, "decoder/projection/weight")), np.float32) if bias is None else bias
    found["predict.readout.score.bias"] = _rows(bias, tables["target"], NEVER)
    return {name: torch.from_numpy(np.ascontiguousarray(each, dtype=np.float32)) for name, each in found.items()}


def _rows(table: np.ndarray, order: Sequence[int], missing: float = 0.0) -> np.ndarray:
    blank = np.full((1, *table.shape[1:]), missing, dtype=np.float32)
    return np.concatenate((table, blank))[np.array(order)]


def _scale(binary: Binary, stack: str) -> float:
    """What token vectors are multiplied with: a number, or a yes for the root of their width."""
    found = binary.get(f"{stack}/scale_embeddings")
    if found is None or found.dtype == np.int8:
        return math.sqrt(_places(binary, stack).shape[1]) if found is None or found.reshape(()) else 1.0
    return float(found.reshape(()))


def _layer(binary: Binary, ours: str, theirs: str, stack: str) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for place, name in (("widen", "linear_0"), ("narrow", "linear_1")):
        found |= _linear(binary, [f"{ours}.feed.{place}"], f"{theirs}/ffn/{name}")
    found |= _norm(binary, f"{ours}.around_feed.norm", f"{theirs}/ffn/layer_norm")
    asks = [("attend", "around_attend", "self_attention")]
    if stack == "decoder":
        asks = [("self_attend", "around_self", "self_attention"), ("attend", "around_attend", "attention")]
    for attend, around, name in asks:
        three = [f"{ours}.{attend}.of_{each}" for each in ("query", "key", "value")]
        split = [three] if name == "self_attention" else [three[:1], three[1:]]
        for number, joined in enumerate([*split, [f"{ours}.{attend}.join"]]):
            found |= _linear(binary, joined, f"{theirs}/{name}/linear_{number}")
        found |= _norm(binary, f"{ours}.{around}.norm", f"{theirs}/{name}/layer_norm")
    return found


def _linear(binary: Binary, ours: Sequence[str], theirs: str) -> dict[str, np.ndarray]:
    """One product that may be that of several layers of ours."""
    weight, bias = _sure(binary, f"{theirs}/weight"), binary.weights(f"{theirs}/bias")
    bias = np.zeros(len(weight), np.float32) if bias is None else bias
    found: dict[str, np.ndarray] = {}
    for name, rows, numbers in zip(ours, np.split(weight, len(ours)), np.split(bias, len(ours)), strict=True):
        found |= {f"{name}.weight": rows, f"{name}.bias": numbers}
    return found


def _norm(binary: Binary, ours: str, theirs: str) -> dict[str, np.ndarray]:
    return {f"{ours}.weight": _sure(binary, f"{theirs}/gamma"), f"{ours}.bias": _sure(binary, f"{theirs}/beta")}


def _sure(binary: Binary, name: str) -> np.ndarray:
    found = binary.weights(name)
    if found is None:
        raise UsageError(f"its model.bin has no {name}, which a Transformer of ours has.")
    return found
