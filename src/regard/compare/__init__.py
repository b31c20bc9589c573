"""Compare: several recipes or finished models on the same data with the same budget, in one report."""

from regard.compare.arms import Arm, read_arms
from regard.compare.plan import Plan
from regard.compare.report import write_report
from regard.compare.results import Result, read_result
from regard.compare.runner import Outcome, run_arms

__all__ = ["Arm", "Outcome", "Plan", "Result", "read_arms", "read_result", "run_arms", "write_report"]
