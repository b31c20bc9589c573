"""Does an exported model write and look as the model does? Sentences go through both, and the answers are compared.

Greedy outputs, because there every engine makes the same search. Our own outputs forced through both: how likely they
are and where each piece looked, which no tie can upset. And what the exported model recorded in a beam, against the
same outputs forced: the record must be that of the winning path.

Where greedy outputs part, the model itself is asked how near the two pieces were: at a tie (within `TIE` of
log-likelihood) rounding decides, and either is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import torch

from regard.align.record import Record
from regard.data.padding import pad
from regard.data.tokenizer import END, START, Tokenizer
from regard.data.tokenizer_train import BYTES, SPECIAL
from regard.errors import ModelError
from regard.search import Options
from regard.translate.translator import SILENT, Translation, Translator
from regard.types import Batch

TIE = 1e-3  # two pieces whose log-likelihoods are nearer than this: either may come first
CLOSE = 1e-3  # how far a piece's log-likelihood and a weight may be from ours in full precision
MADE_UP, SHORTEST, LONGEST = 50, 3, 20  # sentences made of random pieces, where none are given


@dataclass(frozen=True)
class Agreement:
    """How well two models agree on some sentences.

    outputs: share of equal greedy outputs.
    likely: share of those that are equal or part at a tie.
    links: of the word links of both, for the same outputs, the share that both have.
    likelihood: mean difference of a piece's log-likelihood; `furthest` the largest of any sentence.
    weights: largest difference between two weights of the aligning heads.
    record: the same between what its beam recorded and what it looks at when the same outputs are forced.
    """

    sentences: int
    outputs: float
    likely: float
    links: float
    likelihood: float
    furthest: float
    weights: float
    record: float

    @property
    def exact(self) -> bool:
        """Is what differs no more than rounding?"""
        return self.likely == 1.0 and max(self.furthest, self.weights, self.record) <= CLOSE

    def __str__(self) -> str:
        return (
            f"{self.outputs:.1%} of {self.sentences:,} greedy outputs equal, {self.links:.1%} of their links; "
            f"log-likelihoods of pieces are {self.likelihood:.2g} off on average, weights at most {self.weights:.2g}"
        )


def must_be_exact(found: Agreement) -> None:
    """Refuse a conversion that changed the model."""
    if not found.exact:
        raise ModelError(
            f"the exported model is not the same model, so nothing was written: {found}; "
            f"expected equal outputs (but for ties) and differences up to {CLOSE}.",
            hint="Please report it with the recipe; the model folder itself can be used as before.",
        )


def agreement(ours: Translator, theirs: Translator, lines: Sequence[str]) -> Agreement:
    """Translate the lines both ways, and force our outputs both ways."""
    sources = [[*each.ids, END] for each in ours.source.encode_batch(lines)]
    mine, other = (_greedy(each, sources) for each in (ours, theirs))
    gaps = [_gap(ours, source, one, two) for source, one, two in zip(sources, mine, other, strict=True)]
    texts = [ours.target.decode(each) for each in mine]
    forced = list(zip(ours.force(list(lines), texts), theirs.force(list(lines), texts), strict=True))
    lengths = [len(each) + 1 for each in ours.target.encode_batch(texts)]
    drift = [abs(one.likelihood - two.likelihood) / count for (one, two), count in zip(forced, lengths, strict=True)]
    return Agreement(
        sentences=len(lines),
        outputs=_mean([gap is None for gap in gaps]),
        likely=_mean([gap is None or gap <= TIE for gap in gaps]),
        links=_shared_links(forced),
        likelihood=_mean(drift),
        furthest=max(drift, default=0.0),
        weights=max((_apart(one, two) for one, two in forced), default=0.0),
        record=_unlike_forced(theirs, lines),
    )


def made_up_lines(tokenizer: Tokenizer) -> list[str]:
    """Sentences of random pieces, always the same: nobody's language, but every engine must read it alike."""
    random = Random(0)
    spelled = {*SPECIAL, *BYTES}
    known = [piece for piece in range(len(tokenizer)) if tokenizer.backend.id_to_token(piece) not in spelled]
    drawn = (random.choices(known, k=random.randint(SHORTEST, LONGEST)) for _ in range(MADE_UP) if known)
    return [line for line in map(tokenizer.decode, drawn) if line.strip()]


def _greedy(translator: Translator, sources: list[list[int]]) -> list[tuple[int, ...]]:
    """What is written for each source, as ids: of a model that does not attend there is no record to read them from."""
    options = Options(beam=1, avoid=SILENT)
    return [translator.engine.search([each], options, record=False)[0][0].ids for each in sources]


def _seen(found: Translation) -> Record:
    if found.record is None:
        raise ModelError("one of the two models attends, and the other does not.")
    return found.record


def _gap(ours: Translator, source: list[int], one: tuple[int, ...], two: tuple[int, ...]) -> float | None:
    """How far apart the model itself sees the pieces at which two outputs part; None if they do not."""
    mine, other = (*one, END), (*two, END)
    pairs = zip(mine, other, strict=False)  # both end with the end, so that one is no part of another
    place = next((at for at, (first, second) in enumerate(pairs) if first != second), None)
    if place is None:
        return None
    written = [START, *mine[:place], END]
    with torch.no_grad():
        logits = ours.model.teach(Batch(pad([source]), pad([written]))).logits[0, place]
    chances = torch.log_softmax(logits.float(), -1)
    return abs(float(chances[mine[place]] - chances[other[place]]))


def _attending(one: Translation, two: Translation) -> bool:
    return one.record is not None or two.record is not None


def _shared_links(forced: Sequence[tuple[Translation, Translation]]) -> float:
    shared = total = 0
    for one, two in filter(lambda pair: _attending(*pair), forced):
        mine, other = (set(_seen(each).alignment().links()) for each in (one, two))
        shared, total = shared + 2 * len(mine & other), total + len(mine) + len(other)
    return shared / total if total else 1.0


def _apart(one: Translation, two: Translation) -> float:
    if not _attending(one, two):
        return 0.0
    mine, other = (_seen(each).alignment(pieces=True).matrix for each in (one, two))
    return float((mine - other).abs().max())


def _unlike_forced(theirs: Translator, lines: Sequence[str]) -> float:
    """How far the weights that a beam recorded are from those of forcing its outputs."""
    found = [best[0] for best in theirs.search(lines)]
    records = [each.record for each in found if each.record is not None]
    if not records:
        return 0.0
    pairs = [each.source.ids for each in records], [each.target.ids[:-1] for each in records]
    apart = [
        float(np.abs(one.numpy() - np.asarray(two)).max())
        for each, again in zip(records, theirs.engine.force(*pairs, record=True), strict=True)
        for one, two in zip(each.attention, again.weights, strict=True)
    ]
    return max(apart, default=0.0)


def _mean(values: Sequence[float | bool]) -> float:
    return sum(values) / len(values) if values else 1.0
