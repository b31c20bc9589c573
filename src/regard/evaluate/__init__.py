"""Evaluate: how good outputs, alignments and speed are. Pure functions over plain lists."""

from regard.evaluate.counts import Counted, Score, count_bleu, count_chrf, count_exact, words_for_word
from regard.evaluate.figure import draw_lengths
from regard.evaluate.lengths import Bucket, by_length
from regard.evaluate.links import (
    AlignmentScore,
    Gold,
    aer,
    aer_by_sentence,
    check_gold,
    link_scores,
    read_gold_file,
    read_links,
)
from regard.evaluate.metrics import METRICS, Metric
from regard.evaluate.report import Report
from regard.evaluate.scores import Difference, bleu, chrf, compare, exact_match
from regard.evaluate.speed import Stopwatch, Throughput

__all__ = [
    "METRICS",
    "AlignmentScore",
    "Bucket",
    "Counted",
    "Difference",
    "Gold",
    "Metric",
    "Report",
    "Score",
    "Stopwatch",
    "Throughput",
    "aer",
    "aer_by_sentence",
    "bleu",
    "by_length",
    "check_gold",
    "chrf",
    "compare",
    "count_bleu",
    "count_chrf",
    "count_exact",
    "draw_lengths",
    "exact_match",
    "link_scores",
    "read_gold_file",
    "read_links",
    "words_for_word",
]
