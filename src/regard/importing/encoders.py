"""BERT, RoBERTa and ALBERT: an encoder, and the head that its architecture names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.errors import UsageError
from regard.importing.huggingface import architecture, config_of, weights_of
from regard.importing.names import FOLLOWS, HEADS, Pairs, albert_stack, bert_stack, both
from regard.importing.vocabulary import vocabulary_of
from regard.importing.write import NEVER, Source, activation, require, tokenizer_file, write_model

FIXED = {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False}


@dataclass(frozen=True)
class Family:
    """What tells one family from the others: name, special pieces, and settings that config.json may leave out."""

    name: str
    special: Mapping[str, str]
    usual: Mapping[str, Any]


class Encoder:
    """One folder of a family, read."""

    def __init__(self, family: Family, folder: Path) -> None:
        self.family, self.folder = family.name, folder
        self.config = {**family.usual, **config_of(folder)}
        self.architecture = architecture(self.config, family.name)
        require(self.config, folder, FIXED)
        if self.config.get("num_hidden_groups", 1) != 1 or self.config.get("inner_group_num", 1) != 1:
            raise UsageError(f"{folder}: layers in several groups are not supported; one that all share is.")
        self.source = Source(folder, weights_of(folder, f"{family.name}."))
        self.vocabulary = vocabulary_of(folder, len(self._table("word")), family.special)
        self.activation = activation(self.config["hidden_act"], folder)

    @property
    def classifies(self) -> bool:
        """Is its head one that classifies?"""
        return self.architecture.endswith("ForSequenceClassification")

    @property
    def fills(self) -> bool:
        """Has it the head that finds hidden pieces?"""
        return not self.classifies and HEADS[self.family][2] in self.source.weights

    @property
    def pairs(self) -> bool:
        """Has it a head for two texts?"""
        return self.architecture.endswith("ForPreTraining")

    @property
    def pooled(self) -> bool:
        """Has it a layer on its first state? A classifier of RoBERTa has it in its head."""
        return f"{self._pooler}.weight" in self.source.weights

    @property
    def _pooler(self) -> str:
        if self.family == "roberta" and self.classifies:
            return "classifier.dense"
        return "pooler" if self.family == "albert" else "pooler.dense"

    def _table(self, kind: str) -> Tensor:
        return self.source.take(f"embeddings.{kind}_embeddings.weight")

    def convert(self, out: Path) -> None:
        """Write the model folder."""
        size = len(self.vocabulary.order)
        files = tokenizer_file("source", self.vocabulary.text)
        weights = self._stack()
        if self.classifies:
            names = self._classes()
            last = "classifier.out_proj" if self.family == "roberta" else "classifier"
            weights |= {ours: self.source.take(theirs) for ours, theirs in both([("predict.score", last)])}
            files["target.classes.json"] = json.dumps(names, ensure_ascii=False, indent=1) + "\n"
            write_model("bert-classify", self._settings(), weights, (size, len(names)), out, files)
        elif self.fills:
            write_model(
                self.family, self._settings() + self._filling(), weights | self._head(), (size, size), out, files
            )
        else:
            raise UsageError(
                f"{self.folder}: {self.architecture} has no head, so that there is nothing it could be asked.",
                hint="Import a model that finds hidden pieces (ForMaskedLM, ForPreTraining) or classifies.",
            )

    def _stack(self) -> dict[str, Tensor]:
        pairs: Pairs = (
            albert_stack(False) if self.family == "albert" else bert_stack(self.config["num_hidden_layers"], False)
        )
        found = {ours: self.source.take(theirs) for ours, theirs in pairs}
        if self.pooled:
            found |= {ours: self.source.take(theirs) for ours, theirs in both([("encode.pool", self._pooler)])}
        found["embed.table.weight"] = self.vocabulary.rows(self._table("word"))
        places, segments = self._places(), self._table("token_type")
        if self._segments:
            found["embed.segment.weight"] = segments
        else:  # one vector for all positions: it goes into those of the places
            places = places + segments[0]
        found["embed.position.table"] = places
        return found

    def _places(self) -> Tensor:
        """The vectors of places, of which RoBERTa leaves out the first: those up to the number of its padding."""
        return self._table("position")[self.config["pad_token_id"] + 1 if self.family == "roberta" else 0 :]

    @property
    def _segments(self) -> int:
        count = int(self.config["type_vocab_size"])
        return count if count > 1 else 0

    def _head(self) -> dict[str, Tensor]:
        """The head that finds hidden pieces, whose vectors of pieces are those of the embedding."""
        dense, norm, bias = HEADS[self.family]
        found = {
            ours: self.source.take(theirs)
            for ours, theirs in both([("predict.transform", dense), ("predict.norm", norm)])
        }
        found["predict.bias"] = self.vocabulary.rows(self.source.take(bias), missing=NEVER)
        if self.pairs:  # of their two numbers the first says that it follows, of ours the second
            for ours, theirs in both([("predict.follows", FOLLOWS[self.family])]):
                found[ours] = self.source.take(theirs).flip(0)
        return found

    def _classes(self) -> list[str]:
        named = self.config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
        names = [str(named[each]) for each in sorted(named, key=int)]
        if self.config.get("problem_type") in ("regression", "multi_label_classification") or len(names) < 2:
            raise UsageError(
                f"{self.folder}: expected a model that gives each text one of at least two classes; found "
                f"{len(names)}, problem_type {self.config.get('problem_type')!r}."
            )
        return names

    def _settings(self) -> list[str]:
        """The recipe's settings that config.json decides."""
        config, narrow = self.config, self.config.get("embedding_size", 0) if self.family == "albert" else 0
        longest = len(self._places())
        drop, attend = config["hidden_dropout_prob"], config["attention_probs_dropout_prob"]
        task = [f"task.source.length={longest}"] if self.classifies else [f"task.examples.length={longest}"]
        return [
            *task,
            f'about.title="{self.architecture}, imported"',
            f"embed.width={config['hidden_size']}",
            f"embed.position.longest={longest}",
            f"embed.segments={self._segments}",
            f"embed.epsilon={config['layer_norm_eps']}",
            f"embed.dropout={drop}",
            f"embed.inner={narrow}",
            f"encode.layers={config['num_hidden_layers']}",
            f"encode.feed={config['intermediate_size']}",
            f"encode.activation={self.activation}",
            f"encode.epsilon={config['layer_norm_eps']}",
            f"encode.dropout={drop}",
            f"encode.share_layers={str(self.family == 'albert').lower()}",
            f"encode.summary={'pooled' if self.pooled else 'first'}",
            f"encode.attend.heads={config['num_attention_heads']}",
            f"encode.attend.attend.dropout={attend}",
        ]

    def _filling(self) -> list[str]:
        """Those of the head."""
        if self.activation in ("relu", "silu") and self.family != "roberta":
            raise UsageError(
                f"{self.folder}: a head with the activation {self.config['hidden_act']!r} is not supported."
            )
        require(self.config, self.folder, {"tie_word_embeddings": True})
        approximate = self.activation == "gelu_tanh" and self.family != "roberta"
        inner = self.config["embedding_size"] if self.family == "albert" else 0
        return [
            f"predict.inner={inner}",
            f"predict.epsilon={self.config['layer_norm_eps']}",
            f"predict.approximate={str(approximate).lower()}",
            f"predict.pair={str(self.pairs).lower()}",
            f"task.examples.pairs={'next' if self.pairs else 'none'}",
        ]
