"""A rehearsal: cut a corpus into pieces and batches as a training would, and say what comes of it."""

from __future__ import annotations

from dataclasses import replace

from regard.data.check import unknown_pieces
from regard.data.corpus import Corpus, column
from regard.data.pairs import pair_batches
from regard.data.report import Report
from regard.data.tokenizer import Tokenizer, train_pair


def rehearse(corpus: Corpus, report: Report, *, tokens: int = 4096, seed: int = 0) -> Report:
    """Train tokenizers on a corpus and go through one epoch of its batches.

    The report comes back with notes on the tokenizers, the batches and the share of padding, and with the
    warnings about unknown pieces.
    """
    train = corpus.split("train")
    tokenizers = train_pair(column(train, "source"), column(train, "target"))
    batches = pair_batches(train, *tokenizers, tokens=tokens, seed=seed)
    for _ in batches:
        pass
    notes = (f"pieces: {_tell(*tokenizers)}", f"batches of {tokens:,} positions: {batches.tally}")
    unknown = unknown_pieces(corpus.plan(), tokenizers)
    return replace(report, notes=(*report.notes, *notes), findings=(*report.findings, *unknown))


def _tell(source: Tokenizer, target: Tokenizer) -> str:
    if source is target:
        return f"{len(source):,} {source.kind} for both sides"
    return f"{len(source):,} {source.kind} for the source, {len(target):,} {target.kind} for the target"
