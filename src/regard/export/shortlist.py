"""Which target pieces each source piece may lead to, so that an engine need score no others.

Learnt from what the model itself looks at while it writes the training targets: a piece is a candidate of every source
piece that it looked at clearly. The most frequent target pieces are candidates everywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from time import process_time

from datasets import Dataset

from regard.data.tokenizer import END
from regard.errors import ModelError
from regard.search import Options
from regard.translate.translator import Translation, Translator

PAIRS, TOGETHER = 20_000, 256  # of the training split that are read, at a time
CLEAR = 0.1  # the weight from which on a look counts
EVERYWHERE = 100  # most frequent target pieces
ROUNDS = 5  # of timing, with and without in turn

Candidates = dict[int | None, list[int]]  # of each source piece; of None, those of every source


def learn(ours: Translator, pairs: Dataset, count: int) -> Candidates:
    """The `count` target pieces that looked at each source piece most often, and the most frequent of all."""
    looked: defaultdict[int, Counter[int]] = defaultdict(Counter)
    written: Counter[int] = Counter()
    for start in range(0, min(PAIRS, len(pairs)), TOGETHER):
        rows = pairs[start : min(start + TOGETHER, PAIRS)]
        for found in ours.force(list(rows["source"]), list(rows["target"])):
            if found.record is None:
                raise ModelError("a model that does not attend has no shortlist.")
            targets, sources = found.record.target.ids, found.record.source.ids
            written.update(targets[:-1])
            clear = found.record.alignment(pieces=True).matrix[: len(targets) - 1] >= CLEAR
            for target, source in clear.nonzero().tolist():
                looked[sources[source]][targets[target]] += 1
    common = [piece for piece, _ in written.most_common(EVERYWHERE)]
    return {None: [END, *common]} | {
        piece: [target for target, _ in counts.most_common(count)] for piece, counts in sorted(looked.items())
    }


@dataclass(frozen=True)
class Effect:
    """What a shortlist changes: shares of outputs and of word links as without it, and of the computing that is left.

    Outputs are those of the usual beam.
    """

    sentences: int
    outputs: float
    links: float
    computing: float

    def __str__(self) -> str:
        return (
            f"{self.outputs:.1%} of {self.sentences:,} outputs and {self.links:.1%} of their links as without it, "
            f"for {self.computing:.0%} of the computing"
        )


def effect(short: Translator, full: Translator, lines: Sequence[str]) -> Effect:
    """The same engine with and without its shortlist, in turn."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for number, each in enumerate((short, full)):
            began = process_time()
            each.search(lines, Options(), record=False)
            seconds[number].append(process_time() - began)
    one, two = (sorted(each)[ROUNDS // 2] for each in seconds)
    pairs = list(zip(*([best[0] for best in each.search(lines)] for each in (short, full)), strict=True))
    same = sum(first.text == second.text for first, second in pairs)
    return Effect(len(lines), same / len(lines), _shared(pairs), one / two)


def _shared(pairs: Sequence[tuple[Translation, Translation]]) -> float:
    """Of the links of both, the share that both have."""
    links = [tuple(set(each.alignment.links()) if each.alignment else set() for each in pair) for pair in pairs]
    total = sum(len(one) + len(two) for one, two in links)
    return 2 * sum(len(one & two) for one, two in links) / total if total else 1.0
