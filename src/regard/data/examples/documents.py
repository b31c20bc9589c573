"""Documents: examples of lines that follow one another, alone or in two segments that do or do not belong together.

A row that ends with a line feed goes on in the next one; rows that do so and the one after them are a document. An
empty line ends one too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, ClassVar, Literal

from regard.data.sides.segments import Line
from regard.data.sides.text import ids_of
from regard.errors import BrokenData
from regard.registry import part
from regard.task import Example
from regard.types import Count, Probability

Pieces = tuple[int, ...]
Lines = Sequence[Pieces]
Document = list[tuple[int, Pieces]]  # its lines, each with its row
LEAST = 8  # positions that an example shall have, however short it is drawn


@part("examples", "documents")
class Documents:
    """Segments of documents, each as long as there is room.

    Settings:
        length: positions that an example takes at most, special pieces included.
        pairs: "next" for two segments, of which the second follows the first or is of another document (BERT);
            "order" for two that follow one another, or are swapped (ALBERT); "none" for one segment (RoBERTa).
        follows: how often the second follows the first.
        short: how often an example is shorter than there is room for, by a length drawn at random.
    """

    ordered: ClassVar[bool] = True  # the rows of a pool come as the corpus has them

    def __init__(
        self,
        *,
        length: Count = 128,
        pairs: Literal["next", "order", "none"] = "next",
        follows: Probability = 0.5,
        short: Probability = 0.1,
    ) -> None:
        self.length, self.pairs, self.follows, self.short = length, pairs, follows, short

    def __call__(self, pool: list[Example], random: Random) -> list[Example]:
        """The examples of a pool. Several may be made of one row: `part` tells them apart."""
        documents = [each for rows in _documents(pool) if (each := _lines(rows, self._most))]
        if self.pairs != "none" and documents and max(map(len, documents)) < 2:
            raise BrokenData(
                f'examples with pairs = "{self.pairs}" are made of documents of two lines or more; found none.',
                hint="A line of a document that is not its last ends with a line feed. "
                'Write pairs = "none" in [task.examples] for single lines.',
            )
        made: list[Example] = []
        for number, document in enumerate(documents):
            lines = [line for _, line in document]
            for place, source, extra in self._segments(lines, number, documents, random):
                made.append(Example(source, None, document[place][0], 1, {"part": place, **extra}))
        return made

    @property
    def _most(self) -> int:
        """Pieces of an example, without the special ones."""
        return max(self.length - (2 if self.pairs == "none" else 3), 2)

    def _room(self, random: Random) -> int:
        """How many pieces this example may have."""
        if random.random() >= self.short:
            return self._most
        return random.randint(min(LEAST, self._most), self._most)

    def _segments(
        self, lines: Lines, number: int, documents: Sequence[Document], random: Random
    ) -> Iterator[tuple[int, Any, dict[str, int]]]:
        """The examples of one document: the place of the first line, the segments, whether they follow one another."""
        place = 0
        while place < len(lines):
            start, room = place, self._room(random)
            some = _gathered(lines, place, room)
            place += len(some)
            if self.pairs == "none":
                yield start, _joined(some), {}
            elif self.pairs == "order" and len(some) > 1:
                yield start, *self._in_order(some, random)
            elif self.pairs == "next":
                other = [line for _, line in _another(documents, number, random)]
                used, *found = self._followed(some, room, other, random)
                place = start + used
                yield start, *found

    def _in_order(self, lines: Lines, random: Random) -> tuple[Any, dict[str, int]]:
        """Two segments that follow one another, or the same two swapped."""
        cut = random.randint(1, len(lines) - 1)
        both = _joined(lines[:cut]), _joined(lines[cut:])
        follows = random.random() < self.follows
        return (both if follows else both[::-1]), {"follows": int(follows)}

    def _followed(self, lines: Lines, room: int, other: Lines, random: Random) -> tuple[int, Any, dict[str, int]]:
        """How many lines were used, and two segments, the second of this document or of another."""
        cut = random.randint(1, len(lines) - 1) if len(lines) > 1 else 1
        follows = len(lines) > 1 and random.random() < self.follows
        if follows:
            return len(lines), (_joined(lines[:cut]), _joined(lines[cut:])), {"follows": 1}
        first = _joined(lines[:cut])[: max(1, room // 2) if cut == len(lines) else room]
        second = _joined(_gathered(other, random.randrange(len(other)), max(1, room - len(first))))
        return cut, (first, second), {"follows": 0}


def _documents(pool: list[Example]) -> Iterator[list[Example]]:
    """The rows of each document; a row that was left out ends one, and so does an empty line."""
    found: list[Example] = []
    for each in pool:
        goes_on = found and isinstance(found[-1].source, Line) and len(found[-1].source)
        if found and (not goes_on or each.row != found[-1].row + 1):
            yield found
            found = []
        found.append(each)
    if found:
        yield found


def _lines(rows: Sequence[Example], most: int) -> Document:
    """The lines of a document, each with its row; a line that is too long for an example is several."""
    found = []
    for row in rows:
        texts = row.source if isinstance(row.source, tuple) else (row.source,)
        every = [tuple(ids_of(text)) for text in texts]
        found += [(row.row, ids[start : start + most]) for ids in every for start in range(0, len(ids), most)]
    return found


def _another(documents: Sequence[Document], number: int, random: Random) -> Document:
    """A document drawn from the others; where there is none, the same."""
    drawn = random.randrange(max(1, len(documents) - 1))
    return documents[drawn + (drawn >= number and len(documents) > 1)]


def _gathered(lines: Lines, place: int, room: int) -> list[Pieces]:
    """Lines from one on, as many as there is room for; of the first at least what fits."""
    found = [lines[place][:room]]
    left = room - len(found[0])
    for line in lines[place + 1 :]:
        if len(line) > left:
            break
        found.append(line)
        left -= len(line)
    return found


def _joined(lines: Lines) -> list[int]:
    return [piece for line in lines for piece in line]
