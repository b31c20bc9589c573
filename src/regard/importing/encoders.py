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
from regard.importing.sentences import Sentences, sentences_of
from regard.importing.vocabulary import vocabulary_of
from regard.importing.write import Source, activation, require, tokenizer_file, write_model

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
        self.sentences = sentences_of(folder)
        self.source = Source(folder, weights_of(folder, f"{family.name}."))
        self.vocabulary = vocabulary_of(folder, len(self._table("word")), family.special, hides=self.goal == "fill")
        self.activation = activation(self.config["hidden_act"], folder)

    @property
    def goal(self) -> str:
        """What its head is asked for; without one, a vector."""
        if self.sentences is not None:
            return "encode"
        if self.architecture.endswith("ForSequenceClassification"):
            return "classify"
        if self.architecture.endswith("ForTokenClassification"):
            return "tag"
        fills = not self.architecture.endswith("Model") and HEADS[self.family][2] in self.source.weights
        return "fill" if fills else "encode"

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
        if self.family == "roberta" and self.goal == "classify":
            return "classifier.dense"
        return "pooler" if self.family == "albert" else "pooler.dense"

    def _table(self, kind: str) -> Tensor:
        return self.source.take(f"embeddings.{kind}_embeddings.weight")

    def convert(self, out: Path) -> None:
        """Write the model folder."""
        size = len(self.vocabulary.order)
        files = tokenizer_file("source", self.vocabulary.text) | self.vocabulary.origin(self.family).files()
        recipe, settings, weights = f"bert-{self.goal}", self._settings(), self._stack()
        if self.goal == "fill":
            recipe, target = self.family, size
            settings += self._filling()
            weights |= self._head()
        elif self.goal == "encode":
            recipe, target = "bert-classify", 0
            settings += self._encoding()
        else:
            names = self._classes()
            target = len(names)
            weights |= {ours: self.source.take(theirs) for ours, theirs in both([("predict.score", self._last)])}
            files["target.classes.json"] = json.dumps(names, ensure_ascii=False, indent=1) + "\n"
        write_model(recipe, settings, weights, (size, target), out, files)

    @property
    def _last(self) -> str:
        """The layer that scores classes."""
        return "classifier.out_proj" if self.family == "roberta" and self.goal == "classify" else "classifier"

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
        found["predict.bias"] = self.vocabulary.rows(self.source.take(bias), missing=-1e9)
        if self.pairs:  # of their two numbers the first says that it follows, of ours the second
            for ours, theirs in both([("predict.follows", FOLLOWS[self.family])]):
                found[ours] = self.source.take(theirs).flip(0)
        return found

    def _classes(self) -> list[str]:
        named = self.config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"}
        names = [str(named[each]) for each in sorted(named, key=int)]
        if self.config.get("problem_type") in ("regression", "multi_label_classification") or len(names) < 2:
            raise UsageError(
                f"{self.folder}: expected a model that gives one of at least two classes; found "
                f"{len(names)}, problem_type {self.config.get('problem_type')!r}."
            )
        return names

    def _settings(self) -> list[str]:
        """The recipe's settings that config.json decides."""
        config, narrow = self.config, self.config.get("embedding_size", 0) if self.family == "albert" else 0
        longest = len(self._places())
        drop, attend = config["hidden_dropout_prob"], config["attention_probs_dropout_prob"]
        cut = min(longest, self.sentences.length or longest) if self.sentences else longest
        length = {"fill": [f"task.examples.length={longest}"], "tag": []}
        return [
            *length.get(self.goal, [f"task.source.length={cut}"]),
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

    def _encoding(self) -> list[str]:
        """Those of a vector."""
        how = self.sentences or Sentences()
        return [
            "task.verb=encode",
            "task.target=nothing",
            "task.goal=encode",
            "predict.part=vector",
            f"predict.pool={how.pool}",
            f"predict.normalise={str(how.normalise).lower()}",
        ]

    def _filling(self) -> list[str]:
        """Those of the head."""
        if self.activation == "relu" and self.family != "roberta":
            raise UsageError(f"{self.folder}: a head with the activation 'relu' is not supported.")
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
