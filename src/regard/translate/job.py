"""What `regard translate` makes of a block of lines, in this process or in one of many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from regard.align.record import Tokenized
from regard.chunks import Chunk, Written, one_json_line, one_line
from regard.engine import silent
from regard.search import Options
from regard.translate.translator import Translation, Translator

LONGEST = 1000  # source pieces; what comes after them is not translated, and that is said


@dataclass(frozen=True)
class TranslateJob:
    """How lines are translated and written. It travels to where that is done, and is opened there.

    model: a folder, as `Translator.load` takes it.  parts: files that register parts of the user's own.
    """

    model: Path
    options: Options
    alignments: Literal["none", "hard", "soft"] = "none"
    form: Literal["text", "jsonl"] = "text"
    engine: str | None = None
    threads: int | None = None
    parts: tuple[Path, ...] = ()
    continuous: bool = False

    def open(self, say: Callable[[str], None] = silent) -> Callable[[Chunk], Written]:
        """Load the model: what turns blocks into output. `say` hears what runs it."""
        if self.parts:
            from regard.registry import load_file

            for path in self.parts:
                load_file(path)
        return partial(self.write, Translator.load(self.model, self.engine, self.threads, say))

    def write(self, translator: Translator, block: Chunk) -> Written:
        """The output of a block: an empty line has an empty one, an over-long line is cut and told."""
        notes: list[str] = []
        cut = [_cut(translator, line, block.before + place, notes) for place, line in enumerate(block.lines, 1)]
        record = self.alignments != "none" or self.form == "jsonl"
        found = translator.search(cut, self.options, record=record, continuous=self.continuous)
        if self.alignments != "none":
            notes += _unspaced([best[0].sides for best in found if best[0].sides])
        lines = [self._told(each, block.before + row + 1) for row, outputs in enumerate(found) for each in outputs]
        return Written(lines, notes)

    def _told(self, found: Translation, number: int) -> str:
        """One output as a line; where there are several for each line of input, with its number."""
        many = self.options.outputs > 1
        if self.form == "text":
            links = f"\t{found.alignment.pharaoh() if found.alignment else ''}" if self.alignments == "hard" else ""
            return (f"{number}\t" if many else "") + one_line(found.text, columns=many or bool(links)) + links
        told: dict[str, object] = {
            "text": found.text,
            "score": round(found.score, 4),
            "likelihood": round(found.likelihood, 4),
        }
        if many:
            told["line"] = number
        if self.alignments != "none" and (seen := found.alignment) is not None and found.sides is not None:
            told |= {"source": seen.source, "target": seen.target, "links": seen.links(), "note": seen.note}
            sides = dict(zip(("source", "target"), found.sides, strict=True))
            told["words"] = {name: "spaces" if side.spaced else "pieces" for name, side in sides.items()}
            if self.alignments == "soft":
                told["matrix"] = [[round(weight, 4) for weight in row] for row in seen.numpy().tolist()]
        return one_json_line(told)


def _unspaced(pairs: Sequence[tuple[Tokenized, Tokenized]]) -> list[str]:
    """What to say where links count something else than the words between spaces; the same for every block."""
    sides = {"source": [source for source, _ in pairs], "target": [target for _, target in pairs]}
    return [
        f"{name} lines written without spaces between words: there each piece counts as a word in the links "
        "(--format jsonl shows them)."
        for name, lines in sides.items()
        if not all(line.spaced for line in lines)
    ]


def _cut(translator: Translator, line: str, number: int, notes: list[str]) -> str:
    pieces = translator.source.encode(line) if len(line) > LONGEST else None
    if pieces is None or len(pieces) <= LONGEST:
        return line
    notes.append(f"line {number} has {len(pieces):,} pieces; only the first {LONGEST:,} are translated.")
    return line[: pieces.spans[LONGEST - 1][1]]
