"""Tokenizers that other toolkits wrote: their own pipeline, and our numbers for the special pieces.

WordPiece (BERT), byte-level BPE (RoBERTa, GPT-2) and models of SentencePiece (ALBERT, Marian). They may lose something
of a line (its capitals, its accents), so the library says where the pieces stand; they are never cut at random.

A SentencePiece model that is not numbered by itself (`regard.importing.cutting`) has pieces it does not cut, whose
names begin with a space, and pieces that are unknown to those numbers, after the border.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

import tokenizers

from regard.data.tokenizer import END, PAD, START, UNKNOWN, Pieces, Tokenizer, no_panic
from regard.data.words import Span

SPACE = "▁"  # how SentencePiece writes a space
SPELLED = re.compile("<0x[0-9A-F]{2}>")  # how it writes a byte
BORDER = "  "  # the piece after which all are cut, and mean the unknown one


def is_imported(backend: tokenizers.Tokenizer) -> bool:
    """Was it written by another toolkit? Ours have words, or bytes after the special pieces."""
    return not isinstance(backend.model, tokenizers.models.WordLevel) and backend.id_to_token(4) != "<0x00>"


class ImportedTokenizer(Tokenizer):
    """A tokenizer of another toolkit, renumbered."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        super().__init__(backend)
        self.kind, self.by_line = "imported", False
        self._has_space = _puts_space(backend)
        self._border: int | None = backend.token_to_id(BORDER)
        pieces = backend.get_vocab()
        self._uncut = {piece[1:]: place for piece, place in pieces.items() if piece[:1] == " " and piece != BORDER}
        self._texts = _said(backend)[: self._border]
        self._lengths = [len(text.decode("utf-8", "replace")) for text in self._texts]

    def encode(self, line: str, *, sample: float = 0.0, random: Random | None = None) -> Pieces:
        """Cut a line into pieces."""
        return self.encode_batch([line])[0]

    def encode_batch(self, lines: Sequence[str]) -> list[Pieces]:
        """Cut many lines into pieces, which stand where the library says."""
        self.encode_ids(lines)  # refuses what is no text
        with no_panic(self.name):
            found = self.backend.encode_batch(list(lines))
        return [
            Pieces(line, tuple(self._numbered(line, each)), _side_by_side(line, each.offsets))
            for line, each in zip(lines, found, strict=True)
        ]

    def _plain_ids(self, lines: Sequence[str]) -> list[list[int]]:
        found: list[list[int]] = super()._plain_ids(lines)
        if not self._uncut and self._border is None:
            return found
        return [
            self._numbered(line, self.backend.encode(line)) if self._is_strange(ids) else ids
            for line, ids in zip(lines, found, strict=True)
        ]

    def _is_strange(self, ids: Sequence[int]) -> bool:
        """Is there a piece among these that the vocabulary does not know by its number?"""
        return UNKNOWN in ids or (self._border is not None and max(ids, default=0) > self._border)

    def _numbered(self, line: str, found: tokenizers.Encoding) -> list[int]:
        """The ids; what the model that cuts does not know has one all the same, if the vocabulary knows it."""
        return [
            self._uncut.get(self._surface(line, text, span), UNKNOWN) if self._is_strange([each]) else each
            for each, text, span in zip(found.ids, found.tokens, found.offsets, strict=True)
        ]

    def _surface(self, line: str, text: str, span: Span) -> str:
        """An unknown piece as it was cut; a BPE does not tell, so its part of the line is looked at again."""
        if text != "<unk>" or self.backend.normalizer is None:
            return text
        written: str = self.backend.normalizer.normalize_str(line[span[0] : span[1]])
        return written.removeprefix(SPACE)

    def encode_rest(self, text: str) -> list[int]:
        """The ids of a text that goes on within a line: cut as any other, as these toolkits do after a hole."""
        return list(self.encode_ids([text])[0])


def _side_by_side(line: str, offsets: Sequence[Span]) -> tuple[Span, ...]:
    """Spans that cover the line: what stands between two pieces belongs to the second, what is left to the last."""
    ends: list[int] = []
    for _, end in offsets:
        ends.append(max(end, ends[-1] if ends else 0))
    if ends:
        ends[-1] = len(line)
    return tuple(zip([0, *ends], ends, strict=False))


def _said(backend: tokenizers.Tokenizer) -> list[bytes]:
    """What each piece says, as bytes, with the space before it."""
    model, found = backend.model, [b""] * backend.get_vocab_size()
    byte_level = _is_byte_level(backend)
    prefix = model.continuing_subword_prefix if isinstance(model, tokenizers.models.WordPiece) else ""
    for piece, place in backend.get_vocab().items():
        if prefix:
            text = piece.removeprefix(prefix) if piece.startswith(prefix) else f" {piece}"
            found[place] = text.encode()
        elif byte_level:
            found[place] = bytes(BYTE_OF[each] for each in piece) if set(piece) <= BYTE_OF.keys() else piece.encode()
        elif SPELLED.fullmatch(piece):
            found[place] = bytes([int(piece[3:5], 16)])
        else:
            found[place] = piece.removeprefix(" ").replace(SPACE, " ").encode()
    for special in (PAD, START, END):
        found[special] = b""
    return found


def _puts_space(backend: tokenizers.Tokenizer) -> bool:
    """Is a space put before a line, which is no character of it?"""
    if isinstance(backend.model, tokenizers.models.WordPiece):
        return True
    steps = [each.__getstate__() for each in (backend.normalizer, backend.pre_tokenizer) if each is not None]
    return any(name in step for step in steps for name in (b"Prepend", b"Metaspace"))


def _is_byte_level(backend: tokenizers.Tokenizer) -> bool:
    """Are its letters bytes? Those of a BPE that SentencePiece learnt are letters, and a space is one of them."""
    return isinstance(backend.model, tokenizers.models.BPE) and SPACE not in backend.get_vocab()


def _byte_of() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for: itself where it can be seen."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(others)}


BYTE_OF = _byte_of()
