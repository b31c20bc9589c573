"""The document that a page is drawn from: plain values that any program can write as JSON.

{"format": "regard-figure-1", "title", "model", "note",
 "source" and "target": {"text", "pieces", "words", "word": the word of each piece},    # both end with "</s>"
 "attention": [{"kind", "layer", "rows", "columns", "shape": [heads, rows, columns], "dtype", "data"}, ...],
 "chosen": {"kind", "layer", "heads"},    # what the page opens with; "later": true where it is read one step later
 "links": [[source word, target word], ...], "scores": {name: {"value", "meaning"}}}

`data` is base64 of zlib of the little-endian values, over pieces: "f4", or, where a document would hold more than
100,000 of them (or its share of as many in a page of many), "u2" (value / 65535). Layers, heads, words and pieces are
counted from 0.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.align.alignment import END, Alignment
from regard.align.evidence import Measure
from regard.align.record import Aligner, Layer, Record, Tokenized, later
from regard.show.labels import isolate

FORMAT, PAGE = "regard-figure-1", "regard-page-1"
MOST = 100_000  # values that are written in full
SIDES = {"cross": ("target", "source"), "encoder-self": ("source",) * 2, "decoder-self": ("target",) * 2}


def page_of(figures: Sequence[dict[str, Any]], title: str = "", view: str = "") -> dict[str, Any]:
    """A page of one figure, or of several side by side, which opens with a view (else with the matrix).

    As text, full shade is the largest weight of a word that looks: a long text is looked at with small ones.
    """
    looked = f"What {figures[0]['model'] or 'the model'} looked at"
    told = {"format": PAGE, "title": title or looked, "figures": list(figures)}
    settings = {"view": view, "scale": "row"} if view == "text" else {"view": view} if view else {}
    return told | ({"settings": settings} if settings else {})


def record_document(
    record: Record, title: str = "", reader: Aligner | None = None, *, most: int = MOST
) -> dict[str, Any]:
    """A record as a document that opens with the heads of `reader`, or with those that align.

    `most` is how many values may be written in full: a page of many figures has less room for each.
    """
    reader = reader or record.reader()
    aligns = record.aligner.kind == "cross" and "cross" in record.kinds
    alignment = record.alignment() if aligns else None
    sides = {"source": _side(record.source), "target": _side(record.target)}
    shown = [_shifted(each, record.aligner) for each in record.attention]
    return _document(shown, sides, reader, alignment, title or _title(record.source.text, record.target.text), most) | {
        "model": record.model
    }


def alignment_document(alignment: Alignment, title: str = "") -> dict[str, Any]:
    """An alignment as a document of one head, whose pieces are words."""
    looks = _words(alignment.target)
    other = _words(alignment.source if alignment.kind == "cross" else (END,))
    source, target = (looks, other) if alignment.kind == "encoder-self" else (other, looks)
    layer = Layer(alignment.kind, 0, alignment.matrix.unsqueeze(0))
    cross = alignment if alignment.kind == "cross" else None
    told = title or (_title(source["text"], target["text"]) if cross else looks["text"])
    sides = {"source": source, "target": target}
    return _document((layer,), sides, Aligner(alignment.kind, 0, (0,)), cross, told) | {"note": alignment.note}


def queries_document(
    words: Sequence[str], weights: Float[np.ndarray, "Q S"], answer: str, title: str = ""
) -> dict[str, Any]:
    """What queries looked at in a text, as a document of one head: a row each, or one row that is the answer's."""
    names = [answer or "answer"] if len(weights) == 1 else [f"query {query + 1}" for query in range(len(weights))]
    layer = Layer("cross", 0, torch.from_numpy(np.ascontiguousarray(weights)).unsqueeze(0))
    source = _words(tuple(words)) if words[-1] == END else _pieces(words)
    sides = {"source": source, "target": _pieces(names) | {"text": answer}}
    return _document((layer,), sides, Aligner("cross", 0, (0,)), None, title or source["text"]) | {"note": ""}


def _document(
    layers: Sequence[Layer],
    sides: dict[str, Any],
    reader: Aligner,
    alignment: Alignment | None,
    title: str,
    most: int = MOST,
) -> dict[str, Any]:
    full = sum(each.weights.numel() for each in layers) <= most
    heads = next(each.weights.shape[0] for each in layers if (each.kind, each.layer) == (reader.kind, reader.layer))
    chosen: dict[str, Any] = {"kind": reader.kind, "layer": reader.layer, "heads": list(reader.heads or range(heads))}
    if reader.shift:
        chosen["later"] = True
    scores = alignment.evidence.named() if alignment else {}
    return {
        "format": FORMAT,
        "title": title,
        "model": "",
        "note": str(reader),
        **sides,
        "attention": [_packed(each, full) for each in layers],
        "chosen": chosen,
        "links": [list(link) for link in alignment.links()] if alignment else [],
        "scores": {
            f"{name} %": {"value": round(100 * each.share, 1), "meaning": _meaning(each)}
            for name, each in scores.items()
        },
    }


def _meaning(measure: Measure) -> str:
    """What a figure says; and, where it is no share by itself, what it was made from."""
    if measure.value == measure.share:
        return measure.meaning
    return f"{measure.meaning} (minus an entropy: {round(measure.value, 3) + 0:.3f} nats; 0 is best)"  # never "-0.000"


def _shifted(layer: Layer, aligner: Aligner) -> Layer:
    """A layer as alignments read it, so that a page and an alignment show the same."""
    return replace(layer, weights=later(layer.numpy())) if aligner.shift and layer.kind == aligner.kind else layer


def _packed(layer: Layer, full: bool) -> dict[str, Any]:
    rows, columns = SIDES[layer.kind]
    told = {"kind": layer.kind, "layer": layer.layer, "rows": rows, "columns": columns}
    told |= {"shape": list(layer.weights.shape), "dtype": "f4" if full else "u2"}
    return told | {"data": base64.b64encode(zlib.compress(_bytes(layer.weights, full))).decode("ascii")}


def _bytes(weights: Tensor, full: bool) -> bytes:
    values = weights.detach().cpu().float().numpy()
    return (values.astype("<f4") if full else np.rint(values.clip(0, 1) * 65535).astype("<u2")).tobytes()


def _side(side: Tokenized) -> dict[str, Any]:
    return {"text": side.text, "pieces": list(side.labels), "words": list(side.words), "word": list(side.word)}


def _words(words: tuple[str, ...]) -> dict[str, Any]:
    """Words as a side of their own: each is one piece."""
    shown = [*words[:-1], END]
    return {"text": " ".join(words[:-1]), "pieces": shown, "words": shown, "word": list(range(len(shown)))}


def _pieces(words: Sequence[str]) -> dict[str, Any]:
    """Words that nothing ends, each one piece."""
    return {"text": " ".join(words), "pieces": list(words), "words": list(words), "word": list(range(len(words)))}


def _title(source: str, target: str) -> str:
    """Both sentences, each in its own direction, from left to right; of a text that looks at itself, the text."""
    if not source or not target:
        return isolate(source or target)
    return f"{isolate(source)}  →  {isolate(target)}"
