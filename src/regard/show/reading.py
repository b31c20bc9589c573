"""Three more ways to read an alignment as text: word by word, in the sentence itself, and head by head."""

from __future__ import annotations

from rich.cells import cell_len

from regard.align.alignment import Alignment
from regard.align.record import Record
from regard.show.labels import isolate, readable
from regard.show.terminal import PLAIN, WIDTH, label_of, listing

THRESHOLD = 0.05  # what is below is left out
LOUD, SOFT = 0.5, 0.15  # from which weight on a word is marked twice, and once
GREYS = (255, 252, 248, 244, 240, 236)  # of a terminal's 256 colours, behind words of more and more weight


def lines_text(alignment: Alignment, width: int = WIDTH, *, threshold: float = THRESHOLD) -> str:
    """A line a target word: the source words that it looked at, strongest first."""
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
    """The sentence once for each target word, its words shaded by weight; without colour, in brackets."""
    margin = max(cell_len(label_of(word)) for word in alignment.target)
    told = []
    for word, row in zip(alignment.target, alignment.matrix.tolist(), strict=True):
        marked = [_marked(*pair, colour) for pair in zip(alignment.source, row, strict=True)]
        told.append(_beside(label_of(word), margin, " | ", listing(marked, width - margin - 3, " ")))
    key = "darker is more weight" if colour else f"[[word]] from {LOUD:g}, [word] from {SOFT:g}"
    return "\n".join([*told, "", key])


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


def _marked(word: str, weight: float, colour: bool) -> str:
    word = isolate(readable(word))
    if colour:
        grey = GREYS[min(len(GREYS) - 1, int(weight * len(GREYS)))]
        ink = 16 if grey > 243 else 231
        return f"\x1b[48;5;{grey};38;5;{ink}m{word}{PLAIN}" if weight >= THRESHOLD else word
    return f"[[{word}]]" if weight >= LOUD else f"[{word}]" if weight >= SOFT else word


def _beside(label: str, margin: int, mark: str, text: str) -> str:
    """A label, and beside it some lines of text."""
    first, *others = text.split("\n")
    head = label + " " * (margin - cell_len(label)) + mark
    return "\n".join([head + first, *(" " * (margin + len(mark)) + line for line in others)])
