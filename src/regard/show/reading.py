"""Three more ways to read an alignment as text: word by word, in the sentence itself, and head by head."""

from __future__ import annotations

from rich.cells import cell_len

from regard.align.alignment import Alignment
from regard.align.record import Record
from regard.show.causal import start_first
from regard.show.labels import isolate, readable
from regard.show.strip import Strip
from regard.show.terminal import PLAIN, WIDTH, label_of, listing

THRESHOLD = 0.05  # what is below is left out
LOUD, SOFT = 0.5, 0.15  # from which weight on a word is marked twice, and once
RED, PALE = "\x1b[1;31m", "\x1b[2m"
GREYS = (255, 252, 248, 244, 240, 236)  # of a terminal's 256 colours, behind words of more and more weight


def lines_text(alignment: Alignment, width: int = WIDTH, *, threshold: float = THRESHOLD) -> str:
    """A line a target word: the source words that it looked at, strongest first."""
    alignment = start_first(alignment)
    margin = max(cell_len(label_of(word)) for word in alignment.target)
    told = []
    for word, row in zip(alignment.target, alignment.matrix.tolist(), strict=True):
        order = sorted(range(len(row)), key=lambda column: -row[column])
        seen = [
            f"{label_of(alignment.source[column])} {row[column]:.2f}" for column in order if row[column] >= threshold
        ]
        told.append(_beside(label_of(word), margin, " <- ", listing(seen or ["nothing"], width - margin - 4, ", ")))
    return "\n".join(told)


def sentence_text(alignment: Alignment, width: int = WIDTH, *, colour: bool = False) -> str:
    """The sentence once for each word that looks, its words shaded by weight; without colour, in brackets.

    Of a text that reads itself the word that looks is marked where it stands, and what comes later is pale, or left
    out; see `strip`.
    """
    strip = Strip.of(alignment)
    margin = max((cell_len(label_of(word)) for word in strip.rows), default=0)
    told = []
    for row, word in enumerate(strip.rows):
        best = strip.strongest(row) if strip.reads_itself else None
        end = [] if best is None else [f" {label_of(strip.words[best])} {strip.weights[row, best]:.2f}"]
        marked = [*filter(None, (_marked(strip, row, place, colour) for place in range(len(strip.words)))), *end]
        told.append(_beside(label_of(word), margin, " | ", listing(marked, width - margin - 3, " ")))
    current = [f"{RED}current word{PLAIN}" if colour else ">current word<"] if strip.reads_itself else []
    key = "darker is more weight" if colour else f"[[word]] from {LOUD:g}, [word] from {SOFT:g}"
    last = ["at the end what was looked at most"] if strip.reads_itself else []
    return "\n".join([*told, "", listing([*current, key, *last], width, "; ")])


def heads_text(record: Record, kind: str = "cross", width: int = WIDTH) -> str:
    """A number a head: the mean over words of the strongest weight. 1 looks at one word; chosen heads have a star."""
    record.weights(kind)  # refuses, saying what there is
    chosen = record.reader() if kind == record.aligner.kind else None
    about = f"{kind}: how sharply each head looks (1 is one word at a time); * marks what alignments are read from"
    told = [listing(about.split(), width, " ")]
    for layer in range(record.kinds[kind]):
        cells = []
        for head in range(record.weights(kind, layer).shape[0]):
            sharp = float(record.alignment(kind, layer, head).matrix.max(1).values.mean())
            star = chosen and layer == chosen.layer and (not chosen.heads or head in chosen.heads)
            cells.append(f"{head + 1}: {sharp:.2f}{'*' if star else ' '}")
        told.append(_beside(f"layer {layer + 1}", 8, "  ", listing(cells, width - 10)))
    return "\n".join(line.rstrip() for line in told)


def _marked(strip: Strip, row: int, place: int, colour: bool) -> str:
    """A word of the text as `row` sees it; nothing where there is no way to show that it was not there yet."""
    word, weight = isolate(readable(strip.words[place])), float(strip.weights[row, place])
    if place == strip.own[row]:
        return f"{RED}{word}{PLAIN}" if colour else f">{word}<"
    if strip.closed[row, place]:
        return f"{PALE}{word}{PLAIN}" if colour else ""
    if colour:
        shade = weight / strip.full(row) if strip.reads_itself else weight
        grey = GREYS[min(len(GREYS) - 1, int(shade * len(GREYS)))]
        ink = 16 if grey > 243 else 231
        return f"\x1b[48;5;{grey};38;5;{ink}m{word}{PLAIN}" if shade >= THRESHOLD else word
    return f"[[{word}]]" if weight >= LOUD else f"[{word}]" if weight >= SOFT else word


def _beside(label: str, margin: int, mark: str, text: str) -> str:
    """A label, and beside it some lines of text."""
    first, *others = text.split("\n")
    head = label + " " * (margin - cell_len(label)) + mark
    return "\n".join([head + first, *(" " * (margin + len(mark)) + line for line in others)])
