"""Classified texts as one HTML file that needs nothing else, and works without scripts: words on shades of colour.

The frame, its look and its policy are those of `page`. No element has a style of its own, which the policy would not
let through: shades are classes, twenty steps of them. All text is escaped.
"""

from __future__ import annotations

from html import escape

import numpy as np
from jaxtyping import Float

from regard.show.page import frame_html
from regard.show.shaded import RIGHT, WRONG, Answered, Shaded, gaps, percent

TITLE = "What the model looked at"
STEPS = 20
LINE, HEAD, ABREAST, TALLEST = 32, 7, 14, 1200  # pixels of a line, lines above the words, words in one, pixels in all
# From which share of the colour on the ink is turned, on light and on dark paper: contrast is then never below 4.5.
DARK_INK, LIGHT_INK = 0.8, 0.55
STYLE = """
.texts { align-items: start; }
.shaded.embedded .title { position: static; clip-path: none; width: auto; height: auto; } /* it is the answer */
.words { line-height: 2; font-size: 1.02rem; margin: 0.3rem 0 1rem; overflow-wrap: anywhere; }
.words span { padding: 0.12em 0.14em; margin: 0 -0.06em; border-radius: 4px; box-decoration-break: clone;
  -webkit-box-decoration-break: clone; border: 1px solid transparent; }
.words span.open { border-color: light-dark(#1d2127, #e9e7e2); }
.words span.closed { color: light-dark(#70777f, #868c96); }
.verdict { font-weight: 600; }
.verdict.good { color: light-dark(#00704f, #5fd3a8); }
.verdict.bad { color: var(--warm); }
.bars { border-collapse: collapse; margin: 0.8rem 0 1rem; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
.bars th { font-weight: 400; text-align: start; padding: 0 0.9rem 0 0; max-width: 16rem; overflow-wrap: anywhere; }
.bars td { padding: 0 0.9rem 0 0; text-align: end; }
.bars svg { display: block; width: 11rem; height: 0.7rem; background: var(--rule); border-radius: 3px; }
.bars rect { fill: var(--accent); }
.bars .answered { font-weight: 600; }
"""


def embedded(body: str, style: str, lines: float) -> str:
    """A body of about so many lines inside another page, in a frame that can reach nothing around it."""
    inner = frame_html(TITLE, body, style, kind="embedded shaded")
    height = min(TALLEST, round(LINE * (lines + 2)))
    return (
        f'<iframe title="{TITLE}" sandbox width="100%" height="{height}" style="border: 0" '
        f'srcdoc="{escape(inner)}"></iframe>'
    )


def example_html(shaded: Shaded, level: int = 2) -> str:
    """One text, as a part of a page whose style has that of this module; its heading is of `level`."""
    parts = heading_html(shaded, level)
    if len(shaded.weights):
        for query in range(len(shaded.weights)):
            parts += [f'<p class="caption">{_key(shaded, query)}</p>', _words(shaded, query)]
    else:
        parts.append(_words(shaded, None))
    parts += [f'<p class="note" dir="auto">{escape(told)}</p>' for told in shaded.remarks()]
    return "\n".join(['<section class="figure">', *filter(None, parts), "</section>"])


def heading_html(answered: Answered, level: int = 2) -> list[str]:
    """The answer, whether it is right, and the likeliest classes."""
    title = f'<h{level} class="title"><bdi>{escape(answered.answer)}</bdi>{_sure(answered)}</h{level}>'
    return [title, _verdict(answered), _bars(answered)]


def shades_css() -> str:
    """Twenty steps from the paper to full colour, each with the ink that is read on it."""
    rules = []
    for step in range(1, STEPS + 1):
        share = step / STEPS
        light, dark = "#000" if share <= DARK_INK else "#fff", "#fff" if share <= LIGHT_INK else "#000"
        colour = f"color-mix(in oklab, var(--accent) {100 * share:.0f}%, var(--sheet))"
        rules.append(f".s{step} {{ background: {colour}; color: light-dark({light}, {dark}); }}")
    return "\n".join([*rules, ""])


def shade_class(shade: float) -> str:
    """The class of a shade from 0 to 1; none for next to nothing."""
    step = round(STEPS * shade)
    return f"s{step}" if step else ""


def _sure(shaded: Answered) -> str:
    return "" if shaded.probability is None else f" {percent(shaded.probability)}"


def _verdict(shaded: Answered) -> str:
    if shaded.is_right is None:
        return ""
    if shaded.is_right:
        return f'<p class="verdict good">{RIGHT} right</p>'
    return f'<p class="verdict bad">{WRONG} wrong; right is <bdi>{escape(str(shaded.right))}</bdi></p>'


def _bars(shaded: Answered) -> str:
    rows = []
    for name, share in shaded.likeliest():
        kind = ' class="answered"' if name == shaded.answer else ""
        cells = f'<th scope="row" dir="auto">{escape(name)}</th><td>{percent(share)}</td><td>{bar_html(share)}</td>'
        rows.append(f"<tr{kind}>{cells}</tr>")
    if not rows:
        return ""
    return f'<table class="bars" aria-label="The likeliest classes"><tbody>{"".join(rows)}</tbody></table>'


def bar_html(share: float) -> str:
    """A bar that is full at 1."""
    rectangle = f'<rect width="{100 * share:.2f}" height="1"/>'
    return f'<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">{rectangle}</svg>'


def _key(shaded: Shaded, query: int) -> str:
    return " ".join(f"<bdi>{escape(part)}</bdi>" for part in shaded.key(query))


def _words(shaded: Shaded, query: int | None) -> str:
    shades: Float[np.ndarray, " S"] = np.zeros(len(shaded.words)) if query is None else shaded.shades(query)
    spans = []
    for place, (word, space) in enumerate(zip(shaded.words, gaps(shaded.words), strict=True)):
        gate = "" if shaded.gates is None else "open" if shaded.is_open[place] else "closed"
        kinds = " ".join(filter(None, (gate, shade_class(float(shades[place])))))
        weight = "" if query is None else f' title="{shaded.weights[query, place]:.3f}"'
        named = f' class="{kinds}"' if kinds else ""
        spans.append(f"{' ' if space else ''}<span{named}{weight}>{escape(word)}</span>")
    return f'<p class="words" dir="auto">{"".join(spans)}</p>'
