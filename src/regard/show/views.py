"""The one door to every view: what a person asked to see, as text, as a file, or inside a notebook."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from regard.align.alignment import Alignment
from regard.align.record import Record
from regard.errors import UnknownName
from regard.show.canvas import ENDINGS, check_name, write_figure
from regard.show.document import alignment_document, page_of, record_document
from regard.show.labels import runs_left
from regard.show.place import fresh_file
from regard.show.reading import heads_text, lines_text, sentence_text
from regard.show.samples import STYLE as SAMPLES_STYLE
from regard.show.samples import Samples, samples_html
from regard.show.strip import Strip, read_back
from regard.show.terminal import WIDTH, listing, sentence, table

VIEWS = ("matrix", "lines", "heads", "text")
FILES = (".html", *ENDINGS, ".json", ".csv", ".txt")
HONEST = "Attention shows where the model looked, not why."


@dataclass(frozen=True)
class View:
    """What to show of a record: a view, of one kind of attention, layer and heads (the aligner's where not said)."""

    view: str = "matrix"
    kind: str | None = None
    layer: int | None = None
    heads: tuple[int, ...] | None = None
    pieces: bool = False
    title: str = ""

    def __post_init__(self) -> None:
        if self.view not in VIEWS:
            raise UnknownName("view", self.view, VIEWS)

    @property
    def opens(self) -> str:
        """What a page opens with, where it is not what a page always opens with."""
        return "" if self.view == VIEWS[0] else self.view

    def of(self, record: Record) -> Alignment:
        """The alignment that was asked for; as text, as it is read."""
        found = read_back if self.view == "text" else Record.alignment
        return found(record, self.kind, self.layer, self.heads, pieces=self.pieces)


# --- text --------------------------------------------------------------------------------------------------


def alignment_text(alignment: Alignment, width: int = WIDTH) -> str:
    """The matrix and where it was read from."""
    note = f"\n\nread from {alignment.note}" if alignment.note else ""
    return table(alignment, width) + note


def record_text(record: Record, view: View, width: int = WIDTH, *, colour: bool = False) -> str:
    """Both sentences, the view that was asked for, what it was read from, and how far to believe it."""
    alignment = view.of(record)
    body = {
        "matrix": lambda: table(alignment, width, colour=colour),
        "lines": lambda: lines_text(alignment, width),
        "heads": lambda: heads_text(record, alignment.kind, width),
        "text": lambda: sentence_text(alignment, width, colour=colour),
    }[view.view]()
    return "\n\n".join([_head(record, width), body, "\n".join(_foot(record, alignment, view, width))])


def compare_text(one: Record, other: Record, view: View, width: int = WIDTH, *, colour: bool = False) -> str:
    """Two records, one after the other, each under the name of its model."""
    return "\n\n".join(f"{name}\n\n{record_text(record, view, width, colour=colour)}"
                       for name, record in zip(names(one, other), (one, other), strict=True))  # fmt: skip


def _head(record: Record, width: int) -> str:
    """What was read and what was written."""
    if not record.source.text:
        return sentence(record.target.text, width)
    source, target = sentence(record.source.text, width), sentence(record.target.text, width)
    if runs_left(source + target):
        return f"{source}\n  ->\n{target}"
    return listing([*source.split(), "", "->", "", *target.split()], width, " ")


def _foot(record: Record, alignment: Alignment, view: View, width: int) -> list[str]:
    note = listing(f"read from {alignment.note}".split(), width, " ")
    if alignment.kind != "cross" or view.pieces:
        return [note, HONEST]
    evidence = [f"{name} {measure}" for name, measure in alignment.evidence.named().items()]
    return [note, listing(evidence, width), HONEST]


# --- files -------------------------------------------------------------------------------------------------


def save_alignment(alignment: Alignment, path: Path, title: str = "") -> Path:
    """Write an alignment as the kind of file that its name asks for."""
    ending = check_name(path, FILES)
    if ending == ".html":
        return _write_page(page_of([alignment_document(alignment, title)]), path)
    if ending in ENDINGS:
        return _draw(alignment, path, "matrix", title)
    return _write(path, {
        ".json": lambda: _json(_plain(alignment)),
        ".csv": alignment.to_csv,
        ".txt": lambda: alignment_text(alignment) + "\n",
    }[ending]())  # fmt: skip


def save_record(record: Record, path: Path, title: str = "", view: View | None = None) -> Path:
    """Write a record as the kind of file that its name asks for: a page has every view, the others the one asked."""
    ending, view = check_name(path, FILES), view or View()
    if ending == ".html":
        return _write_page(page_of([_document(record, view, title)], view=view.opens), path)
    if ending in ENDINGS and view.view == "heads":
        from regard.show.heads import draw_heads

        return draw_heads(record, path, view.kind or record.aligner.kind, title, pieces=view.pieces)
    if ending in ENDINGS:
        return _draw(view.of(record), path, view.view, title)
    if ending == ".txt":
        return _write(path, record_text(record, view) + "\n")
    return save_alignment(view.of(record), path, title)


def save_records(records: list[Record], path: Path, view: View) -> Path:
    """Write many sentences: the figures of one page."""
    check_name(path, (".html",))
    return _write_page(page_of([_document(each, view, "") for each in records], view=view.opens), path)


def save_compare(one: Record, other: Record, path: Path, title: str = "", view: View | None = None) -> Path:
    """Write two models side by side: a page, a figure, or the text of both."""
    ending, view = check_name(path, (".html", *ENDINGS, ".json", ".txt")), view or View()
    pair = view.of(one), view.of(other)
    if ending == ".html":
        figures = [_document(each, view, name) for each, name in zip((one, other), names(one, other), strict=True)]
        return _write_page(page_of(figures, title or one.source.text or one.target.text, view.opens), path)
    if ending in ENDINGS:
        from regard.show.compare import draw_compare

        return draw_compare(*pair, path, names(one, other), title)
    if ending == ".txt":
        return _write(path, compare_text(one, other, view) + "\n")
    return _write(path, _json(dict(zip(names(one, other), map(_plain, pair), strict=True))))


def names(one: Record, other: Record) -> tuple[str, str]:
    """What to call two models, which may have one name, or none."""
    if one.model and other.model and one.model != other.model:
        return one.model, other.model
    return f"{one.model or 'model'} (first)", f"{other.model or 'model'} (second)"


def _draw(alignment: Alignment, path: Path, view: str, title: str) -> Path:
    if view == "matrix":
        from regard.show.matrix import draw_matrix

        return draw_matrix(alignment, path, title)
    if view == "lines":
        from regard.show.lines import draw_lines

        return draw_lines(alignment, path, title)
    from regard.show.strip_figure import plot_strip

    return write_figure(plot_strip(Strip.of(alignment), title), path)


def _document(record: Record, view: View, title: str) -> dict[str, Any]:
    return record_document(record, title, record.reader(view.kind, view.layer, view.heads))


def _plain(alignment: Alignment) -> dict[str, Any]:
    """An alignment with its evidence, for other programs."""
    told = alignment.to_json()
    if alignment.kind == "cross":
        measures = alignment.evidence.named().items()
        told["evidence"] = {name: {"value": each.value, "share": each.share} for name, each in measures}
    return told


def _json(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False) + "\n"


def save_samples(samples: Samples, record: Record | None, path: Path, name: str, view: View) -> Path:
    """Write a page of what a language model wrote and, where it attends, what it looked back at in the prompt."""
    from regard.show.page import SWITCHES, figures_html, frame_html

    title = f"What {name or 'the model'} writes" + (" and looked at" if record else "")
    page = page_of([_document(record, view, "")], title, view.opens) if record else None
    heading = f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n{SWITCHES if page else ""}\n</header>'
    written = (
        f'<section class="figure written">\n<h2 class="title">Samples</h2>\n{samples_html({name: samples})}\n</section>'
    )
    body = f"{heading}\n<main>\n{written}\n{figures_html(page) if page else ''}\n</main>"
    return _write(path, frame_html(title, body, SAMPLES_STYLE))


def write_text(path: Path, text: str) -> Path:
    """Write what a terminal shows to a file."""
    return _write(path, text + "\n")


def _write(path: Path, text: str) -> Path:
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass")
    return path


def _write_page(page: dict[str, Any], path: Path) -> Path:
    from regard.show.page import write_page

    return write_page(page, path)


# --- notebooks ---------------------------------------------------------------------------------------------


def embed_alignment(alignment: Alignment) -> str:
    """An alignment as a notebook shows it."""
    from regard.show.page import embed_html

    return embed_html(page_of([alignment_document(alignment)]), _height(alignment))


def embed_record(record: Record) -> str:
    """A record as a notebook shows it."""
    from regard.show.page import embed_html

    return embed_html(page_of([record_document(record)]), _height(record.alignment()))


def _height(alignment: Alignment) -> int:
    """Pixels that let most matrices be seen whole, where the frame cannot be fitted to its page."""
    return 620 + min(576, 30 * len(alignment.target))
