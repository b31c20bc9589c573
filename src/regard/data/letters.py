"""What the letters of a language are like: how often each follows the two before it, counted in the training text.

A translator keeps this of both its languages (`letters.json`), since its tokenizer may be one for both. A text is held
against each: in how many bits it is said by letters that come as they do in that language (Dunning 1994, Statistical
Identification of Language).
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from regard.data.languages import ANONYMOUS, code_of
from regard.errors import ModelError

FILE = "letters.json"
ORDER = 3
LINES = 8000  # of a corpus that are counted
KEPT = 6000  # runs of letters of one language, the commonest
PRIOR = 2.0  # how many letters the shorter run counts for, where the longer one is seldom
LETTERS = 1000  # that there might be, beside those that were seen
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Letters:
    """How often each run of one, two and three letters was seen; a space stands before and after each word."""

    counts: Mapping[str, int]

    @classmethod
    def of(cls, lines: Iterable[str]) -> Letters:
        """Of some text."""
        found = Counter[str]()
        for line in islice(lines, LINES):
            found.update(run for text, start in _places(line) for run in _runs(text, start))
        single = {run: count for run, count in found.items() if len(run) == 1}
        longer = Counter({run: count for run, count in found.items() if len(run) > 1}).most_common(KEPT)
        return cls(single | dict(longer))

    @cached_property
    def whole(self) -> int:
        """All letters."""
        return sum(count for run, count in self.counts.items() if len(run) == 1)

    def bits(self, text: str) -> tuple[float, float]:
        """How many bits it takes to say the letters of a text, and the share of them that were never seen."""
        bits, strange, count = 0.0, 0, 0
        for word, place in _places(text):
            bits -= math.log2(self._chance(word[max(0, place - ORDER + 1) : place + 1]))
            if word[place] != " ":
                strange, count = strange + (word[place] not in self.counts), count + 1
        return bits, strange / max(1, count)

    def _chance(self, run: str) -> float:
        """How likely the last letter of a run is after those before it; seldom runs count for less than shorter."""
        if not run:
            return 1 / (LETTERS + len(self.counts))
        shorter = self._chance(run[1:])
        before = self.counts.get(run[:-1], 0) if len(run) > 1 else self.whole
        return (self.counts.get(run, 0) + PRIOR * shorter) / (before + PRIOR)


def _places(text: str) -> Iterable[tuple[str, int]]:
    """Every letter of every word, and the space after it: the word between spaces, and where the letter stands."""
    for word in _WORD.findall(text.lower()):
        spaced = f" {word} "
        yield from ((spaced, place) for place in range(1, len(spaced)))


def _runs(text: str, place: int) -> Iterable[str]:
    """The runs of letters that end at a place."""
    return (text[start : place + 1] for start in range(max(0, place - ORDER + 1), place + 1))


def letters_text(source: str, target: str, pairs: tuple[Iterable[str], Iterable[str]]) -> str | None:
    """What a model folder keeps of the letters of its languages; nothing where these are not named, or the same."""
    codes = [code_of(name) for name in (source, target)]
    if (source, target) == ANONYMOUS or None in codes or codes[0] == codes[1]:
        return None
    told = {side: Letters.of(lines).counts for side, lines in zip(("source", "target"), pairs, strict=True)}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n"


def read_letters(folder: Path) -> tuple[Letters, Letters] | None:
    """The letters of what the model of a folder reads and writes; None where it does not say."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        source, target = ({str(run): int(count) for run, count in told[side].items()} for side in ("source", "target"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            f'{path}: expected {{"source": {{"the": 7}}, "target": ...}}; {error!r}.',
            hint="Delete the file: languages are then told apart by the tokenizers alone.",
        ) from error
    return Letters(source), Letters(target)
