"""What a language model is asked for, and what it gives back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.align.alignment import Alignment
from regard.align.record import Record
from regard.errors import UsageError, did_you_mean
from regard.evaluate.likelihood import Likelihood
from regard.search import Options, Sampling
from regard.search.options import Number
from regard.translate.translator import SILENT

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class GenerateOptions:
    """How a text is continued.

    max_length: pieces that are written at most, and `min_length` at least.
    greedy: write the likeliest piece each time, and draw nothing.
    temperature: what log-probabilities are divided by before a piece is drawn; below 1 the likely become likelier.
    top_k: draw only from so many of the likeliest pieces; 0 is all.
    top_p: draw only from the likeliest pieces that together hold this share; 1 is all.
    typical: draw only from the pieces about as surprising as is expected, which together hold this share; 1 is all.
    no_repeat: write no sequence of so many pieces twice, the prompt included; 0 lets it repeat.
    stop: texts; what is written ends before the first of them.
    seed: the same seed draws the same for the same prompt; None draws anew each time.
    draws: how many texts are written for each prompt.
    """

    max_length: int = 100
    min_length: int = 0
    greedy: bool = False
    temperature: Number = 1.0
    top_k: int = 0
    top_p: Number = 1.0
    typical: Number = 1.0
    no_repeat: int = 0
    stop: tuple[str, ...] = ()
    seed: int | None = None
    draws: int = 1

    def __post_init__(self) -> None:
        self.search([])  # refuses what cannot be
        if self.greedy and self.draws > 1:
            raise UsageError(f"greedy: one text is the likeliest; {self.draws} were asked for.", hint="Leave one out.")
        if not all(self.stop):
            raise UsageError("stop: expected texts; found an empty one, which is everywhere.")

    @classmethod
    def of(cls, asked: dict[str, Any], usual: GenerateOptions | None = None) -> GenerateOptions:
        """What was asked by name, over what is usual."""
        known = [each.name for each in fields(cls)]
        for name in asked:
            if name not in known:
                raise UsageError(
                    f"generate has no '{name}'; it has {', '.join(known)}.", hint=did_you_mean(name, known)
                )
        if isinstance(stop := asked.get("stop", ()), str | list):
            asked = {**asked, "stop": (stop,) if isinstance(stop, str) else tuple(stop)}
        return replace(usual or cls(), **asked)

    def search(self, prompts: Sequence[Sequence[int]]) -> Options:
        """The options of a search that continues these prompts."""
        sampling = Sampling(self.temperature, self.top_k, self.top_p, self.draws, self.seed, self.typical)
        return Options(
            beam=1,
            alpha=0,
            min_length=self.min_length,
            max_length=self.max_length,
            no_repeat=self.no_repeat,
            prefix=prompts,
            continues=True,
            avoid=SILENT,
            sampling=None if self.greedy else sampling,
        )


class Looks:
    """What is told of every text that a language model wrote or read: what it looked at, when somebody asks."""

    look: Callable[[], Record] | None

    @cached_property
    def record(self) -> Record | None:
        """What each piece looked at, in every layer and head; the model looks when it is asked."""
        return self.look() if self.look else None

    @property
    def alignment(self) -> Alignment | None:
        """How much each word looked at those before it: the last layer, heads together."""
        return self.record.alignment() if self.record else None

    @property
    def attention(self) -> tuple[Tensor, ...]:
        """A tensor (heads, pieces and the end, pieces and the start) for each layer that looks back."""
        return tuple(each.weights for each in self.record.attention) if self.record else ()

    def save(self, path: str | Path, title: str = "") -> Path:
        """Write what was looked at: .html (every view) .png .svg .pdf .json .csv .txt."""
        if self.record is None:
            raise UsageError("this model does not attend, so there is nothing to see.")
        return self.record.save(path, title)


@dataclass(frozen=True)
class Generation(Looks):
    """A text that was written: after a prompt, or after nothing.

    `likelihood` is the log-likelihood of all its pieces, the prompt's too, and the end; `ended` says whether the model
    ended it by itself. `record` is all that was looked at while it was written; None of a model that does not attend.
    """

    prompt: str
    continuation: str
    pieces: tuple[str, ...]
    likelihood: float
    ended: bool
    look: Callable[[], Record] | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The prompt and what was written after it."""
        return self.prompt + self.continuation

    def drawn(self) -> str:
        """For a terminal: the text."""
        return self.text

    def _repr_html_(self) -> str:
        told = f'<p dir="auto">{escape(self.prompt)}<strong>{escape(self.continuation)}</strong></p>'
        return told.replace("\n", "<br>") + (f"\n{self.record._repr_html_()}" if self.record else "")


@dataclass(frozen=True)
class Scored(Looks):
    """How likely a text is, as a whole and word by word: log-likelihoods in nats, the end as a word of its own.

    `record` is all that was looked at, by the cache where the text was scored with one; None of a model that does not
    attend, or has too few positions for the text.
    """

    text: str
    likelihood: float
    words: tuple[str, ...]
    word_likelihoods: tuple[float, ...]
    amounts: Likelihood
    look: Callable[[], Record] | None = field(default=None, repr=False, compare=False)

    @property
    def perplexity(self) -> float:
        """By word, the end counted as one."""
        return math.exp(min(700.0, self.amounts.nll / max(1, self.amounts.words)))

    @property
    def piece_perplexity(self) -> float:
        """By piece of the tokenizer."""
        return math.exp(min(700.0, self.amounts.nll / max(1, self.amounts.pieces)))

    @property
    def bits_per_byte(self) -> float:
        """By byte of the text in UTF-8."""
        return self.amounts.nll / max(1, self.amounts.bytes) / math.log(2)
