"""A translation as it is written, piece by piece, with what was looked at for each: the likeliest piece each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from regard.data.padding import pad
from regard.data.tokenizer import END, START
from regard.search import Options
from regard.search.greedy import Greedy
from regard.search.loop import Running, in_use
from regard.search.queue import Queue
from regard.translate.translator import NOTHING, Translation, Translator

if TYPE_CHECKING:
    from jaxtyping import Float


@dataclass(frozen=True)
class Told:
    """A piece that was written, and all text so far; or, of piece `step`, how much it looked at each source piece."""

    step: int
    piece: str = ""
    id: int = -1
    text: str = ""
    row: Float[np.ndarray, " S"] | None = None


def stream(
    translator: Translator, line: str, *, max_length: int = 200, prefix: Sequence[int] = ()
) -> Iterator[Told | Translation]:
    """What is told while a line is translated greedily; the translation is last. Each step is made when asked for.

    The row of a piece comes after it: at once, or, of heads that are read one step later, after the next piece.
    """
    pieces = translator.source.encode(line)
    if not pieces.ids:
        yield NOTHING
        return
    asked = Options(1, max_length=max_length, prefix=[prefix] if prefix else ())
    queue = Queue(pad([[*pieces.ids, END]]), translator._settled(asked), None)
    with in_use(translator.model):
        running = Running(translator.model, queue, Greedy(), start=START, end=END, record=True)
    aligner = translator.engine.whole().reader(translator._chosen)
    ids: list[int] = []
    while len(running.rows):
        with in_use(translator.model):  # not around a yield: whoever listens would be in it too
            running.advance()
        if len(running.rows):
            ids.append(int(running.token[0]))
            said = translator.target.read(ids)
            yield Told(len(ids) - 1, said.pieces[-1], ids[-1], said.text)
        looks = running.backpointers.looks
        if looks and looks[-1]:
            layer = looks[-1][-1 if aligner is None else aligner.layer][0, :, 0].float().numpy()
            row = (layer[list(aligner.heads)] if aligner and aligner.heads else layer).mean(0)
            yield Told(max(0, len(looks) - 1 - int(aligner is not None and aligner.shift)), row=row)
    (found,) = running.backpointers.read(1, running.real)[0]
    yield translator._told(pieces, translator.target.read(found.ids), found)
