"""Reproduce: train the small version of a system on built-in data, and put the paper's claim beside what came out.

A recipe's [reproduce] table says what is drawn, trained and measured (`regard.recipe.reproduce`); nothing here knows
any system. To add one, write that table into its recipe.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from regard.data.corpus import Corpus
from regard.recipe import Recipe, resolve
from regard.recipe.reproduce import Reproduce, systems
from regard.tasks.job import columns_of_sides
from regard.tasks.reproduce.arms import Arm, Plan, table_of
from regard.tasks.reproduce.measure import Measured, answer, difference, first_questions, measured
from regard.tasks.reproduce.pictures import draw_pictures
from regard.tasks.reproduce.result import Reproduction
from regard.tasks.reproduce.train import Tell, train_arms

__all__ = ["Arm", "Measured", "Plan", "Reproduction", "reproduce", "systems", "table_of"]

FOLDER = Path("runs/reproduce")
RESULT = "result.json"
TRAINED = 0.75  # of the minutes that drawing leaves; the rest is for processes to begin, and to choose and measure
SHORTEST = 0.02  # minutes: a training makes at least an update


def silent(label: str, line: str) -> None:
    """Say nothing."""


def reproduce(
    system: str,
    *,
    minutes: float | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    tell: Tell = silent,
) -> Reproduction:
    """Train a system's small version, and the arm it is compared with, and measure what its paper claims.

    Args:
        system: a recipe with a [reproduce] table; `regard reproduce --list` shows all.
        minutes: how long all of it takes, if not what the table says.
        seed: draws the data and the first weights.
        out: where runs, pictures and `result.json` are kept; a rerun goes on with what is there.
        tell: hears what each arm says of itself.
    """
    began = time.monotonic()
    table = table_of(system)
    folder = Path(out) if out is not None else FOLDER / Path(system).stem
    plan = Plan(system, table, table.minutes if minutes is None else minutes, seed, folder)
    recipe = _checked(plan)
    plan.keep()
    corpus = open_data(recipe, table, seed)
    left = plan.minutes - (time.monotonic() - began) / 60
    train_arms(plan, max(SHORTEST, TRAINED * left), tell)
    return _measure(plan, recipe, corpus, began)


def _checked(plan: Plan) -> Recipe:
    """Every arm's recipe is resolved, so that mistakes are told before any work; that of the system itself."""
    ours, *_ = [resolve(arm.recipe, arm.settings) for arm in plan.arms()]
    return ours


def open_data(recipe: Recipe, table: Reproduce, seed: int) -> Corpus:
    """Draw the data of a trial, as its trainings do, which then find it drawn."""
    reads, wants = columns_of_sides(recipe)
    sides: dict[str, Any] = {} if (reads, wants) == ("text", "text") else {"reads": reads, "wants": wants}
    return Corpus.open(table.data, source=table.source, target=table.target, size=table.size, seed=seed, **sides)


def _measure(plan: Plan, recipe: Recipe, corpus: Corpus, began: float) -> Reproduction:
    table, tested = plan.table, first_questions(corpus, plan.table, plan.arms()[0])
    answered = [answer(arm, tested, table) for arm in plan.arms()]
    pictures = draw_pictures(answered, tested, table.measure, plan.out)
    result = Reproduction(
        system=plan.system,
        paper=recipe.about.paper,
        table=table,
        seed=plan.seed,
        examples=len(tested.rows),
        arms={each.arm.label: measured(each.counted) for each in answered},
        difference=difference(answered[0].counted, answered[1].counted) if len(answered) > 1 else None,
        seconds=time.monotonic() - began,
        pictures=tuple(pictures),
        out=plan.out,
    )
    (plan.out / RESULT).write_text(json.dumps(result.as_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return result
