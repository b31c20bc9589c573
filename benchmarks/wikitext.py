"""A language model on WikiText-2 by word, with and without a cache: everything is chosen on validation text.

How long the windows are, how far the cache looks back, its theta and its share are those with which the first part of
the validation text is likeliest. The test text is read once, with what was chosen. Example:

    python benchmarks/wikitext.py runs/proofs/wikitext --data ../shared/data/lm/wikitext2
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

import regard
from regard.data.corpus import Corpus
from regard.tasks.cache import Cache, Reading, tuned
from regard.tasks.language_model import LanguageModel
from regard.tasks.scoring import read_texts


def perplexity(nll: torch.Tensor) -> float:
    """Of every word and line end alike."""
    return math.exp(float(nll.mean()))


def read(model: LanguageModel, rows: Sequence[str], window: int) -> Reading:
    """A split as one text, as `regard evaluate --window` reads it."""
    (found,) = read_texts(model.model, model._flow(rows)[1], window)
    words = sum(len(row.split()) + (row.endswith("\n") or number + 1 == len(rows)) for number, row in enumerate(rows))
    if len(found.nll) != words:
        raise SystemExit(f"expected a prediction for each of {words:,} words and line ends; found {len(found.nll):,}.")
    return found


def first(reading: Reading, count: int) -> Reading:
    """The first predictions of a text."""
    return Reading(reading.features[:count], reading.wanted[:count], reading.nll[:count])


def measured(model: LanguageModel, corpus: Corpus, asked: argparse.Namespace) -> Iterator[str]:
    """What is chosen, and what comes out, a line each."""
    val, test = (list(corpus.split(split)["target"]) for split in ("val", "test"))
    tried = {window: perplexity(read(model, val[: asked.rows], window).nll) for window in asked.windows}
    yield f"windows, perplexity of the first {asked.rows:,} validation lines: " + ", ".join(
        f"{window:,}: {value:.2f}" for window, value in tried.items()
    )
    window = min(tried, key=tried.__getitem__)
    seen = read(model, val, window)
    some = first(seen, asked.words)
    caches = [tuned(Cache(size), [some]) for size in asked.sizes]
    for cache in caches:
        yield f"{cache}: {perplexity(cache.nll(some)):.2f} on the first {asked.words:,} validation words"
    best = min(caches, key=lambda cache: perplexity(cache.nll(some)))
    yield f"chosen: windows of {window:,}, {best}"
    yield _line("validation", seen, best)
    yield _line("test", read(model, test, window), best)


def _line(split: str, reading: Reading, cache: Cache) -> str:
    plain, cached = perplexity(reading.nll), perplexity(cache.nll(reading))
    none = perplexity(replace(cache, share=0.0).nll(reading))
    if none != plain:
        raise SystemExit(f"a cache without a share is the plain model; found {none} and {plain}.")
    return f"{split}: {len(reading.nll):,} words and line ends, perplexity {plain:.2f}, with the cache {cached:.2f}"


def main() -> None:
    """Read the command line, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="a run folder")
    parser.add_argument("--data", required=True, help="the folder of WikiText-2")
    parser.add_argument("--windows", type=int, nargs="+", default=[100, 400, 1600])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 2000, 4000])
    parser.add_argument("--rows", type=int, default=500, help="validation lines that choose the window")
    parser.add_argument("--words", type=int, default=60_000, help="validation words that choose the cache")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    model = regard.load(asked.model)
    corpus = Corpus.open(asked.data, reads="nothing", wants="text")
    for line in measured(model, corpus, asked):
        print(line, flush=True)
    print(f"{time.process_time() / 60:.1f} minutes of one core")


if __name__ == "__main__":
    main()
