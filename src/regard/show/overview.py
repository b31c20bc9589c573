"""A page of what a model did on a test set: a right and a wrong answer, and pictures of what was measured."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from regard.evaluate import Report
from regard.show.answers import STYLE, Drawable, answer_html
from regard.show.captioned import Captioned
from regard.show.confusion import draw_confusion
from regard.show.page import frame_html
from regard.show.place import fresh_file
from regard.show.reliability import draw_reliability

LAYOUT = """
h2.part { font-size: 1.25rem; font-weight: 600; margin: 2.4rem 0 0.8rem; }
.pictures { display: flex; flex-wrap: wrap; gap: 1.6rem; align-items: start; }
.pictures img { max-width: min(100%, 27rem); background: white; border-radius: 12px; }
.wide { overflow-x: auto; }
.wide pre { padding: 1rem; margin: 0; font-size: 0.86rem; }
"""


def overview_html(report: Report, answers: Sequence[Drawable], title: str = "") -> str:
    """One page: scores, answers, confusions, calibration and scores by length, as far as there are any."""
    title = title or report.title
    figures, pictures = "\n".join(answer_html(each, 3) for each in answers), _pictures(report)
    parts = [
        f'<header>\n<h1 dir="auto">{escape(title)}</h1>\n</header>\n<main>',
        f'<div class="wide" role="region" aria-label="Scores" tabindex="0"><pre>{escape(_scores(report))}</pre></div>',
        f'<h2 class="part">{_named(answers)}</h2>\n<div class="figures texts">\n{figures}\n</div>' if answers else "",
        f'<h2 class="part">What was measured</h2>\n<div class="pictures">{pictures}</div>' if pictures else "",
        "</main>",
    ]
    return frame_html(title, "\n".join(filter(None, parts)), STYLE + LAYOUT)


def _named(answers: Sequence[Drawable]) -> str:
    """What the answers are: of images that several people described, none is right or wrong."""
    if any(isinstance(each, Captioned) and each.references for each in answers):
        return "Captions nearest to what people wrote, then those farthest from it"
    return "Answers, right and wrong"


def save_overview(report: Report, answers: Sequence[Drawable], path: Path, title: str = "") -> Path:
    """Write the page; a crash leaves the old file or the new one."""
    text = overview_html(report, answers, title)
    with fresh_file(path) as draft:
        draft.write_text(text, encoding="utf-8", errors="surrogatepass", newline="\n")
    return path


def _scores(report: Report) -> str:
    told = [f"{each.name}  {each.value:.1f}  [{each.low:.1f}, {each.high:.1f}]" for each in report.scores]
    return "\n".join([*told, *report.notes])


def _pictures(report: Report) -> str:
    """Those that a report has, drawn and put into the page."""
    with TemporaryDirectory() as place:
        folder, drawn = Path(place), {}
        if report.confusion is not None:
            drawn["Which classes are taken for which"] = draw_confusion(report.confusion, folder / "confusion.png")
        if report.calibration is not None:
            drawn["How sure, and how often right"] = draw_reliability(report.calibration, folder / "sure.png")
        if report.lengths:
            drawn[f"{report.lengths[0].score.name} by source length"] = report.figure(folder / "lengths.png")
        return "".join(_image(path, told) for told, path in drawn.items())


def _image(path: Path, told: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f'<img alt="{escape(told)}" src="data:image/png;base64,{data}">'
