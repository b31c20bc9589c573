"""Marian in Hugging Face format: the translators of OPUS-MT.

Its decoder begins with the padding, so our `<s>`, which it lacks, has the padding's vector, and a bias that keeps it
from being written. Positions are sines and cosines in halves; all else is the Transformer as published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.align.record import FILE as ALIGNER_FILE
from regard.align.record import Aligner
from regard.data.languages import FILE as LANGUAGES_FILE
from regard.data.languages import languages_text
from regard.data.sides.text import FILES
from regard.data.tokenizer import START
from regard.embed.position import sinusoid
from regard.errors import ModelError, UsageError
from regard.importing.cutting import in_our_order, tokenizer_text
from regard.importing.huggingface import architecture, config_of, is_of, json_of, weights_of
from regard.importing.names import marian_stack
from regard.importing.spiece import read_spiece
from regard.importing.write import NEVER, Source, activation, require, write_model
from regard.task import Role

USUAL = {
    "scale_embedding": False,
    "activation_function": "gelu",
    "dropout": 0.1,
    "attention_dropout": 0.0,
    "eos_token_id": 0,
    "tie_word_embeddings": True,
    "share_encoder_decoder_embeddings": True,
}
FIXED = {
    "static_position_embeddings": True,
    "normalize_before": False,
    "normalize_embedding": False,
    "add_final_layer_norm": False,
    "add_bias_logits": False,
    "is_decoder": False,
}
SHAPE = (
    "d_model",
    "encoder_layers",
    "encoder_ffn_dim",
    "encoder_attention_heads",
    "decoder_layers",
    "decoder_ffn_dim",
    "decoder_attention_heads",
    "pad_token_id",
    "decoder_start_token_id",
)


def recognises(folder: Path) -> bool:
    """Is this one?"""
    return is_of(folder, "marian")


def convert(folder: Path, out: Path) -> None:
    """Write it as a model folder of ours."""
    Marian(folder).convert(out)


@dataclass(frozen=True)
class Pieces:
    """The pieces of one side in our order, and the number that each had."""

    names: list[str]
    order: Tensor

    def rows(self, table: Tensor) -> Tensor:
        """A table, or a bias, in our order."""
        return table[self.order]


class Marian:
    """One folder, read."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.config = folder, {**USUAL, **config_of(folder)}
        architecture(self.config, "marian")
        missing = [key for key in SHAPE if not isinstance(self.config.get(key), int)]
        if missing:
            raise ModelError(f"{folder / 'config.json'}: expected a whole number for {', '.join(missing)}.")
        require(self.config, folder, FIXED)
        self.source = Source(folder, weights_of(folder, "model."))
        self.told = json_of(folder / "tokenizer_config.json")
        self.shared = bool(self.config["share_encoder_decoder_embeddings"])
        if bool(self.told.get("separate_vocabs", not self.shared)) == self.shared:
            raise UsageError(
                f"{folder}: expected vocabularies as its tables are, one for both sides or one each; found "
                f"share_encoder_decoder_embeddings = {self.shared}, separate_vocabs = {not self.shared and 'false'}."
            )
        sides: list[tuple[Role, str]] = [("source", "vocab.json")]
        sides.append(("target", "vocab.json" if self.shared else "target_vocab.json"))
        self.pieces = {side: self._pieces(side, name) for side, name in sides}

    def convert(self, out: Path) -> None:
        """Write the model folder."""
        files = {FILES[side]: self._tokenizer(side, found) for side, found in self.pieces.items()}
        spoken = [self.told.get(f"{side}_lang") for side in ("source", "target")]
        if all(spoken):
            files[LANGUAGES_FILE] = languages_text(str(spoken[0]), str(spoken[1]))
        files[ALIGNER_FILE] = json.dumps(_aligner(self.config["decoder_layers"]).to_json(), indent=2) + "\n"
        sizes = len(self.pieces["source"].names), len(self.pieces["target"].names)
        write_model("transformer", self._settings(), self._weights(), sizes, out, files)

    def _table(self, side: Role) -> Tensor:
        stack = "encoder" if side == "source" else "decoder"
        shared = ("shared.weight",) if self.shared else ()
        return self.source.take(*shared, f"{stack}.embed_tokens.weight")

    def _pieces(self, side: Role, name: str) -> Pieces:
        numbers = json_of(self.folder / name)
        if not numbers or not all(isinstance(each, int) and each >= 0 for each in numbers.values()):
            raise ModelError(f"{self.folder}: expected {name}, a number for each piece.", hint="Download it too.")
        start, pad = self.config["decoder_start_token_id"], self.config["pad_token_id"]
        if "<unk>" not in numbers:
            raise ModelError(f"{self.folder / name}: its vocabulary has no piece '<unk>'.")
        special = [pad, start, self._end(), numbers["<unk>"]]
        rows = len(self._table(side))
        if max(special) >= rows:
            raise ModelError(f"{self.folder}: its special pieces have numbers up to {max(special)}, its table {rows}.")
        names, order = in_our_order(numbers, rows, special, str(self.folder))
        return Pieces(names, torch.tensor(order))

    def _end(self) -> int:
        found = self.config["eos_token_id"]
        if not isinstance(found, int):
            raise UsageError(f"{self.folder}: expected one eos_token_id; found {found!r}.")
        return found

    def _tokenizer(self, side: Role, found: Pieces) -> str:
        path = self.folder / f"{side}.spm"
        if not path.is_file():
            raise ModelError(f"{self.folder} holds no {path.name}, which cuts its {side}.", hint="Download it too.")
        return tokenizer_text(read_spiece(path), found.names, str(path))

    def _weights(self) -> dict[str, Tensor]:
        config, target = self.config, self.pieces["target"]
        self._check_positions()
        found = {
            ours: self.source.take(theirs)
            for ours, theirs in marian_stack(config["encoder_layers"], config["decoder_layers"])
        }
        found["embed.table.weight"] = self.pieces["source"].rows(self._table("source"))
        if not self.shared:
            found["predict.embed.table.weight"] = target.rows(self._table("target"))
        rows = len(self._table("target"))
        bias = self.source.weights.get("final_logits_bias", torch.zeros(rows))
        if bias.numel() != rows:
            raise ModelError(f"{self.folder}: expected final_logits_bias of {rows} numbers; found {bias.numel()}.")
        bias = target.rows(bias.flatten())
        bias[START] = NEVER  # it is there to begin with, and nothing else
        if config["tie_word_embeddings"]:
            return found | {"predict.readout.bias": bias}
        readout = target.rows(self.source.take("lm_head.weight"))
        return found | {"predict.readout.score.weight": readout, "predict.readout.score.bias": bias}

    def _check_positions(self) -> None:
        """Older files hold the positions; they must be those that we make."""
        for stack in ("encoder", "decoder"):
            table = self.source.weights.get(f"{stack}.embed_positions.weight")
            if table is not None and not torch.allclose(
                table, sinusoid(0, len(table), table.shape[1], "halves"), atol=1e-3
            ):
                raise UsageError(f"{self.folder}: positions of its own ({stack}.embed_positions) are not supported.")

    def _settings(self) -> list[str]:
        """The recipe's settings that config.json decides."""
        config = self.config
        bent = activation(config["activation_function"], self.folder)
        found = [
            'about.title="MarianMTModel, imported"',
            f"share={_word(self.shared)}",
            f"task.joint={'yes' if self.shared else 'no'}",
            f"predict.readout={'tied' if config['tie_word_embeddings'] else 'linear'}",
            f"encode.layers={config['encoder_layers']}",
            f"encode.feed={config['encoder_ffn_dim']}",
            f"predict.layers={config['decoder_layers']}",
            f"predict.feed={config['decoder_ffn_dim']}",
        ]
        for part in ("encode", "predict"):
            found += [f"{part}.norm=after", f"{part}.dropout={config['dropout']}", f"{part}.activation={bent}"]
        for part in ("embed", "predict.embed"):
            found += _embedded(part, config)
        heads = {"encode.attend": "encoder", "predict.self_attend": "decoder", "attend": "decoder"}
        for part, stack in heads.items():
            found += [
                f"{part}.heads={config[f'{stack}_attention_heads']}",
                f"{part}.attend.dropout={config['attention_dropout']}",
            ]
        return found


def _aligner(layers: int) -> Aligner:
    """Where alignments are read until somebody measures: the middle layer, one step later (Chen et al. 2020)."""
    return Aligner("cross", (layers - 1) // 2, shift=True)


def _embedded(part: str, config: Mapping[str, Any]) -> Sequence[str]:
    return [
        f"{part}.width={config['d_model']}",
        f"{part}.scale={_word(bool(config['scale_embedding']))}",
        f"{part}.dropout={config['dropout']}",
        f"{part}.position.layout=halves",
    ]


def _word(value: bool) -> str:
    return str(value).lower()
