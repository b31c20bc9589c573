"""The report of a comparison: one self-contained page, the same as Markdown, and all numbers as JSON.

The page holds tables, pictures, the same sentences as each arm translated and saw them, and the exact commands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from textwrap import indent

from regard.compare.figure import draw_curves
from regard.compare.page import pictures_html, report_html, section_html, sentences_html, table_html, text_html
from regard.compare.plan import Plan, written
from regard.compare.results import Result
from regard.compare.runner import RUN, Outcome
from regard.compare.tables import Table, length_table, main_table, markdown
from regard.evaluate import draw_lengths
from regard.show.place import fresh_file
from regard.translator import Translation

PAGE, TEXT, NUMBERS = "report.html", "report.md", "report.json"


@dataclass(frozen=True)
class Example:
    """One test sentence as every arm translated it, in the order of the arms."""

    source: str
    reference: str
    found: tuple[Translation, ...]


def write_report(
    plan: Plan,
    outcomes: Sequence[Outcome],
    results: Sequence[Result],
    references: Sequence[str],
    examples: Sequence[Example],
    out: Path,
) -> Path:
    """Write page, Markdown, numbers and figures into the report's folder; the page's path comes back."""
    out.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Table] = {}
    sections = []
    signature = next((f"BLEU|{each.scores['BLEU'].signature}" for each in results), "")
    if results:
        tables = {"Scores": main_table(results, references), "BLEU by source length": length_table(results)}
        sections.append(_measured(tables, signature, _pictures(results, out / "figures")))
        sections.append(_looked(results, examples))
    failed = {each.arm.label: each.error for each in outcomes if each.error}
    sections += [
        section_html(f"{label} failed", text_html(why, f"Last words of {label}")) for label, why in failed.items()
    ]
    commands = "\n".join(_commands(plan, outcomes))
    sections.append(section_html("Commands", text_html(commands, "Commands")))
    text = [f"# {_title(plan)}", *map(markdown, tables.values()), signature]
    text += [f"{label} failed:\n\n    {why}" for label, why in failed.items()]
    numbers = {"plan": asdict(plan), "arms": [_numbers(each) for each in results], "failed": failed}
    _write(out / NUMBERS, json.dumps(numbers, ensure_ascii=False, indent=2) + "\n")
    _write(out / TEXT, "\n\n".join([*text, indent(commands, "    ")]) + "\n")
    _write(out / PAGE, report_html(_title(plan), sections))
    return out / PAGE


def _title(plan: Plan) -> str:
    budget = (
        f"{plan.minutes:g} minutes" if plan.minutes is not None else f"{plan.steps:,} updates" if plan.steps else ""
    )
    languages = f" {plan.source}-{plan.target}" if plan.source and plan.target else ""
    return f"{Path(plan.data).name}{languages}" + (f", {budget} each" if budget else "")


def _measured(tables: dict[str, Table], signature: str, pictures: dict[str, Path]) -> str:
    shown = [table_html(table, name) for name, table in tables.items()]
    return section_html("Scores", *shown, f'<p class="quiet">{escape(signature)}</p>', pictures_html(pictures))


def _looked(results: Sequence[Result], examples: Sequence[Example]) -> str:
    labels = [each.arm.label for each in results]
    shown = [(each.source, each.reference, dict(zip(labels, each.found, strict=True))) for each in examples]
    return section_html("What each arm wrote and looked at", *sentences_html(shown))


def _pictures(results: Sequence[Result], folder: Path) -> dict[str, Path]:
    """BLEU by length and the learning curves, as PNG for eyes and SVG for papers; the latter, by what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    series = {each.arm.label: each.lengths for each in results}
    drawn: dict[str, Path] = {}
    for ending in (".png", ".svg"):
        drawn["BLEU by source length"] = draw_lengths(
            series, folder / f"lengths{ending}", title="BLEU by source length"
        )
        curves = draw_curves(results, folder / f"curves{ending}")
        if curves is not None:
            drawn["BLEU of the validation pairs by minutes of training"] = curves
    return drawn


def _commands(plan: Plan, outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    for each in outcomes:
        run = each.folder / RUN
        if not each.arm.finished:
            lines.append(written(plan.train(each.arm, run)))
        lines.append(written(plan.evaluate(each.arm, run)))
    return lines


def _numbers(result: Result) -> dict[str, object]:
    found = asdict(result)
    found["model"] = str(result.model)
    del found["outputs"]
    return found


def _write(path: Path, text: str) -> None:
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
