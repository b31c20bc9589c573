"""The page of a comparison: tables, pictures, and live figures of what each arm looked at, in one file.

The figures are those of `regard show`: a group for each sentence, in which the arms point together, under switches
that the whole page shares. The page loads nothing, its policy lets only its own script and styles run, and all text is
escaped.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from regard.align.record import Record
from regard.compare.tables import Table
from regard.show.answers import Drawable, answer_html
from regard.show.document import MOST, page_of, record_document
from regard.show.page import SWITCHES, figures_html, frame_html
from regard.show.samples import Samples, samples_html
from regard.translate.translator import Translation

LEVEL = 4  # of the figures' headings: the page is h1, its sections h2, a sentence h3
NAMES = ("metric",)  # columns that hold names, not numbers
KINDS = {".svg": "image/svg+xml", ".png": "image/png"}
STYLE = """
h2 { font-size: 1.25rem; font-weight: 600; margin: 2.4rem 0 0.8rem; }
h3 { font-size: 1.1rem; font-weight: 600; margin: 2rem 0 0.6rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--rule); padding: 0.3rem 0.4rem; text-align: end; vertical-align: baseline; }
thead th { vertical-align: bottom; }
th.name, td.name { text-align: start; }
td span { white-space: nowrap; }
tr > :first-child { position: sticky; left: 0; background: var(--paper); padding-left: 0; text-align: start; }
tbody th { font-weight: 400; min-width: 8rem; overflow-wrap: anywhere; }
.pictures {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1.6rem;
  margin-top: 1.2rem;
}
.pictures img { width: 100%; max-width: 44rem; background: white; border-radius: 12px; }
pre { padding: 1rem; margin: 0; font-size: 0.86rem; }
.wide:has(pre) { background: var(--sheet); border: 1px solid var(--rule); border-radius: 12px; }
.written { display: grid; grid-template-columns: fit-content(14rem) 1fr; gap: 0.2rem 1.4rem; margin-bottom: 1.4rem; }
.written dt { color: var(--quiet); overflow-wrap: anywhere; }
.written dd { overflow-wrap: anywhere; }
@media (min-width: 60rem) and (min-height: 40rem) { /* where there is room, the switches go along */
  html { scroll-padding-top: 6rem; }
  [data-regard="switches"] { position: sticky; top: 0; z-index: 4; background: var(--paper); padding-top: 0.6rem; }
  .controls { padding-bottom: 0.8rem; }
}
"""


def report_html(title: str, sections: Sequence[str], style: str = "") -> str:
    """The whole page, from its sections and the style that they need."""
    heading = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>'
    return frame_html(title, "\n".join([heading, "<main>", *sections, "</main>"]), style + STYLE)


def section_html(heading: str, *parts: str) -> str:
    """One section under its heading."""
    return "\n".join([f'<section>\n<h2 dir="auto">{escape(heading)}</h2>', *parts, "</section>"])


def table_html(table: Table, name: str) -> str:
    """A table; `name` is for those who do not see where it stands. Columns of names run as text does."""
    head, *rows = table
    kinds = [' class="name"' if title in NAMES else "" for title in head]
    top = "".join(
        f'<th scope="col" dir="auto"{kind}>{_label(cell)}</th>' for cell, kind in zip(head, kinds, strict=True)
    )
    body = "".join(
        f'<tr><th scope="row" dir="auto">{_label(first)}</th>{"".join(map(_cell, rest, kinds[1:]))}</tr>'
        for first, *rest in rows
    )
    return _wide(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>", name)


def _label(text: str) -> str:
    """A name that may be broken within a setting or a path: attend.score=dot."""
    return re.sub(r"([=./_-])", r"\1<wbr>", escape(text))


def _cell(text: str, kind: str) -> str:
    """A cell that may be broken before a deviation, an interval and a p, and nowhere else."""
    parts = re.split(r" (?=\[|\(|p =|±)", text)
    return f"<td{kind}>{' '.join(f'<span>{escape(part)}</span>' for part in parts)}</td>"


def pictures_html(pictures: Mapping[str, Path]) -> str:
    """Drawn figures beside one another, each with the words for those who do not see it."""
    images = [
        f'<img alt="{escape(told)}" src="data:{KINDS[path.suffix]};base64,'
        f'{base64.b64encode(path.read_bytes()).decode("ascii")}">'
        for told, path in pictures.items()
    ]
    return f'<div class="pictures">{"".join(images)}</div>'


def text_html(text: str, name: str) -> str:
    """Text as it was written, line by line; `name` as of a table."""
    return _wide(f"<pre>{escape(text)}</pre>", name)


def sentences_html(sentences: Sequence[tuple[str, str, Mapping[str, Translation]]]) -> list[str]:
    """Sentences, each with its reference and what each arm, by its label, wrote and looked at."""
    count = sum(each.record is not None for *_, found in sentences for each in found.values())
    told = [
        f"<h3>Sentence {number}</h3>\n{_written(source, reference, found)}\n"
        f"{_figures(source, found, MOST // max(1, count))}"
        for number, (source, reference, found) in enumerate(sentences, 1)
    ]
    return [SWITCHES, *told] if count else told


def answers_html(sentences: Sequence[tuple[str, str, Mapping[str, str]]]) -> list[str]:
    """Sentences, each with its reference and what each arm, by its label, answered."""
    return [
        f"<h3>Sentence {number}</h3>\n{_listed(source, reference, found)}"
        for number, (source, reference, found) in enumerate(sentences, 1)
    ]


def generated_html(number: int, found: Mapping[str, Samples], records: Mapping[str, Record], most: int) -> str:
    """What each arm wrote after a prompt, and what those that attend looked back at in a text, as text is read.

    Pages need the style of `samples`; `most` is how many values of a figure may be written in full.
    """
    documents = [
        record_document(each, label, most=most) | {"model": label, "title": label} for label, each in records.items()
    ]
    drawn = figures_html(page_of(documents, view="text"), LEVEL) if documents else ""
    table = _wide(samples_html(found), f"Samples of text {number}")
    return f"<h3>Text {number}</h3>\n{table}\n{drawn}"


def seen_html(sentences: Sequence[tuple[str, Mapping[str, Drawable]]]) -> list[str]:
    """Sentences, each with what each arm, by its label, answered and looked at; pages need the style of `answers`."""
    told = []
    for number, (source, found) in enumerate(sentences, 1):
        arms = "\n".join(
            f'<div><h4 dir="auto">{escape(label)}</h4>\n{answer_html(each, 5)}</div>' for label, each in found.items()
        )
        told.append(
            f'<h3>Sentence {number}</h3>\n<p class="quiet" dir="auto">{escape(source)}</p>\n'
            f'<div class="figures texts">\n{arms}\n</div>'
        )
    return told


def _wide(markup: str, name: str) -> str:
    """What scrolls by itself where it is wider than the page, by keys too."""
    return f'<div class="wide" role="region" aria-label="{escape(name)}" tabindex="0">{markup}</div>'


def _written(source: str, reference: str, found: Mapping[str, Translation]) -> str:
    """All that was written, one below the other."""
    blind = [label for label, each in found.items() if each.record is None]
    return _listed(source, reference, {label: each.text for label, each in found.items()}, blind)


def _listed(source: str, reference: str, found: Mapping[str, str], blind: Sequence[str] = ()) -> str:
    """Texts below one another, each after its name; it is said of the `blind` that they do not attend."""
    note = ' <span class="quiet">It does not attend.</span>'
    lines = [("source", escape(source)), ("reference", escape(reference))]
    lines += [(label, escape(text) + (note if label in blind else "")) for label, text in found.items()]
    entries = "".join(f'<dt dir="auto">{escape(name)}</dt><dd dir="auto">{told}</dd>' for name, told in lines)
    return f'<dl class="written">{entries}</dl>'


def _figures(source: str, found: Mapping[str, Translation], most: int) -> str:
    """What the arms looked at that attend; nothing where none does."""
    documents = [
        record_document(each.record, label, most=most) | {"model": label}
        for label, each in found.items()
        if each.record is not None
    ]
    return figures_html(page_of(documents, source), LEVEL) if documents else ""
