"""What every export is asked, begins with and tells, whatever the engine."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from regard.align.record import FILE as ALIGNER_FILE
from regard.data.corpus import Corpus
from regard.data.held_out import FILE as HELD_OUT_FILE
from regard.data.languages import FILE as LANGUAGES_FILE
from regard.data.letters import FILE as LETTERS_FILE
from regard.engine import MANIFEST
from regard.engine.home import model_home
from regard.errors import UnknownName, UsageError
from regard.export.agreement import Agreement, agreement, made_up_lines, must_be_exact
from regard.translate.translator import LENGTHS_FILE, SOURCE_FILE, TARGET_FILE, Translator

Quantization = Literal[
    "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32"
]
FULL = "float32"
# Of the model folder, where it has them.
OURS = (SOURCE_FILE, TARGET_FILE, LANGUAGES_FILE, LETTERS_FILE, ALIGNER_FILE, LENGTHS_FILE, HELD_OUT_FILE)
KEPT = (*OURS, "scores.json", "README.md")
FEWEST = 0.8  # of the outputs of real sentences that quantising should leave as they were
SAMPLE = 200  # sentences that a corpus gives to the check
Say = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """How to export.

    quantization: how weights are kept; "float32" keeps them as they are.
    lines: sentences to check with; without them those of `corpus`, or made-up ones.
    corpus: where real sentences can be found.
    shortlist: score only so many target pieces for each source piece, learnt from `corpus`; 0 scores all.
    force: replace a folder that is no export of ours.
    """

    quantization: str = "int8"
    lines: Sequence[str] = ()
    corpus: Corpus | None = None
    shortlist: int = 0
    force: bool = False

    def __post_init__(self) -> None:
        if self.quantization not in get_args(Quantization):
            raise UnknownName("quantization", self.quantization, get_args(Quantization))
        if self.shortlist and self.corpus is None:
            raise UsageError("a shortlist is learnt from a corpus, and none was given.", hint="Add --data.")


@dataclass(frozen=True)
class Exported:
    """What came of it: where it is, its bytes and the model's, and how far it agrees with the model."""

    folder: Path
    size: int
    before: int
    converted: Agreement
    quantized: Agreement

    def told(self) -> str:
        """In a line."""
        return (
            f"{self.folder}: {self.size / 1e6:.1f} MB of weights, {self.size / self.before:.0%} of the model's "
            f"{self.before / 1e6:.1f} MB; {self.quantized.outputs:.1%} of {self.quantized.sentences:,} outputs and "
            f"{self.quantized.links:.1%} of links as the model's"
        )


def open_model(model: str | Path) -> tuple[Path, Translator]:
    """Where the model lies, and the model, whose files must belong together."""
    home = model_home(model)
    if (home / MANIFEST).is_file():
        raise UsageError(f"{home} is itself an export.", hint="Export the model folder that it came from.")
    return home, Translator.load(home)


def keep(home: Path, folder: Path, names: Sequence[str] = KEPT) -> None:
    """Copy the files that stay as they are, where the model has them."""
    for name in names:
        if (home / name).is_file():
            shutil.copy(home / name, folder / name)


def lines_to_check(ours: Translator, wish: Wish) -> tuple[list[str], bool]:
    """The sentences to check with, and whether they are anybody's language."""
    given = [line for line in wish.lines if line.strip()]
    if wish.corpus is not None:
        split = wish.corpus.split("val" if "val" in wish.corpus.splits else "train")
        given += [line for line in split.select(range(min(SAMPLE, len(split))))["source"] if line.strip()]
    if wish.lines and not given:
        raise UsageError("the sample has no sentence in it.", hint="Give a text file with a sentence a line.")
    return given or made_up_lines(ours.source), bool(given)


def checked(ours: Translator, folder: Path, manifest: Any, lines: Sequence[str]) -> Agreement:
    """Open a written folder as anyone would, hold it against the model, and keep what came of it in its manifest."""
    path = folder / MANIFEST
    path.write_text(manifest.text(), encoding="utf-8")
    found = agreement(ours, Translator.load(folder), lines)
    path.write_text(replace(manifest, agreement=asdict(found)).text(), encoding="utf-8")
    return found


def checked_twice(write: Callable[[str], Agreement], wish: Wish, real: bool, say: Say) -> tuple[Agreement, Agreement]:
    """Write in full precision, which must be exact; then as wished, where what it costs is told.

    `write` writes the folder with weights of one kind and holds it against the model; `real` says whether the sentences
    are anybody's language.
    """
    converted = quantized = write(FULL)
    must_be_exact(converted)
    say(f"{FULL}: {converted}")
    if wish.quantization != FULL:
        quantized = write(wish.quantization)
        say(f"{wish.quantization}: {quantized}")
        warn_of_loss(quantized, real, say)
    return converted, quantized


def warn_of_loss(found: Agreement, real: bool, say: Say) -> None:
    """Say where quantising cost much, or where nobody can know."""
    if not real:
        say("The sentences were made up of random pieces: give real ones (--sample FILE) to see what quantising costs.")
    elif found.outputs < FEWEST:
        say(f"Warning: quantising changed more than {1 - FEWEST:.0%} of the outputs. Consider --quantization {FULL}.")
