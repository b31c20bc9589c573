"""The file of a SentencePiece model: a protocol buffer, of which some fields are wanted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.errors import ModelError, UsageError

PIECES, TRAINER, NORMALIZER = 1, 2, 3  # fields of the model
PIECE, SCORE, TYPE = 1, 2, 3  # fields of a piece
ALGORITHM, SPACES_LAST, BYTE_FALLBACK = 3, 24, 35  # fields of the trainer
CHARSMAP, PREFIX, TIDY, ESCAPE = 2, 3, 4, 5  # fields of the normalizer
NORMAL, UNKNOWN, CONTROL, DEFINED, UNUSED, BYTE = range(1, 7)  # the types of a piece
UNIGRAM, BPE = 1, 2  # algorithms


@dataclass(frozen=True)
class Piece:
    """A piece, how likely it is, and what type it is of."""

    text: str
    score: float = 0.0
    type: int = NORMAL


@dataclass(frozen=True)
class SentencePiece:
    """A model of SentencePiece.

    charsmap: how characters are normalised, as the library keeps it.
    prefix: whether a space is put before a line.
    tidy: whether spaces at the ends of a line are taken off, and several become one.
    bytes: whether what is unknown is spelled in bytes.
    """

    pieces: tuple[Piece, ...]
    algorithm: int = UNIGRAM
    charsmap: bytes = b""
    prefix: bool = True
    tidy: bool = True
    bytes: bool = False

    @property
    def unknown(self) -> int:
        """The number of the unknown piece."""
        return next((place for place, piece in enumerate(self.pieces) if piece.type == UNKNOWN), 0)


def read_spiece(path: Path) -> SentencePiece:
    """The model in a file."""
    pieces: list[Piece] = []
    trainer: dict[int, int | bytes] = {}
    normalizer: dict[int, int | bytes] = {}
    try:
        for field, value in _fields(path.read_bytes()):
            if field == PIECES:
                pieces.append(_piece(_bytes(value)))
            elif field == TRAINER:
                trainer = dict(_fields(_bytes(value)))
            elif field == NORMALIZER:
                normalizer = dict(_fields(_bytes(value)))
        charsmap = _bytes(normalizer.get(CHARSMAP, b""))
    except (IndexError, KeyError, ValueError, struct.error) as error:
        raise ModelError(
            f"{path} is no model of SentencePiece, or broken: {error}.", hint="Download it again."
        ) from error
    if not pieces:
        raise ModelError(f"{path} holds no pieces.", hint="Download it again.")
    _check(path, trainer, normalizer)
    algorithm = int(trainer.get(ALGORITHM, UNIGRAM))
    flags = [bool(normalizer.get(each, 1)) for each in (PREFIX, TIDY)]
    return SentencePiece(tuple(pieces), algorithm, charsmap, flags[0], flags[1], bool(trainer.get(BYTE_FALLBACK, 0)))


def _check(path: Path, trainer: dict[int, int | bytes], normalizer: dict[int, int | bytes]) -> None:
    """Refuse what would be cut in another way."""
    if trainer.get(ALGORITHM, UNIGRAM) not in (UNIGRAM, BPE):
        raise UsageError(f"{path}: models of SentencePiece that cut words or characters are not supported.")
    if trainer.get(SPACES_LAST, 0) or not normalizer.get(ESCAPE, 1):
        raise UsageError(f"{path}: pieces that do not begin with their space are not supported.")


def _piece(data: bytes) -> Piece:
    inside = dict(_fields(data))
    (score,) = struct.unpack("<f", _bytes(inside.get(SCORE, bytes(4))))
    return Piece(_bytes(inside[PIECE]).decode(), score, int(inside.get(TYPE, NORMAL)))


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise ValueError(f"expected bytes; found the number {value}")
    return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message: numbers as numbers, all else as bytes."""
    place = 0
    while place < len(data):
        key, place = _number(data, place)
        kind = key & 7
        if kind == 0:
            value, place = _number(data, place)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            if kind != 2:
                raise ValueError(f"a field of the unknown kind {kind} at byte {place}")
            length, place = _number(data, place)
        if place + length > len(data):
            raise ValueError("it ends in the middle of a field")
        yield key >> 3, data[place : place + length]
        place += length


def _number(data: bytes, place: int) -> tuple[int, int]:
    """A number of as many bytes as it needs, and where it ends."""
    found = shift = 0
    while True:
        byte = data[place]
        found, shift, place = found | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return found, place
