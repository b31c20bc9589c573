"""Classified texts as a figure: lines of words on shades of blue, the answer above them, the likeliest classes beside.

Everything is placed by hand, in inches from the top left, for a figure has no notion of a paragraph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.errors import UsageError
from regard.show.canvas import new_figure
from regard.show.fonts import families
from regard.show.labels import cut, readable
from regard.show.shaded import Shaded, broken, gaps, is_leftward, percent, seen_order

WIDTH, EDGE = 8.0, 0.3  # inches
POINTS, SMALL, LARGE = 10.0, 8.0, 12.0  # of letters
INCH = 72.0
LEADING = 1.9  # heights of letters from one line of words to the next: boxes must not touch
BLUE = np.array([0.0, 0.447, 0.698])  # Okabe and Ito's
GOOD, BAD, QUIET, CLOSED = "#00704F", "#B4500B", "0.35", "0.62"
BAR = 2.0  # inches of a bar that says 100 %
LONGEST, LETTERS = 40, 60  # letters of a word, and of a part of a heading


def plot_shaded(examples: Sequence[Shaded], title: str = "") -> Any:
    """A new figure of some texts, one below the other, as high as they need."""
    if not examples:
        raise UsageError("a figure: expected at least one example; found none.")
    texts = [
        text for each in examples for text in (*each.words, *each.classes, each.answer, each.right or "", each.note)
    ]
    pen = Pen.new(texts, title)
    for each in examples:
        _draw(pen, each)
    return pen.done()


@dataclass
class Pen:
    """Where the next thing is drawn, and how wide things are."""

    axes: Any
    fonts: list[str]
    y: float = EDGE
    widths: dict[tuple[str, float], float] = field(default_factory=dict)

    @classmethod
    def new(cls, texts: Sequence[str], title: str = "") -> Pen:
        """On a new figure that is to hold these texts, below its title."""
        figure = new_figure(WIDTH, 1.0)
        figure.set_layout_engine("none")  # everything has its place already
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        pen = cls(axes, families((*texts, title)))
        if title:
            pen.parts(readable(title).split(), LARGE, weight="bold")
        return pen

    def done(self) -> Any:
        """The figure, as high as what was drawn needs."""
        height = self.y + EDGE / 2
        self.axes.figure.set_size_inches(WIDTH, height)
        self.axes.set(xlim=(0, WIDTH), ylim=(height, 0))
        return self.axes.figure

    def width(self, text: str, points: float = POINTS, **style: Any) -> float:
        """Inches."""
        if (text, points) not in self.widths:
            figure = self.axes.figure
            drawn = self.write(0.0, text, points, **style)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing")  # told once, in words, by `fonts`
                box = drawn.get_window_extent()
            drawn.remove()
            self.widths[text, points] = box.width / figure.dpi
        return self.widths[text, points]

    def write(self, x: float, text: str, points: float = POINTS, **style: Any) -> Any:
        """Text that stands on this line, from `x` on."""
        style = {"va": "baseline", "parse_math": False, "fontfamily": self.fonts, "fontsize": points, **style}
        return self.axes.text(x, self.y, text, **style)

    def parts(self, parts: Sequence[str], points: float, **style: Any) -> None:
        """Parts of text in lines from left to right, each in its own direction, and a little room."""
        shown = [cut(part, LETTERS) for part in parts]
        widths, space = [self.width(part, points, **style) for part in shown], self.width("n", points) * 0.6
        for line in broken(widths, [space] * len(shown), WIDTH - 2 * EDGE):
            self.down(1.35 * points)
            x = EDGE
            for place in line:
                self.write(x, shown[place], points, **style)
                x += widths[place] + space
        self.down(0.5 * points)

    def down(self, points: float) -> None:
        """Go down."""
        self.y += points / INCH

    def box(self, x: float, width: float, **style: Any) -> None:
        """A box behind the words of this line."""
        from matplotlib.patches import Rectangle

        height = 1.45 * POINTS / INCH
        self.axes.add_patch(Rectangle((x, self.y - 0.72 * height), width, height, zorder=0.5, **style))


def _draw(pen: Pen, shaded: Shaded) -> None:
    pen.down(LARGE)
    colour = {True: GOOD, False: BAD, None: "black"}[shaded.is_right]
    pen.parts(shaded.heading(), LARGE, weight="bold", color=colour)
    _bars(pen, shaded)
    for query in range(len(shaded.weights)):
        pen.parts(shaded.key(query), SMALL, color=QUIET)
        _words(pen, shaded, shaded.shades(query))
    if not len(shaded.weights):
        _words(pen, shaded, np.zeros(len(shaded.words)))
    for told in shaded.remarks():
        pen.parts(readable(told).split(), SMALL, color=QUIET)


def _bars(pen: Pen, shaded: Shaded) -> None:
    from matplotlib.patches import Rectangle

    rows = [(cut(name, LONGEST), share) for name, share in shaded.likeliest()]
    margin = EDGE + max((pen.width(name, SMALL) for name, _ in rows), default=0.0) + 0.1
    for name, share in rows:
        pen.down(1.5 * SMALL)
        pen.write(margin - 0.1, name, SMALL, ha="right")
        place = (margin, pen.y - 0.75 * SMALL / INCH)
        for width, colour in ((BAR, "0.93"), (BAR * share, BLUE)):
            pen.axes.add_patch(Rectangle(place, width, 0.8 * SMALL / INCH, color=colour, linewidth=0))
        pen.write(margin + BAR + 0.1, percent(share), SMALL, color=QUIET)
    if rows:
        pen.down(0.7 * SMALL)


def _words(pen: Pen, shaded: Shaded, shades: Float[np.ndarray, " S"]) -> None:
    def dress(place: int) -> Dress:
        is_open, shade = bool(shaded.is_open[place]), float(shades[place])
        boxed = shaded.gates is not None and is_open
        return Dress(colour_of(shade), CLOSED if not is_open else ink_on(shade), edge=boxed, empty=shade <= 0.02)

    draw_words(pen, shaded.words, dress, leftward=is_leftward(shaded.words))
    pen.down(POINTS)


@dataclass(frozen=True)
class Dress:
    """How a word looks: the colour behind it, unless it is empty, a box around it, and its ink."""

    fill: Any
    ink: str
    edge: bool = False
    empty: bool = False


def draw_words(pen: Pen, words: Sequence[str], dress: Callable[[int], Dress], *, leftward: bool) -> None:
    """Words in lines, as they are read, each dressed by its place."""
    pad = 0.03
    shown = [cut(word, LONGEST) for word in words]
    widths = [pen.width(word) + 2 * pad for word in shown]
    before = [pen.width("n") * 0.3 if space else 0.01 for space in gaps(words)]
    for line in broken(widths, before, WIDTH - 2 * EDGE):
        pen.down(LEADING * POINTS)
        for place, x in _placed(line, shown, widths, before, leftward):
            look = dress(place)
            edge = "black" if look.edge else "none"
            if not look.empty or look.edge:
                pen.box(x, widths[place], facecolor=look.fill, edgecolor=edge, linewidth=0.7)
            pen.write(x + pad, shown[place], color=look.ink)


def _placed(
    line: Sequence[int], words: Sequence[str], widths: Sequence[float], before: Sequence[float], leftward: bool
) -> Iterator[tuple[int, float]]:
    """The words of a line, as they stand from left to right, and where each begins."""
    order = [line[place] for place in seen_order([words[place] for place in line], leftward)]
    # What stands between two words belongs to the later of them.
    between = [before[max(pair)] for pair in pairwise(order)]
    whole = sum(widths[place] for place in order) + sum(between)
    x = WIDTH - EDGE - whole if leftward else EDGE
    for place, gap in zip(order, [*between, 0.0], strict=True):
        yield place, x
        x += widths[place] + gap


def ink_on(shade: float) -> str:
    """What is read on a shade."""
    return "white" if shade > 0.75 else "black"


def colour_of(shade: float) -> tuple[float, float, float]:
    """Blue, from none of it to all."""
    red, green, blue = (1 - shade * (1 - BLUE)).tolist()
    return red, green, blue
