"""Evaluate: how good outputs, alignments and speed are. Pure functions over plain lists.

The package can be called: `regard.evaluate(model, data)` measures a model on a corpus, see `regard.api.evaluate`.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from regard.evaluate.calibration import Bin, Calibration, calibration, calibration_of, count_ece
from regard.evaluate.confusion import ClassScore, Confusion, confusion
from regard.evaluate.counts import Counted, Score, count_bleu, count_chrf, count_exact, words_for_word
from regard.evaluate.figure import draw_lengths
from regard.evaluate.labels import count_accuracy, count_macro_f1, count_tags
from regard.evaluate.lengths import Bucket, by_length
from regard.evaluate.likelihood import Likelihood, count_bits, count_perplexity, count_piece_perplexity
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
from regard.evaluate.schema import read_scores, validation_scores, values_of
from regard.evaluate.scores import Difference, bleu, chrf, compare, exact_match, scores_of
from regard.evaluate.speed import Stopwatch, Throughput

__all__ = [
    "METRICS",
    "AlignmentScore",
    "Bin",
    "Bucket",
    "Calibration",
    "ClassScore",
    "Confusion",
    "Counted",
    "Difference",
    "Gold",
    "Likelihood",
    "Metric",
    "Report",
    "Score",
    "Stopwatch",
    "Throughput",
    "aer",
    "aer_by_sentence",
    "bleu",
    "by_length",
    "calibration",
    "calibration_of",
    "check_gold",
    "chrf",
    "compare",
    "confusion",
    "count_accuracy",
    "count_bits",
    "count_bleu",
    "count_chrf",
    "count_ece",
    "count_exact",
    "count_macro_f1",
    "count_perplexity",
    "count_piece_perplexity",
    "count_tags",
    "draw_lengths",
    "exact_match",
    "link_scores",
    "read_gold_file",
    "read_links",
    "read_scores",
    "scores_of",
    "validation_scores",
    "values_of",
    "words_for_word",
]


class _Evaluate(ModuleType):
    """A module that can be called: `regard.evaluate` is both this package and the function that users call.

    A function of that name in `regard` is lost as soon as anybody imports the package, which takes its place.
    The function is found by name when it is called, for it lies above this package and imports much.
    """

    def __call__(self, *given: Any, **named: Any) -> Report:
        """As `regard.api.evaluate` says."""
        report: Report = import_module("regard.api").evaluate(*given, **named)
        return report


sys.modules[__name__].__class__ = _Evaluate
