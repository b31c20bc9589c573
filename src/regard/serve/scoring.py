"""Outputs held against right answers: corpus scores with their intervals, by length, and sentence by sentence."""

from __future__ import annotations

import asyncio
from typing import Annotated

import sacrebleu
from fastapi import APIRouter
from pydantic import BaseModel, Field

from regard.errors import UsageError
from regard.evaluate.counts import Count, Score, count_bleu, count_chrf
from regard.evaluate.lengths import by_length, count_words
from regard.serve import schema
from regard.serve.api import WRONG
from regard.serve.refused import Refused

MOST, MOST_LETTERS = 10_000, 4_000_000  # sentences of a request, and letters of all
METRICS: dict[str, Count] = {"bleu": count_bleu, "chrf": count_chrf}
Text = Annotated[str, Field(max_length=20_000)]
Texts = Annotated[list[Text], Field(min_length=1, max_length=MOST)]
router = APIRouter(prefix="/api/v1", responses=WRONG)


class EvaluateIn(schema.Message):
    """Sources, what a model made of them, and right answers: line n of each belongs to line n of the others.

    edges: the longest length, in words of the source, of each bin but the last; bins of even counts where none are.
    """

    sources: Texts
    outputs: Texts
    references: Texts
    edges: Annotated[list[Annotated[int, Field(ge=0, le=10_000)]], Field(max_length=200)] | None = None


class ScoreOf(BaseModel):
    """A score from 0 to 100, its 95 % bootstrap interval, and how it was found."""

    name: str
    value: float
    low: float
    high: float
    signature: str


class BinOut(BaseModel):
    """The sentences whose source has `low` to `high` words, and their score."""

    low: int
    high: int
    count: int
    score: ScoreOf


class SentenceOut(BaseModel):
    """One sentence: the words of its source, and the scores of its output alone."""

    words: int
    bleu: float
    chrf: float


class EvaluateOut(BaseModel):
    """Scores of all, of BLEU by length, and of each."""

    scores: list[ScoreOf]
    bins: list[BinOut]
    sentences: list[SentenceOut]


@router.post("/evaluate", tags=["given outputs"])
async def evaluate(asked: EvaluateIn) -> EvaluateOut:
    """How good outputs are, held against right answers; of outputs that are given, no model is asked."""
    return await asyncio.to_thread(_evaluated, asked)


def _evaluated(asked: EvaluateIn) -> EvaluateOut:
    sources, outputs, references = asked.sources, asked.outputs, asked.references
    letters = sum(map(len, (*outputs, *references)))
    if letters > MOST_LETTERS:
        raise Refused(413, f"Too much text: {letters:,} letters, limit {MOST_LETTERS:,}", "outputs", "too_long")
    if asked.edges == []:
        raise UsageError("edges: expected one number or more, or none of them at all.")
    bins = by_length(sources, outputs, references, edges=asked.edges)
    return EvaluateOut(
        scores=[_score(count(outputs, references).score()) for count in METRICS.values()],
        bins=[BinOut(low=each.low, high=each.high, count=each.count, score=_score(each.score)) for each in bins],
        sentences=[_sentence(*each) for each in zip(sources, outputs, references, strict=True)],
    )


def _score(score: Score) -> ScoreOf:
    return ScoreOf(name=score.name, value=score.value, low=score.low, high=score.high, signature=score.signature)


def _sentence(source: str, output: str, reference: str) -> SentenceOut:
    bleu = sacrebleu.sentence_bleu(output, [reference]).score
    return SentenceOut(words=count_words(source), bleu=bleu, chrf=sacrebleu.sentence_chrf(output, [reference]).score)
