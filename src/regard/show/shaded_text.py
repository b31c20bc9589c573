"""A classified text in the terminal: words on shades of grey or, without colours, above blocks that are shaded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from rich.cells import cell_len

from regard.show.labels import cut, isolate, readable, runs_left
from regard.show.reading import GREYS
from regard.show.shaded import Shaded, broken, gaps, percent
from regard.show.terminal import PLAIN, SHADES, WIDTH, listing

PALE, GOOD, BAD = "\x1b[2m", "\x1b[1;32m", "\x1b[1;31m"
TURNED, RELEASE = "\u2067", "\u2069"  # between them, blocks run from right to left, as the words above them
BAR = 30  # cells of a bar that says 100 %
NAME = 24  # cells of a class's name


def shaded_text(shaded: Shaded, width: int = WIDTH, *, colour: bool = False) -> str:
    """The answer, the likeliest classes, and the text once for each query, in lines of at most `width` cells."""
    parts = [_heading(shaded, width, colour), _bars(shaded, width)]
    if len(shaded.weights):
        parts += [_passage(shaded, query, width, colour) for query in range(len(shaded.weights))]
    else:
        parts.append("\n".join(_lines(shaded, np.zeros(len(shaded.words)), width, colour)))
    darker = ["Darker is more weight."] if len(shaded.weights) else []
    parts.append("\n".join(listing(readable(told).split(), width, " ") for told in [*darker, *shaded.remarks()]))
    return "\n\n".join(part for part in parts if part)


def _heading(shaded: Shaded, width: int, colour: bool) -> str:
    told = _parts(shaded.heading(), width)
    if not colour or shaded.is_right is None:
        return told
    return f"{GOOD if shaded.is_right else BAD}{told}{PLAIN}"


def _parts(parts: Sequence[str], width: int) -> str:
    """Parts in lines, each in its own direction; of a part that runs from left to right, word by word."""
    words = [word for part in parts for word in ([part] if runs_left(part) else part.split(" "))]
    return listing([isolate(cut(word, width)) for word in words], width, " ")


def _bars(shaded: Shaded, width: int) -> str:
    rows = [(isolate(cut(name, NAME)), share) for name, share in shaded.likeliest()]
    margin = max((cell_len(name) for name, _ in rows), default=0)
    room = max(1, min(BAR, width - margin - 10))
    return "\n".join(
        f"{name}{' ' * (margin - cell_len(name))}  {percent(share):>7}  {'█' * round(room * share)}".rstrip()
        for name, share in rows
    )


def _passage(shaded: Shaded, query: int, width: int, colour: bool) -> str:
    told = _parts(shaded.key(query), width)
    return "\n".join([told, *_lines(shaded, shaded.shades(query), width, colour)])


def _lines(shaded: Shaded, shades: Float[np.ndarray, " S"], width: int, colour: bool) -> list[str]:
    """The words in lines; without colours, each line has one of blocks below it."""
    boxed = shaded.gates is not None
    words = [
        f"[{cut(word, width - 2)}]" if boxed and is_open else cut(word, width)
        for word, is_open in zip(shaded.words, shaded.is_open, strict=True)
    ]
    spaces = [int(each) for each in gaps(shaded.words)]
    lines = []
    for line in broken([cell_len(word) for word in words], spaces, width):
        inner = [(" " * (spaces[place] if place != line[0] else 0), place) for place in line]
        if colour:
            painted = [
                space + _painted(words[place], float(shades[place]), bool(shaded.is_open[place]))
                for space, place in inner
            ]
            lines.append(isolate("".join(painted)))
            continue
        text = "".join(space + words[place] for space, place in inner)
        blocks = "".join(space + _block(float(shades[place])) * cell_len(words[place]) for space, place in inner)
        lines += [isolate(text), f"{TURNED}{blocks}{RELEASE}" if runs_left(text) else blocks.rstrip()]
    return [line for line in lines if line.strip(f" {TURNED}{RELEASE}")]


def _painted(word: str, shade: float, is_open: bool) -> str:
    if not is_open:
        return f"{PALE}{word}{PLAIN}"
    level = min(len(GREYS), int(shade * (len(GREYS) + 1)))
    if not level:
        return word
    grey = GREYS[level - 1]
    return f"\x1b[48;5;{grey};38;5;{16 if grey > 243 else 231}m{word}{PLAIN}"


def _block(shade: float) -> str:
    return SHADES[round(shade * (len(SHADES) - 1))]
