"""A folder of parallel text, lower-cased and cut into words as the Moses scripts do it.

Some published scores are of such text (Multi30k's 41.02, for one); sacreBLEU on raw text is another measure. Example:

    python benchmarks/moses.py ../shared/data/multi30k runs/multi30k-lower --languages en de

The files keep their names. Score with `regard evaluate ... --tokenize none`: the words are cut already.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer


def main() -> None:
    """Read the command line, write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="a folder of files such as train.de.gz")
    parser.add_argument("out", type=Path)
    parser.add_argument("--languages", nargs=2, required=True, metavar="LANG")
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for language in asked.languages:
        files = sorted(asked.source.glob(f"*.{language}.gz"))
        if not files:
            parser.error(f"{asked.source}: expected files such as train.{language}.gz; found none.")
        for path in files:
            lines = cut(path, language)
            print(f"{path.name}: {write(asked.out / path.name, lines):,} lines")


def cut(path: Path, language: str) -> Iterator[str]:
    """The lines of a file, each as lower-cased words with a space between them."""
    normalise, tokenise = MosesPunctNormalizer(language), MosesTokenizer(language)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            text = normalise.normalize(line.rstrip("\n"))
            yield tokenise.tokenize(text, return_str=True, escape=False, aggressive_dash_splits=False).lower()


def write(path: Path, lines: Iterator[str]) -> int:
    """Write lines, compressed; how many there were."""
    count = 0
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for line in lines:
            file.write(f"{line}\n")
            count += 1
    return count


if __name__ == "__main__":
    main()
