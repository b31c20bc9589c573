"""The attention record: everything one output looked at, and the few heads that its alignment is read from.

`Aligner` names those heads and says how good they are. `Record` has the weights: kinds of attention, layers and
heads over the pieces of both sides; `Record.alignment(...)` reduces them to words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.align.alignment import END, START, Alignment, Weights, merge
from regard.data.tokenizer import END as END_ID
from regard.data.tokenizer import Pieces, Tokenizer
from regard.errors import ModelError, UnknownName, UsageError

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

KINDS = ("cross", "encoder-self", "decoder-self")
FILE = "alignment.json"  # where a model folder keeps its aligner
MEASURES = ("AER", "agreement")


@dataclass(frozen=True)
class Aligner:
    """Which heads an alignment is read from (their mean), and how well they align, where that was measured.

    `layer` and `heads` are counted from 0; no heads means all of the layer. `value` is a share from 0 to 1 of
    `measure`, found on `pairs` held-out pairs; `reference` says what they were held against. With `shift`, a target
    word's row is read at the step after it was written, when it is the decoder's input (Chen et al. 2020).
    `shape` counts the layers, and the heads of this one, of the model at hand; it is not stored.
    """

    kind: str
    layer: int
    heads: tuple[int, ...] = ()
    measure: str = ""
    value: float = 0.0
    pairs: int = 0
    reference: str = ""
    shift: bool = False
    shape: tuple[int, int] | None = None

    @classmethod
    def default(cls, layers: int) -> Aligner:
        """What is read where nothing was measured: the mean of all heads of the last layer."""
        return cls("cross", layers - 1)

    def within(self, layers: int, heads: int) -> Aligner:
        """The same, knowing of how many layers and heads it is one; refused where the model has no such head."""
        if not 0 <= self.layer < layers or any(not 0 <= head < heads for head in self.heads):
            raise ModelError(
                f"{FILE}: expected heads of a model with {layers} layers of {heads} heads; found {self._place()}.",
                hint="The file belongs to another model: copy the model folder again, whole, or delete the file.",
            )
        return replace(self, shape=(layers, heads))

    def to_json(self) -> dict[str, Any]:
        """What `alignment.json` holds."""
        told: dict[str, Any] = {"kind": self.kind, "layer": self.layer, "heads": list(self.heads)}
        told |= {"measure": self.measure, "value": self.value, "pairs": self.pairs, "reference": self.reference}
        return told | ({"shift": True} if self.shift else {})

    @classmethod
    def from_json(cls, told: Any) -> Aligner:
        """Read what `to_json` wrote; keys that are not ours are left alone."""
        try:
            found = cls(
                kind=str(told["kind"]),
                layer=int(told["layer"]),
                heads=tuple(int(head) for head in told["heads"]),
                measure=str(told.get("measure", "")),
                value=float(told.get("value", 0.0)),
                pairs=int(told.get("pairs", 0)),
                reference=str(told.get("reference", "")),
                shift=bool(told.get("shift", False)),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                f"{FILE}: expected an object with kind, layer and heads; found {str(told)[:80]}.",
                hint="Delete the file to read alignments from the last layer, or choose the heads again.",
            ) from error
        if found.measure and found.measure not in MEASURES:
            raise ModelError(f"{FILE}: expected a measure of {' or '.join(MEASURES)}; found '{found.measure}'.")
        return found

    def __str__(self) -> str:
        if self.shape == (1, 1) and self.kind == "cross":
            return f"the model's one attention ({self._worth()})"
        layers, heads = self.shape or (0, 0)
        return self._place() + (f" of {layers} x {heads}" if self.shape else "") + f" ({self._worth()})"

    def _place(self) -> str:
        kind = "" if self.kind == "cross" else f"{self.kind} attention, "
        layer, later = f"{kind}layer {self.layer + 1}", ", read one step later" if self.shift else ""
        named = [str(head + 1) for head in self.heads]
        if not named:
            return f"{layer}, mean of all heads{later}"
        if len(named) == 1:
            return f"{layer}, head {named[0]}{later}"
        return f"{layer}, mean of heads {', '.join(named[:-1])} and {named[-1]}{later}"

    def _worth(self) -> str:
        if not self.measure:
            return "not measured"
        against = "against" if self.measure == "AER" else "with"
        return f"{self.measure} {100 * self.value:.1f} % on {self.pairs:,} pairs, {against} {self.reference}"


@dataclass(frozen=True)
class Tokenized:
    """One sentence: its pieces and its words, the end of each included, and the word that each piece belongs to."""

    text: str
    ids: tuple[int, ...]
    pieces: tuple[str, ...]
    words: tuple[str, ...]
    word: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The pieces as they are shown: a space is visible, and so is a piece that only ends a character."""
        return tuple(piece.replace(" ", "▁") or "·" for piece in self.pieces)

    @property
    def spaced(self) -> bool:
        """Whether its words are those between spaces; else, in a script without, each piece is one."""
        return not self.text.strip() or list(self.words[:-1]) == self.text.split()


@dataclass(frozen=True, eq=False)
class Layer:
    """The weights of one layer of one kind of attention, of all its heads, over pieces: rows look at columns.

    Of decoder-self attention the row of a piece is the step that writes it, and its columns are the pieces that
    were there to be looked at; the last column, where the end would stand, is the start of the sentence.
    """

    kind: str
    layer: int
    weights: Float[Any, "H Q K"] = Weights()  # noqa: RUF009 # a descriptor, which every record is to share

    def numpy(self) -> Float[np.ndarray, "H Q K"]:
        """The weights as a NumPy array."""
        return vars(self)["weights"]


@dataclass(frozen=True, eq=False)
class Record:
    """What one output looked at: both sentences, every layer that was watched, and the heads that align.

    A search records cross-attention; `Translator.look` records every kind.
    """

    source: Tokenized
    target: Tokenized
    attention: tuple[Layer, ...]
    aligner: Aligner
    model: str = ""

    @cached_property
    def kinds(self) -> dict[str, int]:
        """The kinds of attention that there are, and how many layers of each."""
        counts = {kind: sum(each.kind == kind for each in self.attention) for kind in KINDS}
        return {kind: count for kind, count in counts.items() if count}

    def weights(self, kind: str = "cross", layer: int = -1) -> Tensor:
        """The weights of one layer; without a number, of the last."""
        return self._layer(kind, layer).weights

    def alignment(
        self,
        kind: str | None = None,
        layer: int | None = None,
        heads: int | Sequence[int] | None = None,
        *,
        pieces: bool = False,
    ) -> Alignment:
        """How words align (or pieces): the mean of `heads` of a layer, counted from 0.

        Pieces are merged to words by the sum over a word that is looked at and the mean over a word that looks.
        Without a kind, layer and heads these are the aligner's; of another kind or layer, all heads; of another
        kind, the last layer.
        """
        reader = self.reader(kind, layer, heads)
        found = self._layer(reader.kind, reader.layer).numpy()
        weights = (found[list(reader.heads)] if reader.heads else found).mean(0)
        weights = later(weights) if reader.shift else weights
        rows, columns = self.sides(reader.kind)
        if pieces:
            return self._told(weights, rows.labels, columns.labels, reader)
        merged = merge(weights, rows.word, columns.word, (len(rows.words), len(columns.words)))
        return self._told(merged, rows.words, columns.words, reader)

    def reader(
        self, kind: str | None = None, layer: int | None = None, heads: int | Sequence[int] | None = None
    ) -> Aligner:
        """The heads that `alignment` reads when asked so, with what is known of their worth."""
        kind = kind or self.aligner.kind
        same = kind == self.aligner.kind and layer in (None, self.aligner.layer)
        wanted = (heads,) if isinstance(heads, int) else None if heads is None else tuple(heads)
        if same and wanted in (None, self.aligner.heads):
            found = self.aligner
        else:
            near = self.aligner.layer if same else -1
            place = self._layer(kind, near if layer is None else layer).layer
            # All heads of a kind are read at the same step, so that they can be compared.
            found = Aligner(kind, place, wanted or (), shift=self.aligner.shift and kind == self.aligner.kind)
        count = self._layer(found.kind, found.layer).numpy().shape[0]
        if any(not 0 <= head < count for head in found.heads):
            raise UsageError(f"{kind} attention has {count} heads a layer, from 0 up; asked for {list(found.heads)}.")
        return found.within(self.kinds[found.kind], count)

    def sides(self, kind: str) -> tuple[Tokenized, Tokenized]:
        """Who looks and who is looked at."""
        rows = self.source if kind == "encoder-self" else self.target
        return rows, self.target if kind == "decoder-self" else self.source

    def save(self, path: str | Path, title: str = "") -> Path:
        """Write a file of the kind that its name asks for: .html (every view) .png .svg .pdf .json .csv .txt."""
        from regard.show.views import save_record

        return save_record(self, Path(path), title)

    def _repr_html_(self) -> str:
        from regard.show.views import embed_record

        return embed_record(self)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count} layers of {kind}" for kind, count in self.kinds.items())
        return f"Record({self.source.text!r} to {self.target.text!r}, {kinds})"

    def __str__(self) -> str:
        return str(self.alignment())

    def _layer(self, kind: str, layer: int) -> Layer:
        if kind not in KINDS:
            raise UnknownName("kind of attention", kind, KINDS)
        found = [each for each in self.attention if each.kind == kind]
        if not found:
            raise UsageError(
                f"the record has no {kind} attention; it has {', '.join(self.kinds) or 'none'}.",
                hint="A search records cross-attention alone: call look(source, target) for all that a model has.",
            )
        if not -len(found) <= layer < len(found):
            raise UsageError(f"the record has {len(found)} layers of {kind} attention, from 0 up; asked for {layer}.")
        return found[layer]

    def _told(
        self, weights: Float[np.ndarray, "Q K"], rows: tuple[str, ...], columns: tuple[str, ...], reader: Aligner
    ) -> Alignment:
        if reader.kind == "decoder-self":
            columns = (*columns[:-1], START)
        return Alignment(weights, columns, rows, str(reader), reader.kind)


def cross_layers(weights: Sequence[Float[Any, "H T S"]]) -> tuple[Layer, ...]:
    """The weights of a decoder's attentions over the source, bottom first, as layers."""
    return tuple(Layer("cross", number, each) for number, each in enumerate(weights))


def later(weights: Float[np.ndarray, "*H Q K"]) -> Float[np.ndarray, "*H Q K"]:
    """Each row as it was one step later; the end is the input of no step, and keeps its own."""
    return np.concatenate((weights[..., 1:, :], weights[..., -1:, :]), -2)


def start_last(kind: str, weights: Tensor) -> Tensor:
    """A decoder looks back at the start and what it wrote: the start last, so that columns stand as pieces do."""
    return weights.roll(-1, -1) if kind == "decoder-self" else weights


def tokenized(tokenizer: Tokenizer, pieces: Pieces, spaced: bool | None = None) -> Tokenized:
    """A line that was cut into pieces, with its words and its end; do spaces part its words? None: the line tells."""
    spans = tokenizer.words(pieces, spaced)
    words = [pieces.text[start:end] for start, end in spans]
    # Pieces without a word among them (white space alone) have none to belong to but the end.
    owners = [max(0, word) for word in tokenizer.piece_to_word(pieces, spans)]
    return Tokenized(pieces.text, (*pieces.ids, END_ID), (*pieces.pieces, END), (*words, END), (*owners, len(words)))
