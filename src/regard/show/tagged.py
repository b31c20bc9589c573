"""A text with a tag for every word: in the terminal, on a page, and as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from rich.cells import cell_len

from regard.errors import ShapeError
from regard.show.labels import cut, isolate
from regard.show.shaded import RIGHT, WRONG, broken, is_leftward, percent
from regard.show.shaded_figure import BAD as WARM
from regard.show.shaded_figure import EDGE, GOOD, LARGE, POINTS, QUIET, SMALL, Pen
from regard.show.shaded_figure import WIDTH as INCHES
from regard.show.shaded_text import BAD, PALE
from regard.show.terminal import PLAIN, WIDTH

LONGEST, GAP = 40, 0.14  # letters of a word in a figure, and inches between two
UNSURE = 0.5  # a tag of a lower probability is marked as a guess
STYLE = """
.tags { display: flex; flex-wrap: wrap; gap: 0.7rem 0.8rem; margin: 0.6rem 0 1rem; }
.tags div { display: grid; justify-items: center; overflow-wrap: anywhere; }
.tags b { font-weight: 400; font-size: 1.02rem; }
.tags i { font-style: normal; font-size: 0.78rem; color: var(--accent); font-variant-numeric: tabular-nums; }
.tags .unsure i { color: var(--quiet); text-decoration: underline dotted; }
.tags .wrong i { color: var(--warm); font-weight: 600; }
"""


@dataclass(frozen=True)
class TaggedText:
    """Words, the tag of each and its probability, and the right tags where they are known."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]
    right: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, found in (("tags", self.tags), ("probabilities", self.probabilities), ("right", self.right)):
            if found is not None and len(found) != len(self.words):
                raise ShapeError(f"{name}: expected one for each of {len(self.words)} words; found {len(found)}.")

    @property
    def probability(self) -> float:
        """The mean over the words."""
        return sum(self.probabilities) / max(1, len(self.probabilities))

    @property
    def is_right(self) -> bool | None:
        """Whether all tags are right; nothing where that is not known."""
        return None if self.right is None else self.tags == self.right

    def is_wrong(self, place: int) -> bool:
        """Is this tag known to be wrong?"""
        return self.right is not None and self.tags[place] != self.right[place]

    def told(self, place: int) -> str:
        """The tag of a word, and the right one where it is another."""
        return (
            f"{self.tags[place]} {WRONG} {self.right[place]}"
            if self.right and self.is_wrong(place)
            else self.tags[place]
        )

    def verdict(self) -> str:
        """How many tags are right, and how sure they are."""
        sure = f"mean probability {percent(self.probability)}"
        if self.right is None:
            return sure
        hits = sum(not self.is_wrong(place) for place in range(len(self.words)))
        return f"{RIGHT if self.is_right else WRONG} {hits} of {len(self.words)} tags are right; {sure}"


def tagged_text(tagged: TaggedText, width: int = WIDTH, *, colour: bool = False) -> str:
    """Words in lines, each above its tag."""
    words = [isolate(cut(word, width)) for word in tagged.words]
    tags = [cut(tagged.told(place), width) for place in range(len(words))]
    widths = [max(cell_len(word), cell_len(tag)) for word, tag in zip(words, tags, strict=True)]
    lines = []
    for line in broken(widths, [2] * len(words), width):
        above = "  ".join(words[place] + " " * (widths[place] - cell_len(words[place])) for place in line)
        below = []
        for place in line:
            gap = " " * (widths[place] - cell_len(tags[place]))
            style = (BAD if tagged.is_wrong(place) else PALE) if colour else ""
            below.append(f"{style}{tags[place]}{PLAIN if colour else ''}{gap}")
        lines += [above.rstrip(), "  ".join(below).rstrip(), ""]
    return "\n".join([*lines, tagged.verdict()])


def tagged_html(tagged: TaggedText, level: int = 2) -> str:
    """One text, as a part of a page whose style has that of this module."""
    cells = []
    for place, word in enumerate(tagged.words):
        sure = tagged.probabilities[place]
        kinds = [*(["wrong"] if tagged.is_wrong(place) else []), *(["unsure"] if sure < UNSURE else [])]
        named = f' class="{" ".join(kinds)}"' if kinds else ""
        tag = f"<i>{escape(tagged.told(place))}</i>"
        cells.append(f'<div{named} title="{percent(sure)}"><b dir="auto">{escape(word)}</b>{tag}</div>')
    kind = {True: " good", False: " bad", None: ""}[tagged.is_right]
    heading = f'<h{level} class="title verdict{kind}">{escape(tagged.verdict())}</h{level}>'
    return f'<section class="figure">\n{heading}\n<div class="tags">{"".join(cells)}</div>\n</section>'


def plot_tagged(tagged: TaggedText, title: str = "") -> Any:
    """A new figure: words in lines, each above its tag."""
    told = [tagged.told(place) for place in range(len(tagged.words))]
    pen = Pen.new((*tagged.words, *told), title)
    colour = {True: GOOD, False: WARM, None: "black"}[tagged.is_right]
    pen.parts(tagged.verdict().split(), LARGE, weight="bold", color=colour)
    words = [cut(word, LONGEST) for word in tagged.words]
    widths = [max(pen.width(word), pen.width(tag, SMALL, weight="bold")) for word, tag in zip(words, told, strict=True)]
    leftward = is_leftward(words)
    for line in broken(widths, [GAP] * len(words), INCHES - 2 * EDGE):
        pen.down(2.4 * POINTS)
        x = EDGE
        for place in line:
            middle = (INCHES - x if leftward else x) + (-1 if leftward else 1) * widths[place] / 2
            pen.write(middle, words[place], ha="center")
            pen.down(1.3 * SMALL)
            style = {"color": WARM, "weight": "bold"} if tagged.is_wrong(place) else {"color": QUIET}
            pen.write(middle, told[place], SMALL, ha="center", **style)
            pen.down(-1.3 * SMALL)
            x += widths[place] + GAP
    pen.down(3 * SMALL)
    return pen.done()
