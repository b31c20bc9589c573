"""Answers as plain values: what was answered, how sure, and what was looked at, as far as it is wanted.

Letters: W words of the answer, S words or positions that were looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

from regard.align.alignment import Alignment
from regard.align.record import Tokenized
from regard.show.document import alignment_document, queries_document, record_document
from regard.show.pictured import image_url
from regard.show.shaded import Shaded
from regard.tasks.captioner import Caption
from regard.tasks.classifier import Classification
from regard.tasks.encoder import Encoding
from regard.tasks.filling import Filling
from regard.tasks.formula_reader import Formula
from regard.tasks.generation import Generation
from regard.tasks.tagger import Tagging
from regard.tasks.writer import Written
from regard.translate.linked import word_spans
from regard.translate.translator import Translation

Told = dict[str, Any]


@dataclass(frozen=True)
class Wants:
    """What is to be told beside the text: the words' alignment, every weight, the document that a page draws."""

    alignment: bool = True
    attention: bool = False
    figure: bool = False

    @property
    def record(self) -> bool:
        """Must what was looked at be kept?"""
        return self.alignment or self.attention or self.figure


@singledispatch
def told(answer: Any, wants: Wants) -> Told:
    """An answer of any task as plain values; of a task without more to tell, its text."""
    return {"text": str(answer.text)}


@told.register
def _(answer: Translation, wants: Wants) -> Told:
    found = {"text": answer.text, "score": answer.score, "likelihood": answer.likelihood}
    found |= {"pieces": list(answer.pieces), "ids": list(answer.ids)}
    if wants.alignment and answer.alignment is not None and answer.sides is not None:
        found["source"], found["target"] = map(side, answer.sides)
        found |= aligned(answer.alignment)
    return found | _looked(answer, wants)


@told.register
def _(answer: Written, wants: Wants) -> Told:
    return _written(answer) | _weights(answer.attention if wants.attention else ())


@told.register
def _(answer: Caption, wants: Wants) -> Told:
    found = _written(answer) | {"words": list(answer.words)}
    grid = answer.word_grid
    if wants.alignment and grid is not None:
        found["grid"] = {"rows": grid.shape[1], "columns": grid.shape[2], "weights": grid.tolist()}
        found["boxes"] = [list(box) for box in answer.boxes or ()]
    if wants.figure:
        found["image"] = image_url(answer.seen.image)
    if isinstance(answer, Formula):
        found["latex"] = answer.latex
    return found | _weights(answer.attention if wants.attention else ())


@told.register
def _(answer: Generation, wants: Wants) -> Told:
    found = {"text": answer.text, "continuation": answer.continuation, "likelihood": answer.likelihood}
    found |= {"pieces": list(answer.pieces), "ended": answer.ended}
    if wants.alignment and answer.alignment is not None:
        found |= aligned(answer.alignment)
    return found | _looked(answer, wants)


@told.register
def _(answer: Classification, wants: Wants) -> Told:
    found: Told = {"text": answer.text, "probability": answer.probability, "probabilities": dict(answer.probabilities)}
    if not wants.alignment:
        return found
    if isinstance(seen := answer.seen, Shaded):
        found |= {"words": list(seen.words), "looks": seen.weights.tolist()}
        drawn = wants.figure and len(seen.weights) > 0
        return found | ({"figure": queries_document(seen.words, seen.weights, answer.text)} if drawn else {})
    grid = answer.grid
    if wants.figure and (grid is not None or answer.looked.masks):
        found["image"] = image_url(seen.image)
    if answer.looked.masks:  # each a mean over the channels of its module
        masks = [each.mask for each in answer.looked.masks]
        found["masks"] = [{"rows": len(each), "columns": len(each[0]), "weights": [each.tolist()]} for each in masks]
    if grid is not None:
        found["grid"] = {"rows": grid.shape[1], "columns": grid.shape[2], "weights": grid.tolist()}
    return found


@told.register
def _(answer: Tagging, wants: Wants) -> Told:
    found: Told = {"text": answer.text, "words": list(answer.words), "tags": list(answer.tags)}
    found["tag_probabilities"] = list(answer.probabilities)
    if answer.alignment is None:
        return found
    drawn = {"figure": alignment_document(answer.alignment)} if wants.figure else {}
    return found | (aligned(answer.alignment) if wants.alignment else {}) | drawn


@told.register
def _(answer: Filling, wants: Wants) -> Told:
    holes = [
        {
            "position": hole.position,
            "candidates": [
                {"piece": piece, "probability": chance}
                for piece, chance in zip(hole.pieces, hole.probabilities, strict=True)
            ],
        }
        for hole in answer.holes
    ]
    found: Told = {"text": answer.text, "filled": answer.filled, "holes": holes, "words": list(answer.words)}
    if wants.alignment and answer.alignment is not None:
        found |= aligned(answer.alignment)
    return found | _looked(answer, wants)


@told.register
def _(answer: Encoding, wants: Wants) -> Told:
    found: Told = {"text": answer.text, "vector": [float(number) for number in answer.vector.tolist()]}
    if wants.alignment:
        found |= {"words": list(answer.words), "looks": answer.weights.tolist()}
    return found | _looked(answer, wants)


def side(read: Tokenized) -> Told:
    """One end of a pair: its pieces, its words, the word of each piece, and where words stand in the text."""
    spans = [list(span) for span in word_spans(read.text, read.words[:-1])]
    told = {"text": read.text, "pieces": list(read.labels), "ids": list(read.ids)}
    return told | {"words": list(read.words), "word": list(read.word), "spans": spans}


def aligned(alignment: Alignment) -> Told:
    """An alignment of words, its links, how far to believe it, and the heads that it was read from."""
    told = {
        "kind": alignment.kind,
        "source": list(alignment.source),
        "target": list(alignment.target),
        "matrix": alignment.numpy().tolist(),
        "note": alignment.note,
    }
    if alignment.kind != "cross":
        return {"alignment": told | {"links": [], "pharaoh": ""}}
    scores = {name: measure.share for name, measure in alignment.evidence.named().items()}
    links = {"links": [list(link) for link in alignment.links()], "pharaoh": alignment.pharaoh()}
    return {"alignment": told | links, "evidence": scores}


def _written(answer: Any) -> Told:
    told = {"text": answer.text, "score": answer.score, "likelihood": answer.likelihood}
    return told | {"pieces": list(answer.pieces), "ids": list(answer.ids)}


def _looked(answer: Any, wants: Wants) -> Told:
    """Every weight, and the document of a page; the model looks again where a fast engine kept less."""
    record = answer.record if wants.attention or wants.figure else None
    if record is None:
        return {}
    figure = {"figure": record_document(record)} if wants.figure else {}
    return (_weights([each.weights for each in record.attention]) if wants.attention else {}) | figure


def _weights(layers: Sequence[Any]) -> Told:
    """Layers of heads of rows; nothing where none are there."""
    return {"attention": [layer.float().tolist() for layer in layers]} if len(layers) else {}
