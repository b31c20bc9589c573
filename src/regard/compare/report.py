"""The report of a comparison: one self-contained page, the same as Markdown, and all numbers as JSON.

The page holds tables, pictures, the same sentences as each arm answered and saw them, and the exact commands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from textwrap import indent
from typing import Any

from regard.compare.examples import Section
from regard.compare.figure import curve_metric, differ_in_size, draw_curves, draw_sizes
from regard.compare.measures import Measures
from regard.compare.page import pictures_html, report_html, section_html, table_html, text_html
from regard.compare.plan import Plan, written
from regard.compare.results import Result
from regard.compare.runner import Outcome
from regard.compare.tables import (
    Table,
    has_seeds,
    length_table,
    main_table,
    markdown,
    metric_table,
    seed_table,
)
from regard.compare.trials import RUN
from regard.evaluate import draw_lengths
from regard.show.confusion import NUMBERED, draw_confusion
from regard.show.place import fresh_file

PAGE, TEXT, NUMBERS = "report.html", "report.md", "report.json"
DRAWN = "test sentences, the same for all arms,"
SEEDS = (
    "After ±: the standard deviation over seeds. In brackets: the 95 % interval of the mean, and of a difference of "
    f"means, from 1,000 draws of seeds and of {DRAWN} with few seeds made as wide as Student's t asks. A difference "
    "holds if it is as large as you ask and all seeds agree in its sign."
)
ALONE = f"In brackets: 95 % intervals from 1,000 draws of {DRAWN} of one training each: another seed may give another."


def write_report(plan: Plan, outcomes: Sequence[Outcome], measures: Measures, examples: Section, out: Path) -> Path:
    """Write page, Markdown, numbers and figures into the report's folder; the page's path comes back."""
    out.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Table] = {}
    sections, notes = [], []
    if measures.arms:
        tables, notes = _tables(measures), _notes(measures)
        sections.append(_measured(tables, notes, _pictures(measures, out / "figures")))
        sections.append(section_html(examples.heading, *examples.parts))
    failed = {each.trial.label: each.error for each in outcomes if each.error}
    sections += [
        section_html(f"{label} failed", text_html(why, f"Last words of {label}")) for label, why in failed.items()
    ]
    commands = "\n".join(_commands(plan, outcomes))
    sections.append(section_html("Commands", text_html(commands, "Commands")))
    title = _title(plan, measures)
    text = [f"# {title}", *(f"## {name}\n\n{markdown(table)}" for name, table in tables.items()), *notes]
    text += [f"## {label} failed\n\n{indent(why, '    ')}" for label, why in failed.items()]
    _write(out / NUMBERS, json.dumps(_numbers(plan, measures, failed), ensure_ascii=False, indent=2) + "\n")
    _write(out / TEXT, "\n\n".join([*text, indent(commands, "    ")]) + "\n")
    _write(out / PAGE, report_html(title, sections, examples.style))
    return out / PAGE


def _title(plan: Plan, measures: Measures) -> str:
    budget = (
        f"{plan.minutes:g} minutes" if plan.minutes is not None else f"{plan.steps:,} updates" if plan.steps else ""
    )
    languages = f" {plan.source}-{plan.target}" if plan.source and plan.target else ""
    trained = any(not arm.arm.finished for arm in measures.arms)
    seeds = f", {plan.seeds} seeds" if trained and plan.seeds > 1 else ""
    return f"{Path(plan.data).name}{languages}" + (f", {budget} each" if budget else "") + seeds


def _tables(measures: Measures) -> dict[str, Table]:
    """All tables by their headings."""
    tables = {"Scores": main_table(measures), "Every metric": metric_table(measures)}
    if has_seeds(measures):
        tables["Seed by seed"] = seed_table(measures)
    if _have_lengths(measures):
        tables[_by_length(measures)] = length_table(measures)
    return tables


def _have_lengths(measures: Measures) -> bool:
    return all(each.lengths for arm in measures.arms for each in arm.trials)


def _by_length(measures: Measures) -> str:
    return f"{measures.arms[0].first.lengths[0].score.name} by source length"


def _notes(measures: Measures) -> list[str]:
    """What to know when reading the tables: how intervals were made, and the main metric's signature."""
    score = next(iter(measures.arms[0].first.scores.values()))
    return [SEEDS if has_seeds(measures) else ALONE, f"{score.name}|{score.signature}"]


def _measured(tables: dict[str, Table], notes: Sequence[str], pictures: dict[str, Path]) -> str:
    (first, table), *others = tables.items()
    shown = [table_html(table, first), *(f'<p class="quiet">{escape(note)}</p>' for note in notes)]
    shown.append(pictures_html(pictures))
    shown += [f"<h3>{escape(name)}</h3>\n{table_html(table, name)}" for name, table in others]
    return section_html("Scores", *shown)


def _pictures(measures: Measures, folder: Path) -> dict[str, Path]:
    """Scores by length, learning curves, scores by size, confusions: as PNG and SVG; the latter, by what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    metric = curve_metric(measures.arms, measures.main)
    drawn: dict[str, Path] = {}
    for ending in (".png", ".svg"):
        if _have_lengths(measures):
            series = {arm.arm.label: measures.buckets(number) for number, arm in enumerate(measures.arms)}
            name = _by_length(measures)
            drawn[name] = draw_lengths(series, folder / f"lengths{ending}", title=name)
        curves = draw_curves(measures.arms, folder / f"curves{ending}", metric)
        if curves is not None:
            drawn[f"{metric.label} of the validation pairs by minutes of training"] = curves
        if differ_in_size(measures.arms) and (sizes := draw_sizes(measures, folder / f"sizes{ending}", measures.main)):
            drawn[f"{measures.main.label} over the number of weights"] = sizes
        for number, (label, table) in enumerate(measures.confusions().items(), 1):
            if len(table.classes) <= NUMBERED:
                path = folder / f"confusion-{number}{ending}"
                drawn[f"Which classes {label} takes for which"] = draw_confusion(table, path, title=label)
    return drawn


def _commands(plan: Plan, outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    for each in outcomes:
        trial, run = each.trial, each.folder / RUN
        if not trial.arm.finished:
            lines.append(written(plan.train(trial.arm, run, seed=trial.seed)))
        lines.append(written(plan.score(trial.arm.models[trial.number] if trial.arm.finished else run)))
    return lines


def _numbers(plan: Plan, measures: Measures, failed: dict[str, str]) -> dict[str, Any]:
    """All that the report says, and what it was made of, unrounded."""
    arms = [_arm(measures, number) for number in range(len(measures.arms))]
    return {"plan": asdict(plan), "main": measures.main.label if arms else None, "arms": arms, "failed": failed}


def _arm(measures: Measures, number: int) -> dict[str, Any]:
    arm = measures.arms[number]
    scores, differences = {}, {}
    for metric in measures.metrics:
        found, apart = measures.estimate(metric, number), measures.difference(metric, number)
        signature = getattr(arm.first.scores.get(metric.label), "signature", "")
        if found is not None:
            scores[metric.label] = {**asdict(found), "signature": signature}
        if apart is not None:
            differences[metric.label] = {**asdict(apart), "agree": apart.agree}
    return {
        "arm": asdict(arm.arm),
        "parameters": arm.first.parameters,
        "scores": scores,
        "differences": differences,
        "lengths": [asdict(each) for each in measures.buckets(number)],
        "trials": [_trial(each) for each in arm.trials],
    }


def _trial(result: Result) -> dict[str, Any]:
    found = asdict(result)
    for name in ("outputs", "links", "probabilities", "asked", "trial"):
        del found[name]
    return {"seed": result.trial.seed, **found, "perplexity": result.perplexity, "model": str(result.model)}


def _write(path: Path, text: str) -> None:
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
