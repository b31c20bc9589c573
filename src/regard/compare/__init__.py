"""Compare: several recipes or finished models on the same data with the same budget, in one report."""

from regard.compare.arms import Arm, read_arms
from regard.compare.examples import Section, draw_examples, with_questions
from regard.compare.measures import Measures, Pairs
from regard.compare.plan import Plan
from regard.compare.report import write_report
from regard.compare.results import ArmResult, Result, read_result, read_results
from regard.compare.runner import Outcome, keep_pairs, run_trials
from regard.compare.trials import Trial, trials_of

__all__ = [
    "Arm",
    "ArmResult",
    "Measures",
    "Outcome",
    "Pairs",
    "Plan",
    "Result",
    "Section",
    "Trial",
    "draw_examples",
    "keep_pairs",
    "read_arms",
    "read_result",
    "read_results",
    "run_trials",
    "trials_of",
    "with_questions",
    "write_report",
]
