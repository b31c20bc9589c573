"""The file of a SentencePiece model: a protocol buffer, of which three fields are wanted."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from regard.errors import ModelError

PIECES, NORMALIZER = 1, 3  # fields of the model
PIECE, SCORE, TYPE = 1, 2, 3  # fields of a piece
CHARSMAP = 2  # a field of the normalizer
UNKNOWN = 2  # the type of a piece


def read_spiece(path: Path) -> tuple[list[tuple[str, float]], int, bytes]:
    """The pieces with their scores, the number of the unknown one, and how characters are normalised."""
    pieces: list[tuple[str, float]] = []
    unknown, charsmap = 0, b""
    try:
        for field, value in _fields(path.read_bytes()):
            if field == PIECES and isinstance(value, bytes):
                inside = dict(_fields(value))
                if inside.get(TYPE) == UNKNOWN:
                    unknown = len(pieces)
                pieces.append(
                    (_bytes(inside[PIECE]).decode(), struct.unpack("<f", _bytes(inside.get(SCORE, b"\0" * 4)))[0])
                )
            elif field == NORMALIZER and isinstance(value, bytes):
                charsmap = _bytes(dict(_fields(value)).get(CHARSMAP, b""))
    except (IndexError, KeyError, ValueError, struct.error) as error:
        raise ModelError(
            f"{path} is no model of SentencePiece, or broken: {error}.", hint="Download it again."
        ) from error
    if not pieces:
        raise ModelError(f"{path} holds no pieces.", hint="Download it again.")
    return pieces, unknown, charsmap


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
