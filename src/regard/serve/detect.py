"""Which of the languages that are served a text is written in, told by the tokenizers of the models.

A tokenizer says the text of its own language in few pieces, and that of another in many, or in bytes and unknown
words. A text is held against each language's by how many bits it would take to say it so, each piece being as likely
as any other. That tells nothing of languages that share one tokenizer, and a language that no model has is never
found: who cannot be told from others, or is known to none, is not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from regard.data.languages import code_of
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE, UNKNOWN, Tokenizer
from regard.engine.home import model_home
from regard.serve.shelf import Entry, Shelf

READ = 2000  # characters of a text that are looked at
BYTES = range(4, 260)  # pieces of tokenizers that spell what they do not know
STRANGE = 0.4  # of a text's characters: where more of them are unknown, the language is none of ours
SHARPNESS = 0.1  # of a bit each; on validation text of the phrasebook the shares then stay below how often it is right
SURE = 0.7  # share from which on a language is taken


@dataclass(frozen=True)
class Found:
    """A language, and how likely it is among those that are served."""

    language: str
    share: float


class Detector:
    """The tokenizers of what is served, by language; they are read once, when first asked for."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self._voices: dict[str, list[Tokenizer]] | None = None

    @property
    def voices(self) -> dict[str, list[Tokenizer]]:
        """For each language that can be told from others, the tokenizers that were made for it alone."""
        if self._voices is None:
            self._voices = {}
            for entry in self.shelf.entries.values():
                for language, tokenizer in _tokenizers(entry):
                    self._voices.setdefault(language, []).append(tokenizer)
        return self._voices

    def detect(self, text: str) -> list[Found]:
        """The languages that a text may be written in, the likeliest first; none where that cannot be told."""
        text = " ".join(text[:READ].split())
        voices = self.voices
        if len(voices) < 2 or not any(map(str.isalpha, text)):
            return []
        read = {language: [_bits(text, each) for each in some] for language, some in voices.items()}
        best = {language: min(some) for language, some in read.items()}
        least = min(best.values())
        if least[1] > STRANGE:
            return []
        weights = {
            language: math.exp(SHARPNESS * math.log(2) * (least[0] - bits)) for language, (bits, _) in best.items()
        }
        whole = sum(weights.values())
        found = [Found(language, weight / whole) for language, weight in weights.items()]
        return sorted(found, key=lambda each: -each.share)


def _tokenizers(entry: Entry) -> list[tuple[str, Tokenizer]]:
    """A language and its own tokenizer, of both sides of a translator; none where the sides share one."""
    if not entry.translates or entry.languages is None:
        return []
    codes = [code_of(language) for language in entry.languages]
    source, target = _pair(entry)
    if source is None or target is None or source.backend.to_str() == target.backend.to_str():
        return []
    return [(code, each) for code, each in zip(codes, (source, target), strict=True) if code]


def _pair(entry: Entry) -> tuple[Tokenizer | None, Tokenizer | None]:
    if entry.folder is None:
        return entry.model.source, entry.model.target
    paths = [model_home(entry.folder) / name for name in (SOURCE_FILE, TARGET_FILE)]
    source, target = (Tokenizer.load(path) if path.is_file() else None for path in paths)
    return source, target


def _bits(text: str, tokenizer: Tokenizer) -> tuple[float, float]:
    """How many bits it takes to say a text, and the share of its characters that are unknown."""
    pieces = tokenizer.encode(text)
    each = math.log2(len(tokenizer))
    strange, bits = 0.0, 0.0
    for piece, (start, end) in zip(pieces.ids, pieces.spans, strict=True):
        bits += each
        if piece == UNKNOWN:
            bits += 8 * (end - start)
            strange += end - start
        elif piece in BYTES and tokenizer.kind != "words":
            strange += end - start
    return bits, strange / max(1, len(text))


def sure(found: Sequence[Found]) -> str | None:
    """The language that was found, if that is sure enough."""
    return found[0].language if found and found[0].share >= SURE else None
