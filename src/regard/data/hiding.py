"""Which pieces of a text are hidden, and what is shown in their place (Devlin et al. 2018, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from regard.data.tokenizer import UNKNOWN

SEEN = -1  # in the place of a piece that is not asked for


@dataclass(frozen=True)
class Vocabulary:
    """What hiding must know of a tokenizer: how many pieces it has, the masking one, and which begin a word."""

    size: int
    mask: int
    begins_word: Sequence[bool]


@dataclass(frozen=True)
class Hiding:
    """How pieces are hidden.

    share: of the pieces that are asked for; at least one is.  masked: share of these in whose place the masking piece
    is shown, and `swapped` one drawn at random; the others are shown as they are.  whole_words: all pieces of a word
    or none.  longest_run: up to so many pieces, or words, that follow one another are hidden at once, n of them in
    proportion to 1 / n (Lan et al. 2019).
    """

    share: float = 0.15
    masked: float = 0.8
    swapped: float = 0.1
    whole_words: bool = False
    longest_run: int = 1

    def places(self, ids: Sequence[int], vocabulary: Vocabulary, random: Random) -> list[int]:
        """The places that are asked for, in order; none of a special piece."""
        units = self._units(ids, vocabulary)
        wanted = max(1, round(self.share * sum(map(len, units))))
        left, hidden = wanted, set[int]()
        for first in random.sample(range(len(units)), len(units)):
            run = [place for unit in units[first : first + self._run(random)] for place in unit]
            # What is too much is left for later, unless nothing is hidden yet: a word may be longer than the share.
            if hidden and (len(run) > left or hidden.intersection(run)):
                run = units[first]
                if len(run) > left or hidden.intersection(run):
                    continue
            hidden.update(run)
            left = wanted - len(hidden)
            if left <= 0:
                break
        return sorted(hidden)

    def shown(self, piece: int, vocabulary: Vocabulary, random: Random) -> int:
        """What is shown in the place of a hidden piece."""
        way = random.random()
        if way < self.masked:
            return vocabulary.mask
        if way >= self.masked + self.swapped:
            return piece
        return drawn_piece(vocabulary, random)

    def _units(self, ids: Sequence[int], vocabulary: Vocabulary) -> list[list[int]]:
        """The places of what is hidden together: pieces, or words."""
        units: list[list[int]] = []
        before = -2
        for place, piece in enumerate(ids):
            if piece <= UNKNOWN and piece != UNKNOWN:
                continue
            joins = self.whole_words and units and before == place - 1 and not vocabulary.begins_word[piece]
            if joins:
                units[-1].append(place)
            else:
                units.append([place])
            before = place
        return units

    def _run(self, random: Random) -> int:
        """How many units are hidden at once."""
        if self.longest_run == 1:
            return 1
        chances = list(accumulate(1 / count for count in range(1, self.longest_run + 1)))
        drawn = random.random() * chances[-1]
        return 1 + next(place for place, chance in enumerate(chances) if drawn < chance)


def drawn_piece(vocabulary: Vocabulary, random: Random) -> int:
    """Any piece that text is made of."""
    while True:
        piece = random.randrange(UNKNOWN + 1, vocabulary.size)
        if piece != vocabulary.mask:
            return piece
