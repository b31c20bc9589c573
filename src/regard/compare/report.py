"""The report of a comparison: one self-contained page, the same as Markdown, and all numbers as JSON.

The page holds tables, figures as inline pictures, the same sentences as each arm translated and saw them, and the
exact commands. It loads nothing and runs nothing, and all text is escaped.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from regard.compare.figure import draw_curves
from regard.compare.plan import Plan, written
from regard.compare.results import Result
from regard.compare.runner import RUN, Outcome
from regard.compare.tables import Table, length_table, main_table, markdown
from regard.evaluate import draw_lengths
from regard.show.matrix import draw_matrix
from regard.translator import Translation

PAGE, TEXT, NUMBERS = "report.html", "report.md", "report.json"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #8886; padding: 0.3rem 0.7rem; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; background: white; }
pre { overflow-x: auto; background: #8882; padding: 1rem; }
.side { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; flex: 1 1 20rem; }
"""


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
    tables = [main_table(results, references), length_table(results)] if results else []
    figures = _figures(results, out)
    commands = _commands(plan, outcomes, out)
    failed = [(each.arm.label, each.error) for each in outcomes if each.error]
    numbers = {"plan": asdict(plan), "arms": [_numbers(each) for each in results], "failed": dict(failed)}
    _write(out / NUMBERS, json.dumps(numbers, ensure_ascii=False, indent=2) + "\n")
    signature = next((f"BLEU|{each.scores['BLEU'].signature}" for each in results), "")
    text = [markdown(table) for table in tables] + [
        signature,
        *(f"{label} failed:\n\n    {why}" for label, why in failed),
    ]
    _write(out / TEXT, "\n\n".join([f"# {_title(plan)}", *text, "\n".join(f"    {line}" for line in commands)]) + "\n")
    drawn = [_example(each, results, out / "figures", number) for number, each in enumerate(examples)]
    body = [*_tables(tables), f"<p><small>{escape(signature)}</small></p>", *map(_image, figures), *drawn]
    body += [f"<h2>{escape(label)} failed</h2><pre>{escape(why)}</pre>" for label, why in failed]
    body.append(f"<h2>Commands</h2><pre>{escape(chr(10).join(commands))}</pre>")
    _write(out / PAGE, _page(_title(plan), "\n".join(body)))
    return out / PAGE


def _title(plan: Plan) -> str:
    budget = (
        f"{plan.minutes:g} minutes" if plan.minutes is not None else f"{plan.steps:,} updates" if plan.steps else ""
    )
    languages = f" {plan.source}-{plan.target}" if plan.source and plan.target else ""
    return f"{Path(plan.data).name}{languages}" + (f", {budget} each" if budget else "")


def _figures(results: Sequence[Result], out: Path) -> list[Path]:
    """BLEU by length and the learning curves, as PNG for eyes and SVG for papers."""
    folder = out / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    if results:
        series = {each.arm.label: each.lengths for each in results}
        for ending in (".png", ".svg"):
            lengths = draw_lengths(series, folder / f"lengths{ending}", title="BLEU by source length")
            curves = draw_curves(results, folder / f"curves{ending}")
            drawn += [lengths] if curves is None else [lengths, curves]
    return [path for path in drawn if path.suffix == ".svg"]


def _commands(plan: Plan, outcomes: Sequence[Outcome], out: Path) -> list[str]:
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


def _tables(tables: Sequence[Table]) -> list[str]:
    return [_table(table) for table in tables]


def _table(table: Table) -> str:
    head, *rows = table
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _image(path: Path) -> str:
    kind = {".svg": "image/svg+xml", ".png": "image/png"}[path.suffix]
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<p><img alt="{escape(path.stem)}" src="data:{kind};base64,{data}"></p>'


def _example(example: Example, results: Sequence[Result], folder: Path, number: int) -> str:
    """A sentence, its reference, and side by side what each arm wrote and looked at."""
    shown = []
    for result, found in zip(results, example.found, strict=True):
        head = f"<figcaption><b>{escape(result.arm.label)}</b>: {escape(found.text)}</figcaption>"
        picture = "<p>It does not attend.</p>"
        if found.alignment is not None:
            picture = _image(draw_matrix(found.alignment, folder / f"sentence-{number + 1}-{result.arm.folder}.png"))
        shown.append(f"<figure>{head}{picture}</figure>")
    told = f"<p>{escape(example.source)}<br><i>{escape(example.reference)}</i></p>"
    return f"<h2>Sentence {number + 1}</h2>{told}<div class=side>{''.join(shown)}</div>"


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>\n'
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n"
        "<p><small>Attention shows where a model looked, not why.</small></p></main></body></html>\n"
    )


def _write(path: Path, text: str) -> None:
    """Under another name first: a reader never sees half a report."""
    fresh = path.with_name(f".{path.name}")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
