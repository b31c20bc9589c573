"""What a translator looks at in a few sentences while it learns: the right outputs, forced, so that looks compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from regard.show.document import record_document
from regard.show.gates import gate_document
from regard.show.watch import places
from regard.tasks.segmenter import Segmenter
from regard.tasks.writer import Writer
from regard.translate.translator import Translator

LONGEST = 240  # letters of a sentence that is taken in at a glance
SHORT, MIDDLING = 0.1, 0.5  # how far into the sentences, by length, those lie that are looked at


def chosen_pairs(sources: Sequence[Any], references: Sequence[Any], count: int) -> list[tuple[str, str]]:
    """So many pairs from short to middling, each with its first right output."""
    both = zip(sources, references, strict=True)
    pairs = [(str(source), str(right if isinstance(right, str) else next(iter(right), ""))) for source, right in both]
    pairs = [pair for pair in pairs if all(text.strip() and len(text) <= LONGEST for text in pair)]
    pairs.sort(key=lambda pair: len(pair[0]))
    steps = [MIDDLING] if count == 1 else [SHORT + (MIDDLING - SHORT) * step / (count - 1) for step in range(count)]
    return list(dict.fromkeys(pairs[int(step * len(pairs))] for step in steps)) if pairs else []


def gates_of(segmenter: Segmenter, images: Sequence[Any], right: Sequence[str]) -> tuple[dict[str, Any], ...]:
    """How far the gates of a network are open in some images; nothing of a network without."""
    found = segmenter.answer(list(images)) if segmenter.gated else []
    pairs = zip(found, right, strict=False)
    return tuple(
        gate_document(each.source, each_right, each.text, each.gates, each.names) for each, each_right in pairs
    )


def looks_of(writer: Translator | Writer, pairs: Sequence[tuple[str, str]]) -> tuple[dict[str, Any], ...]:
    """What is looked at in each source while its right output is written; nothing of a model that does not attend."""
    if not isinstance(writer, Translator) or ("cross", 0) not in places(writer.model).values():
        return ()
    found = []
    for source, target in pairs:
        record = writer.look(source, target)
        cross = tuple(layer for layer in record.attention if layer.kind == "cross")
        found.append(record_document(replace(record, attention=cross), most=0))
    return tuple(found)
