"""Which of the languages that are served a text is written in, told by letters or by the tokenizers of the models.

Translators keep what the letters of their languages are like. Where one of those that are served keeps none, as older
ones, tokenizers tell: one says the text of its own language in few pieces, and that of another in many, or in bytes and
unknown words. A text is held against each language by how many bits it would take to say it so. Languages that share a
tokenizer cannot be told by it, and a language that no model has is never found: who cannot be told from others, or is
known to none, is not guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from regard.data.languages import code_of
from regard.data.letters import Letters, read_letters
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE, UNKNOWN, Tokenizer
from regard.engine.home import model_home
from regard.serve.shelf import Entry, Shelf

READ = 2000  # characters of a text that are looked at
BYTES = range(4, 260)  # pieces of tokenizers that spell what they do not know
STRANGE = 0.4  # of a text's characters: where more of them are unknown, the language is none of ours
# Of a bit each; on validation text of the phrasebook the shares then stay below how often it is right.
SHARPNESS, SHARPNESS_OF_LETTERS = 0.1, 0.2
SURE = 0.7  # share from which on a language is taken

Voice = Callable[[str], tuple[float, float]]  # of a text its bits, and the share of it that is unknown


@dataclass(frozen=True)
class Found:
    """A language, and how likely it is among those that are served."""

    language: str
    share: float


class Detector:
    """What tells the languages of what is served; it is read once, when first asked for."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    @cached_property
    def voices(self) -> dict[str, list[Voice]]:
        """For each language that can be told from others, what it is told by: how many bits a text takes."""
        entries = [entry for entry in self.shelf.entries.values() if entry.translates and entry.languages is not None]
        told = [(entry, _letters(entry)) for entry in entries if all(map(code_of, entry.languages or ()))]
        found: dict[str, list[Voice]] = {}
        if told and all(letters for _, letters in told):
            self.sharpness = SHARPNESS_OF_LETTERS
            for entry, letters in told:
                for language, each in zip(entry.languages or (), letters or (), strict=True):
                    found.setdefault(code_of(language) or language, []).append(each.bits)
            return found
        self.sharpness = SHARPNESS
        for entry in entries:
            for language, tokenizer in _tokenizers(entry):
                found.setdefault(language, []).append(partial(_bits, tokenizer=tokenizer))
        return found

    def detect(self, text: str) -> list[Found]:
        """The languages that a text may be written in, the likeliest first; none where that cannot be told."""
        text = " ".join(text[:READ].split())
        voices = self.voices
        if len(voices) < 2 or not any(map(str.isalpha, text)):
            return []
        read = {language: [voice(text) for voice in some] for language, some in voices.items()}
        best = {language: min(some) for language, some in read.items()}
        least = min(best.values())
        if least[1] > STRANGE:
            return []
        each = self.sharpness * math.log(2)
        weights = {language: math.exp(each * (least[0] - bits)) for language, (bits, _) in best.items()}
        whole = sum(weights.values())
        found = [Found(language, weight / whole) for language, weight in weights.items()]
        return sorted(found, key=lambda each: -each.share)

    def why(self) -> str:
        """Why nothing was told."""
        if len(self.voices) >= 2:
            return "nothing in the text tells the served languages apart"
        return "the models share one tokenizer for both languages, and keep no letters of these"


def _letters(entry: Entry) -> tuple[Letters, Letters] | None:
    folder = entry.folder or getattr(entry.model, "folder", None)
    return None if folder is None else read_letters(model_home(folder))


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
