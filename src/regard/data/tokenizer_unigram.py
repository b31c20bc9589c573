"""Learning the pieces of a unigram tokenizer (Kudo 2018): the same chunks give the same pieces, to the last bit.

The library's own trainer goes through its chunks in an order that differs from process to process, so that sums are
rounded and ties are broken differently each time. Here chunks and pieces are sorted, and sums run over arrays in
that order. First pieces are those that stand in the text twice, then those without which the text would be nearly as
likely are dropped, in rounds.

Letters: N cells (the characters of all chunks, and the end of each), C chunks, E edges (a piece at a place), P pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_CHARACTERS = 2_000_000  # of different chunks, the most frequent first
LONGEST_CHUNK = 64  # characters; what is longer (text without spaces) is learned from in parts
SHRINK = 0.75  # the share of pieces that a round keeps
SPARE = 1.1  # rounds end at so many times the pieces wanted; the likeliest of those are taken
ROUNDS = 2  # of expectation and maximisation before pieces are dropped
RARE = 0.5  # a piece that is expected less often than this is dropped
LETTERS = 2**21  # more than there are code points


def learn_unigram(chunks: Mapping[str, int], size: int, longest: int) -> list[tuple[str, float]]:
    """At most `size` pieces of at most `longest` characters, and every character, with their log probabilities.

    The likeliest come first; equally likely ones in the order of their letters.
    """
    pieces, scores, lattice = _seeds(Text.of(_kept(chunks)), longest)
    characters = sum(len(piece) == 1 for piece in pieces)
    wanted = max(int(size * SPARE), characters)
    while True:
        for _ in range(ROUNDS):
            expected = lattice.expected(scores)
            kept = (expected >= RARE) | _are_single(pieces)
            pieces, lattice = _only(pieces, kept), lattice.only(kept)
            scores = _probable(expected[kept])
        if len(pieces) <= wanted:
            break
        kept = _most_missed(pieces, scores, lattice, max(wanted, int(len(pieces) * SHRINK)))
        pieces, scores, lattice = _only(pieces, kept), scores[kept], lattice.only(kept)
    ranked = sorted((-score, piece) for piece, score in zip(pieces, scores.tolist(), strict=True))
    longer = [each for each in ranked if len(each[1]) > 1]
    single = [each for each in ranked if len(each[1]) == 1]
    return [(piece, -score) for score, piece in sorted(single + longer[: max(0, size - characters)])]


def _kept(chunks: Mapping[str, int]) -> dict[str, int]:
    """The most frequent chunks, in a fixed order, and none too long."""
    kept: dict[str, int] = {}
    characters = 0
    for chunk, count in sorted(chunks.items(), key=lambda item: (-item[1], item[0])):
        characters += len(chunk)
        if kept and characters > MOST_CHARACTERS:
            break
        for start in range(0, len(chunk), LONGEST_CHUNK):
            part = chunk[start : start + LONGEST_CHUNK]
            kept[part] = kept.get(part, 0) + count
    return kept


def _only(pieces: Sequence[str], kept: Bools) -> list[str]:
    return [piece for piece, stays in zip(pieces, kept.tolist(), strict=True) if stays]


def _are_single(pieces: Sequence[str]) -> Bools:
    return np.array([len(piece) == 1 for piece in pieces])


@dataclass(frozen=True)
class Text:
    """Chunks one after the other, a cell a character and one for the end of each chunk."""

    cells: str
    depth: Ints  # N: how many characters of its chunk stand before a cell
    room: Ints  # N: how many characters of its chunk stand from a cell on
    counts: Floats  # N: how often the chunk of a cell stands in the text

    @classmethod
    def of(cls, chunks: Mapping[str, int]) -> Text:
        """Chunks and how often each of them stands in the text."""
        lengths = np.array([len(chunk) for chunk in chunks], dtype=np.int64)
        cells = lengths + 1
        depth = np.arange(cells.sum()) - np.repeat(np.cumsum(cells) - cells, cells)
        counts = np.array([*chunks.values()], dtype=np.float64)
        room = np.repeat(lengths, cells) - depth
        return cls("".join(f"{chunk}\n" for chunk in chunks), depth, room, np.repeat(counts, cells))


# --- the ways to cut a text --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layer:
    """Edges that meet cells of one depth, sorted by the cell."""

    edges: Ints
    firsts: Ints  # where the edges of each cell begin among them
    cells: Ints

    def most(self, ways: Floats) -> tuple[Floats, Floats]:
        """The largest number of each cell, and that of the cell of each edge."""
        top = np.maximum.reduceat(ways, self.firsts)
        return top, np.repeat(top, np.diff(self.firsts, append=len(ways)))


@dataclass(frozen=True)
class Lattice:
    """All ways to cut the chunks of a text into pieces."""

    text: Text
    begin: Ints  # E: the cell of a piece's first character
    end: Ints  # E: the cell after its last
    piece: Ints  # E
    forwards: list[Layer]  # by the depth of the end
    backwards: list[Layer]  # by the room of the beginning

    @classmethod
    def of(cls, text: Text, begin: Ints, end: Ints, piece: Ints) -> Lattice:
        """Edges in any order; every character has one of its own, so that no way ends within a chunk."""
        return cls(text, begin, end, piece, list(_layers(end, text.depth)), list(_layers(begin, text.room)))

    def only(self, kept: Bools) -> Lattice:
        """The lattice of some of the pieces, which are numbered anew."""
        stays, number = kept[self.piece], np.cumsum(kept) - 1
        return Lattice.of(self.text, self.begin[stays], self.end[stays], number[self.piece[stays]])

    def expected(self, scores: Floats) -> Floats:
        """How often each piece is expected when every cut is as likely as its pieces are."""
        edge = scores[self.piece]
        ahead = self._summed(self.forwards, self.begin, edge)
        behind = self._summed(self.backwards, self.end, edge)
        whole = behind[self.begin - self.text.depth[self.begin]]
        share = np.exp(ahead[self.begin] + edge + behind[self.end] - whole)
        return np.bincount(self.piece, share * self.text.counts[self.begin], len(scores)).astype(np.float64)

    def _summed(self, layers: list[Layer], other: Ints, edge: Floats) -> Floats:
        """For each cell the log of the sum over all ways to it, from the beginning or the end of its chunk."""
        sums = np.zeros(len(self.text.cells))
        for layer in layers:
            ways = sums[other[layer.edges]] + edge[layer.edges]
            top, spread = layer.most(ways)
            sums[layer.cells] = top + np.log(np.add.reduceat(np.exp(ways - spread), layer.firsts))
        return sums

    def best(self, scores: Floats) -> Iterator[tuple[Ints, Ints]]:
        """The likeliest cut of each chunk from its end on: chunks that have one more piece, and that piece."""
        edge, cells = scores[self.piece], len(self.text.cells)
        sums, back = np.zeros(cells), np.zeros(cells, dtype=np.int64)
        for layer in self.forwards:
            ways = sums[self.begin[layer.edges]] + edge[layer.edges]
            sums[layer.cells], spread = layer.most(ways)
            place = np.where(ways == spread, np.arange(len(ways)), len(ways))
            back[layer.cells] = layer.edges[np.minimum.reduceat(place, layer.firsts)]
        at = np.flatnonzero(self.text.room == 0)
        chunks = np.arange(len(at))
        while len(at):
            yield chunks, self.piece[back[at]]
            at = self.begin[back[at]]
            inside = self.text.depth[at] > 0
            chunks, at = chunks[inside], at[inside]


def _layers(cells: Ints, depth: Ints) -> Iterator[Layer]:
    """Edges by the depth of one of their cells, from 1 on; equal ones in the order of their numbers."""
    order = np.lexsort((cells, depth[cells]))
    changes = np.flatnonzero(np.diff(depth[cells[order]])) + 1
    for edges in np.split(order, changes) if len(order) else ():
        met, firsts = np.unique(cells[edges], return_index=True)
        yield Layer(edges, firsts, met)


# --- the pieces --------------------------------------------------------------------------------------------


def _seeds(text: Text, longest: int) -> tuple[list[str], Floats, Lattice]:
    """Every character and what stands in the text twice or more, by how often and how long; and their lattice.

    Left out is what the same character always follows: the longer one says as much.
    """
    letters = np.frombuffer(text.cells.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    places = np.flatnonzero(text.room > 0)
    names = np.unique(letters[places], return_inverse=True)[1]
    pieces: list[str] = []
    weights, begins, ends, found = [], [], [], []
    for length in range(1, longest + 1):
        often = np.bincount(names, text.counts[places])
        more = np.flatnonzero((text.room[places] > length) & (often[names] >= 2))
        keys, longer = np.unique(names[more] * LETTERS + letters[places[more] + length], return_inverse=True)
        follower = np.zeros(len(often))
        np.maximum.at(follower, keys // LETTERS, np.bincount(longer, text.counts[places[more]], minlength=len(keys)))
        kept = (often >= 2) & (often > follower) if length > 1 else np.ones(len(often), dtype=np.bool_)
        stays, number = kept[names], np.cumsum(kept) - 1 + len(pieces)
        begins.append(places[stays])
        ends.append(places[stays] + length)
        found.append(number[names[stays]])
        first = places[stays][np.unique(found[-1], return_index=True)[1]]
        pieces += [text.cells[place : place + length] for place in first.tolist()]
        weights.append(often[kept] * length)
        places, names = places[more], longer
        if not len(places):
            break
    share = np.concatenate(weights)
    lattice = Lattice.of(text, np.concatenate(begins), np.concatenate(ends), np.concatenate(found))
    return pieces, np.log(share) - np.log(share.sum()), lattice


def _probable(expected: Floats) -> Floats:
    """Log probabilities of what is expected so often; the digamma function, a sparse prior, takes from the rare."""
    import torch  # here: whoever only reads a tokenizer need not wait for it

    often = torch.from_numpy(np.maximum(expected, RARE))
    return (torch.digamma(often) - torch.digamma(often.sum())).numpy()


def _most_missed(pieces: Sequence[str], scores: Floats, lattice: Lattice, size: int) -> Bools:
    """Every character, and the pieces without which the text would be least likely: `size` in all, if in use."""
    often = np.zeros(len(pieces))
    counts = lattice.text.counts[lattice.text.room == 0]
    for chunks, found in lattice.best(scores):
        often += np.bincount(found, counts[chunks], minlength=len(pieces))
    kept = _are_single(pieces)
    several = np.flatnonzero(~kept & (often > 0))
    mine, total = often[several], often.sum()
    others, parts = np.zeros(len(several)), np.zeros(len(several))
    for chunks, found in _alternatives([pieces[place] for place in several.tolist()], pieces).best(scores):
        others[chunks] += np.log(often[found] + mine[chunks])
        parts[chunks] += 1
    losses = mine * (np.log(mine / total) - others + parts * np.log(total + mine * (parts - 1)))
    ranked = sorted(
        zip((-losses).tolist(), (pieces[place] for place in several.tolist()), several.tolist(), strict=True)
    )
    kept[[place for _, _, place in ranked[: size - int(kept.sum())]]] = True
    return kept


def _alternatives(words: Sequence[str], pieces: Sequence[str]) -> Lattice:
    """How each of some pieces can be cut into other, shorter ones."""
    known = {piece: place for place, piece in enumerate(pieces)}
    edges: list[tuple[int, int, int]] = []
    cell = 0
    for word in words:
        for start in range(len(word)):
            for stop in range(start + 1, len(word) + (start > 0)):
                place = known.get(word[start:stop])
                if place is not None:
                    edges.append((cell + start, cell + stop, place))
        cell += len(word) + 1
    begin, end, piece = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    return Lattice.of(Text.of(dict.fromkeys(words, 1)), begin, end, piece)
