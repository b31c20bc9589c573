"""A vocabulary map: which target pieces each source piece may lead to, so that CTranslate2 scores those alone.

Learnt from what the model itself looks at while it writes the training targets: a piece is a candidate of every source
piece that it looked at clearly. The most frequent target pieces are candidates everywhere.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from time import process_time

from datasets import Dataset

from regard.data.tokenizer import END
from regard.engine.ctranslate2 import CTranslate2
from regard.errors import ModelError
from regard.export.ctranslate2.spec import piece_names
from regard.search import Options
from regard.translator import Translator

FILE = "vmap.txt"  # where CTranslate2 looks for it
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


def vocabulary_map(candidates: Candidates, ours: Translator) -> str:
    """As CTranslate2 reads it: source, tab, candidates between spaces; what follows an empty source is for all."""
    source, target = piece_names(ours.source), piece_names(ours.target)
    lines = (
        ("" if piece is None else source[piece]) + "\t" + " ".join(target[each] for each in some)
        for piece, some in candidates.items()
    )
    return "\n".join(lines) + "\n"


def effect(theirs: Translator, lines: Sequence[str]) -> str:
    """What the map changes, and what share of the computing it leaves, measured in turn."""
    if not isinstance(theirs.engine, CTranslate2):
        raise ModelError("only a model exported to CTranslate2 has a vocabulary map.")
    engine = theirs.engine
    full = CTranslate2(
        engine.backend, replace(engine.manifest, shortlist=0), (engine.source_names, engine.target_names)
    )
    both = (theirs, Translator(full, theirs.source, theirs.target))
    seconds: tuple[list[float], list[float]] = ([], [])
    texts: list[list[str]] = [[], []]
    for _ in range(ROUNDS):
        for number, each in enumerate(both):
            began = process_time()
            texts[number] = [best[0].text for best in each.search(lines, Options(), record=False)]
            seconds[number].append(process_time() - began)
    short, long = (sorted(each)[ROUNDS // 2] for each in seconds)
    same = sum(one == two for one, two in zip(*texts, strict=True))
    return f"{same:,} of {len(lines):,} outputs as without it, for {short / long:.0%} of the computing"
