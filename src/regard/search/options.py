"""What may be asked of a search. Wrong values are refused here, before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Int
from torch import Tensor

from regard.errors import UsageError
from regard.search.shortlist import Shortlist

Number = int | float
ALPHA = 0.6  # the length penalty where no other was found better
SPARE = 10  # pieces that even the shortest source may have on top of `stretch` times its length


@dataclass(frozen=True)
class Options:
    """How outputs are searched for, and which may be found.

    beam: how many hypotheses of a sentence are followed at once.
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
    avoid: pieces that are never written.
    shortlist: what each source may lead to; nothing else is scored, and chances are shares among the candidates.
        What is forced or to be avoided is scored as well. None scores all pieces.

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
    avoid: Sequence[int] = ()
    shortlist: Shortlist | None = None

    def __post_init__(self) -> None:
        least = {"beam": 1, "nbest": 1, "max_length": 1}
        for name in ("beam", "nbest", "alpha", "beta", "min_length", "max_length", "stretch", "no_repeat"):
            if (value := getattr(self, name)) is not None:
                at_least(name, value, least.get(name, 0))
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

    def limits(self, lengths: Int[Tensor, " B"]) -> Int[Tensor, " B"]:
        """How many pieces each output may have, from the length of its source alone."""
        return (self.stretch * lengths.clamp(min=1).double() + SPARE).clamp(self.min_length, self.max_length).long()


def at_least(name: str, value: Number, least: Number) -> None:
    """Refuse a number that is too small; NaN is smaller than nothing and so too small as well."""
    if not value >= least:
        raise UsageError(f"search: expected {name} to be at least {least}; found {value}.")
