"""What a metric counts in each sentence, and the score that sums of counts give.

Every metric here is a formula over counts that add up: so a corpus, a bucket of it and a draw of the bootstrap
are scored alike, by summing the rows of their sentences, and each text is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from regard.errors import UnknownName, UsageError
from regard.evaluate.bootstrap import DRAWS, SEED, Rows, add_up, draws, interval
from regard.version import __version__

Reference: TypeAlias = str | Sequence[str]  # one right answer, or several


@dataclass(frozen=True)
class Score:
    """A score from 0 to 100, its 95 % bootstrap interval, and the signature without which it means little."""

    name: str
    value: float
    signature: str
    low: float
    high: float

    def __str__(self) -> str:
        """As sacreBLEU writes it, ready to be quoted."""
        return f"{self.name}|{self.signature} = {self.value:.1f} (95 % interval {self.low:.1f} to {self.high:.1f})"


@dataclass(frozen=True)
class Counted:
    """The counts of each sentence (N rows of K), the formula for their sums, and how the result is signed."""

    name: str
    rows: Rows
    formula: Callable[[list[int]], float]
    sign: Callable[[int], str]  # the seed of the bootstrap -> the signature

    def take(self, index: Int[np.ndarray, " M"]) -> Counted:
        """The same for some of the sentences."""
        return replace(self, rows=self.rows[index])

    def totals(self) -> list[int]:
        """The counts of all the sentences together."""
        return add_up(self.rows).tolist()

    def value(self) -> float:
        """The score of all the sentences together."""
        return self.formula(self.totals())

    def drawn(self, seed: int = SEED) -> Float[np.ndarray, " M"]:
        """The score of each draw of the bootstrap."""
        return np.array([self.formula(totals.tolist()) for totals in draws(self.rows, seed)])

    def score(self, seed: int = SEED) -> Score:
        """The score with its interval and signature."""
        low, high = interval(self.drawn(seed))
        return Score(self.name, self.value(), self.sign(seed), low, high)


Count: TypeAlias = Callable[[Sequence[str], Sequence[Reference]], Counted]


def count_bleu(
    outputs: Sequence[str], references: Sequence[Reference], *, lower: bool = False, tokenize: str = "13a"
) -> Counted:
    """BLEU's counts: both lengths, then matching and all n-grams of 1 to 4 words."""
    if tokenize not in BLEU.TOKENIZERS:
        raise UnknownName("tokenizer of sacreBLEU", tokenize, BLEU.TOKENIZERS)
    try:
        # `force` only silences a guess that outputs with spaced punctuation must be a mistake: ours may be meant so.
        metric = BLEU(lowercase=lower, tokenize=tokenize, force=True)
    except (ImportError, RuntimeError) as failure:
        raise UsageError(
            f"sacreBLEU's tokenizer '{tokenize}' needs a package that is not here: {' '.join(str(failure).split())}",
            hint="Install it, or write tokenize='13a' (words) or tokenize='char' (characters).",
        ) from failure
    return _count_by_sacrebleu("BLEU", metric, outputs, references)


def words_for_word(counted: Counted) -> float:
    """How many words were written for every word of the (nearest) references, of BLEU's counts."""
    written, wanted, *_ = counted.totals()
    return written / max(1, wanted)


def count_chrf(outputs: Sequence[str], references: Sequence[Reference], *, lower: bool = False) -> Counted:
    """chrF2's counts: for n-grams of 1 to 6 characters, those of the output, of the reference, and those in both."""
    return _count_by_sacrebleu("chrF2", CHRF(lowercase=lower), outputs, references)


def count_exact(outputs: Sequence[str], references: Sequence[Reference], *, lower: bool = False) -> Counted:
    """Exact match's counts: is the output one of its references, white space at both ends aside; and a one."""
    answers = matched(outputs, references)

    def plain(text: str) -> str:
        return text.strip().lower() if lower else text.strip()

    right = [plain(output) in map(plain, given) for output, given in zip(outputs, answers, strict=True)]
    rows = np.array([(each, 1) for each in right], dtype=np.int64)
    several = {len(given) for given in answers}
    head = f"nrefs:{several.pop() if len(several) == 1 else 'var'}"
    tail = f"case:{'lc' if lower else 'mixed'}|space:stripped"
    return Counted("exact match", rows, percent, lambda seed: signed(seed, head, tail))


def percent(sums: Sequence[int]) -> float:
    """The first of two counts in percent of the second; 0 where there is nothing."""
    return 100 * sums[0] / sums[1] if sums[1] else 0.0


def signed(seed: int, head: str = "", tail: str = "", number: int = DRAWS) -> str:
    """The signature of a metric of our own: what it was told, the draws, their seed, and the version."""
    return "|".join(filter(None, (head, f"bs:{number}|seed:{seed}", tail, f"version:regard-{__version__}")))


def matched(outputs: Sequence[str], references: Sequence[Reference]) -> list[tuple[str, ...]]:
    """The references of each output, after a look at whether every output has some."""
    for name, texts in (("outputs", outputs), ("references", references)):
        if isinstance(texts, str):
            raise UsageError(
                f"{name}: expected a list of sentences; found one text.", hint=f"Write [{name}] or {name}.splitlines()."
            )
    if not outputs:
        raise UsageError("outputs: expected at least one sentence; found none.", hint="Nothing cannot be scored.")
    if not references:
        raise UsageError(
            f"references: expected one for each of {len(outputs):,} outputs; found none.",
            hint="Give the right answers as a second list, in the order of the outputs.",
        )
    equal_counts(outputs=len(outputs), references=len(references))
    answers = [(each,) if isinstance(each, str) else tuple(each or ()) for each in references]
    missing = [place for place, given in enumerate(answers) if not given]
    if missing:
        raise UsageError(
            f"references: {len(missing):,} of {len(answers):,} sentences have none, first sentence {missing[0] + 1}.",
            hint="Leave these sentences out of outputs and references alike.",
        )
    return answers


def equal_counts(**counts: int) -> None:
    """Stop where lists that belong together are not of one length; the message tells all the lengths."""
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        raise UsageError(
            f"expected lists of one length; found {found}.",
            hint="Entry n of each list is about sentence n: look for lines lost or cut in two.",
        )


def _count_by_sacrebleu(
    name: str, metric: BLEU | CHRF, outputs: Sequence[str], references: Sequence[Reference]
) -> Counted:
    # sacreBLEU shows its sentence counts to nobody but its own bootstrap, hence the two private names. They are
    # as old as its version 2.0, and the tests hold what we make of them equal to its public scores.
    streams = list(zip_longest(*matched(outputs, references)))
    rows = np.array(metric._extract_corpus_statistics(outputs, streams), dtype=np.int64)

    def formula(sums: list[int]) -> float:
        return metric._compute_score_from_stats(sums).score

    def sign(seed: int) -> str:
        signature = metric.get_signature()
        signature.update("bs", DRAWS)
        signature.update("seed", seed)
        return signature.format()

    return Counted(name, rows, formula, sign)
