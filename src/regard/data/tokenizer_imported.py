"""Tokenizers that other toolkits wrote: their own pipeline, and our numbers for the special pieces.

WordPiece (BERT), byte-level BPE (RoBERTa, GPT-2) and unigrams of SentencePiece (ALBERT). They may lose something of a
line (its capitals, its accents), so the library says where the pieces stand; they are never cut at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import tokenizers

from regard.data.tokenizer import END, PAD, START, Pieces, Tokenizer, no_panic
from regard.data.words import Span

SPACE = "▁"  # how SentencePiece writes a space


def is_imported(backend: tokenizers.Tokenizer) -> bool:
    """Was it written by another toolkit? Ours have words, or bytes after the special pieces."""
    return not isinstance(backend.model, tokenizers.models.WordLevel) and backend.id_to_token(4) != "<0x00>"


class ImportedTokenizer(Tokenizer):
    """A tokenizer of another toolkit, renumbered."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        super().__init__(backend)
        self.kind, self.by_line = "imported", False
        self._has_space = not isinstance(backend.model, tokenizers.models.BPE)
        self._texts = _said(backend)
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
            Pieces(line, tuple(each.ids), _side_by_side(line, each.offsets))
            for line, each in zip(lines, found, strict=True)
        ]

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
    prefix = model.continuing_subword_prefix if isinstance(model, tokenizers.models.WordPiece) else ""
    for piece, place in backend.get_vocab().items():
        if prefix:
            text = piece.removeprefix(prefix) if piece.startswith(prefix) else f" {piece}"
            found[place] = text.encode()
        elif isinstance(model, tokenizers.models.BPE):
            found[place] = bytes(BYTE_OF[each] for each in piece) if set(piece) <= BYTE_OF.keys() else piece.encode()
        else:
            found[place] = piece.replace(SPACE, " ").encode()
    for special in (PAD, START, END):
        found[special] = b""
    return found


def _byte_of() -> dict[str, int]:
    """The byte that each letter of a byte-level vocabulary stands for: itself where it can be seen."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in seen]
    return {chr(byte): byte for byte in seen} | {chr(256 + place): byte for place, byte in enumerate(others)}


BYTE_OF = _byte_of()
