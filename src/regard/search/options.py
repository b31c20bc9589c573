"""What may be asked of a search. Wrong values are refused here, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.search.shortlist import Shortlist

Number = int | float
ALPHA = 0.6  # the length penalty where no other was found better
WIDEST = 1000  # hypotheses of a sentence; more would take hours and all memory
SPARE = 10  # pieces that even the shortest source may have on top of `stretch` times its length


@dataclass(frozen=True)
class Sampling:
    """From what a piece is drawn.

    temperature: what log-probabilities are divided by; below 1 the likely become likelier, 0 is greedy search.
    top_k: draw only from so many of the likeliest pieces; 0 is all.
    top_p: draw only from the likeliest pieces that together hold this share (Holtzman et al. 2020); 1 is all.
    draws: how many outputs are drawn for each sentence.
    seed: the same seed draws the same for the same sentence; None draws anew each time.
    typical: draw only from the pieces that are about as surprising as the next piece is expected to be, which together
        hold this share (Meister et al. 2023); 1 is all.
    """

    temperature: Number = 1.0
    top_k: int = 0
    top_p: Number = 1.0
    draws: int = 1
    seed: int | None = None
    typical: Number = 1.0

    def __post_init__(self) -> None:
        at_least("temperature", self.temperature, 0)
        at_least("top_k", self.top_k, 0)
        at_least("draws", self.draws, 1)
        for name in ("top_p", "typical"):
            if not 0 < getattr(self, name) <= 1:
                found = getattr(self, name)
                raise UsageError(f"search: expected {name} to be more than 0 and at most 1; found {found}.")


@dataclass(frozen=True)
class Options:
    """How outputs are searched for, and which may be found.

    beam: how many hypotheses of a sentence are followed at once, at most 1,000.
    nbest: how many outputs of a sentence are returned, best first.
    alpha: the length penalty of Wu et al. (2016); 0 is none. Every piece lowers a likelihood, so that a wide beam
        prefers short outputs, and this takes it back. None is what was found best for a model at the end of its
        training, or else 0.6, the value of Vaswani et al. (2017).
    beta: the coverage penalty of Wu et al., for source positions that were hardly looked at; 0 is none.
    min_length: pieces that an output has at least; the end does not count as one here.
    max_length: pieces that an output has at most, however long its source.
    stretch: an output has at most `stretch` times as many pieces as its source and 10 more; inf is no limit.
    no_repeat: an output writes no sequence of so many pieces twice; 0 lets it repeat.
    prefix: the first pieces of each sentence's output, one entry a sentence; they bow to none of these rules.
    continues: whether a text is continued, where there is no source: `min_length` and `max_length` count the pieces
        after the prefix alone, and nothing else limits an output; likelihoods are of what was written after the prefix,
        with its end unless it was cut; they are divided by so many pieces ^ alpha; and in a beam one that ends makes
        room for another, as in `transformers`.
    avoid: pieces that are never written.
    shortlist: what each source may lead to; nothing else is scored, and chances are shares among the candidates.
        What is forced or to be avoided is scored as well. None scores all pieces.
    sampling: draw outputs instead of searching for the best, `sampling.draws` of each sentence; beam and nbest then
        count for nothing.

    A hypothesis that may write nothing under these rules ends, be it shorter than `min_length`.
    """

    beam: int = 5
    nbest: int = 1
    alpha: Number | None = None
    beta: Number = 0.0
    min_length: int = 0
    max_length: int = 200
    stretch: Number = 2.0
    no_repeat: int = 0
    prefix: Sequence[Sequence[int]] = ()
    continues: bool = False
    avoid: Sequence[int] = ()
    shortlist: Shortlist | None = None
    sampling: Sampling | None = None

    @property
    def outputs(self) -> int:
        """How many outputs of a sentence are returned."""
        return self.nbest if self.sampling is None else self.sampling.draws

    @property
    def rows(self) -> int:
        """How many hypotheses of a sentence are written at once."""
        return self.beam if self.sampling is None else self.sampling.draws

    def __post_init__(self) -> None:
        least = {"beam": 1, "nbest": 1, "max_length": 1}
        for name in ("beam", "nbest", "alpha", "beta", "min_length", "max_length", "stretch", "no_repeat"):
            if (value := getattr(self, name)) is not None:
                at_least(name, value, least.get(name, 0))
        if self.sampling is not None and self.sampling.draws > WIDEST:
            raise UsageError(f"search: expected at most {WIDEST:,} draws of a sentence; found {self.sampling.draws:,}.")
        if self.beam > WIDEST:
            raise UsageError(
                f"search: expected a beam of at most {WIDEST:,}; found {self.beam:,}.",
                hint="5 is usual; very wide beams find worse outputs (Koehn & Knowles 2017).",
            )
        if self.nbest > self.beam:
            raise UsageError(
                f"a beam of {self.beam} finds at most {self.beam} outputs; asked for the best {self.nbest}.",
                hint=f"Write beam = {self.nbest}, or a smaller nbest.",
            )
        if self.min_length > self.max_length:
            raise UsageError(
                f"an output cannot have at least {self.min_length} and at most {self.max_length} pieces.",
                hint="Lower min_length, or raise max_length.",
            )

    @property
    def exponent(self) -> Number:
        """Of the length penalty."""
        return ALPHA if self.alpha is None else self.alpha

    def limit(self, length: int) -> int:
        """How many pieces an output may have, from the length of its source alone."""
        return int(min(max(self.stretch * max(length, 1) + SPARE, self.min_length), self.max_length))

    def limits(self, lengths: Sequence[int]) -> list[int]:
        """How many pieces each output may have, its forced beginning included."""
        forced = self.forced(len(lengths))
        if self.continues:
            return [begun + self.max_length for begun in forced]
        return [max(self.limit(length), least) for length, least in zip(lengths, forced, strict=True)]

    def least(self, sentences: int) -> list[int]:
        """How many pieces each output must have, its forced beginning included."""
        return [(begun if self.continues else 0) + self.min_length for begun in self.forced(sentences)]

    def forced(self, sentences: int) -> list[int]:
        """How many pieces the output of each sentence is made to begin with."""
        return [len(pieces) for pieces in self.prefix] or [0] * sentences

    def check_pieces(self, sentences: int, *, size: int, end: int) -> None:
        """Refuse forced and avoided pieces that cannot be, in a search for so many sentences."""
        if self.prefix and len(self.prefix) != sentences:
            raise UsageError(
                f"expected one prefix a sentence, {sentences} in all; found {len(self.prefix)}.",
                hint="Give an empty prefix to a sentence that may begin as it likes.",
            )
        longest = max(map(len, self.prefix), default=0)
        if longest > self.max_length and not self.continues:
            raise UsageError(
                f"a prefix has {longest} pieces, and an output at most {self.max_length}.", hint="Raise max_length."
            )
        _known("avoid", self.avoid, size, end)
        for pieces in self.prefix:
            _known("prefix", pieces, size, end)


def at_least(name: str, value: Number, least: Number) -> None:
    """Refuse a number that is too small; NaN is smaller than nothing and so too small as well."""
    if not value >= least:
        raise UsageError(f"search: expected {name} to be at least {least}; found {value}.")


def _known(name: str, pieces: Sequence[int], size: int, end: int) -> None:
    """Refuse ids that the vocabulary does not have, and the end, which search itself writes."""
    for piece in pieces:
        if not 0 <= piece < size or piece == end:
            raise UsageError(
                f"search: {name} takes ids from 0 to {size - 1} other than the end, {end}; found {piece}.",
                hint="Encode text with the target's tokenizer, without start and end.",
            )
