"""Of the outputs a teacher offers for each line, the one nearest to the reference (Kim and Rush 2016, section 3.3).

A student learns more easily from what a model would write than from what people wrote, and more truly from the output
that is nearest to it than from the likeliest. Nearest is highest in sentence BLEU; of equals, the likelier. Example:

    regard translate teacher train.en --beam 8 --nbest 8 > offers
    python benchmarks/nearest.py train.de offers > taught.de
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from sacrebleu.metrics import BLEU


def main() -> None:
    """Read the command line, write a line for each reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("references", type=Path, help="one line each")
    parser.add_argument("offers", type=Path, help="what `regard translate --nbest` writes: a number, a tab, an output")
    asked = parser.parse_args()
    try:
        sys.stdout.writelines(f"{line}\n" for line in nearest(asked.references, asked.offers))
    except (OSError, ValueError) as wrong:
        sys.exit(f"nearest.py: {wrong}")


def nearest(references: Path, offers: Path) -> Iterator[str]:
    """The nearest of the offers, for each reference."""
    measure = BLEU(effective_order=True, tokenize="none")
    numbered = groupby(read(offers), key=lambda offer: offer[0])
    with references.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            found, rows = next(numbered, (None, iter(())))
            if found != number:
                raise ValueError(f"{offers}: expected outputs of line {number} next; found {found or 'the end'}.")
            # max keeps the first of equals, and the likeliest stands first.
            yield max((text for _, text in rows), key=lambda text: measure.sentence_score(text, [line.strip()]).score)
    if (more := next(numbered, None)) is not None:
        raise ValueError(f"{offers}: expected as many lines as {references}, which ends before line {more[0]}.")


def read(path: Path) -> Iterator[tuple[int, str]]:
    """Each output with the number of its line."""
    with path.open(encoding="utf-8") as file:
        for row, line in enumerate(file, 1):
            number, tab, text = line.rstrip("\n").partition("\t")
            if not tab or not number.isdecimal():
                raise ValueError(f"{path}:{row}: expected a number, a tab and an output; found {line.rstrip()!r}.")
            yield int(number), text


if __name__ == "__main__":
    main()
