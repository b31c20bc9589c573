"""How a corpus of any size is taken in: stored, cut into pieces, batched. A side of `scale.py` (see worker.py).

The text is made here too: words that nobody speaks, some frequent and most rare, as in every language.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from worker import Job, Round, peak_bytes, serve

WORDS, LENGTHS, CHUNK = 20_000, (5, 25), 10_000
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er", "ol")]


def write_text(folder: Path, pairs: int) -> None:
    """A corpus of so many training pairs and a hundred to validate, written as it is made."""
    dice = np.random.default_rng(pairs)
    for language in ("de", "en"):
        words = ["".join(dice.choice(SYLLABLES, dice.integers(1, 5))) for _ in range(WORDS)]
        for split, count in (("train", pairs), ("val", 100)):
            with (folder / f"{split}.{language}").open("w", encoding="utf-8") as file:
                file.writelines(_lines(words, count, dice))


def _lines(words: list[str], count: int, dice: np.random.Generator) -> Iterator[str]:
    for first in range(0, count, CHUNK):
        lengths = dice.integers(*LENGTHS, min(CHUNK, count - first))
        drawn = iter((len(words) * dice.random(int(lengths.sum())) ** 4).astype(int).tolist())
        for length in lengths.tolist():
            yield " ".join(words[place] for place in islice(drawn, length)) + "\n"


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready to take the corpus in, which can be done once: then it is in the store."""
    from regard.data.corpus import Corpus, column
    from regard.data.pairs import pair_batches
    from regard.data.tokenizer import train_pair

    def work() -> dict[str, Any]:
        stages, began = [], [perf_counter(), process_time()]

        def mark() -> None:
            now = [perf_counter(), process_time()]
            stages.append([now[0] - began[0], now[1] - began[1], peak_bytes()])
            began[:] = now

        corpus = Corpus.open(job["folder"], source="de", target="en", cache=Path(job["cache"]))
        split = corpus.split("train")
        mark()
        pair = train_pair(column(split, "source"), column(split, "target"), kind="bpe", size=job["pieces"], joint=True)
        mark()
        taken = sum(1 for _ in islice(iter(pair_batches(split, *pair)), job["batches"]))
        mark()
        return {"done": job["pairs"], "batches": taken, "stages": stages}

    return {"idle": peak_bytes()}, work


if __name__ == "__main__":
    serve(prepare, "regard")
