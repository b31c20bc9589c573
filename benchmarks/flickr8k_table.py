"""BLEU-1 to 4 and CIDEr of captions of photographs, as they are published: a row for each run.

    python benchmarks/flickr8k_table.py FOLDER RUN ... [--split test] [--beam 3] [--alpha 0.6 1.0] [--json FILE]

FOLDER is what `flickr8k.py` wrote. Each image is captioned once and has five references. Words are those of the Penn
Treebank tokenizer in `pycocoevalcap`, lower-cased, without punctuation; BLEU-n is the geometric mean of the precisions
of 1 to n words over the whole set, times the brevity penalty with the nearest of the five lengths: the counting of
multi-bleu, of nltk's `corpus_bleu` and of coco-caption. Punctuation that is counted makes BLEU higher, for nearly all
captions end with a full stop: "with punctuation" is BLEU-1 to 4 of lower-cased words so. CIDEr (CIDEr-D times ten, in
percent as usual) is computed by `pycocoevalcap`, its document frequencies taken from this split. Intervals are of a
bootstrap over images (1,000 draws). With several --alpha (length penalties) each has its row, which is how one is
chosen on the dev split.

`pycocoevalcap` is no dependency of the project, and its tokenizer needs java:

    pip install --no-deps --target runs/coco pycocoevalcap==1.2        PYTHONPATH=runs/coco python benchmarks/...

Without it words are what stands between spaces, lower-cased, where it has a letter or a digit, and there is no CIDEr.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.data.corpus import Corpus
from regard.errors import RegardError
from regard.evaluate.bootstrap import DRAWS, SEED, draws, interval
from regard.evaluate.counts import count_bleu, words_for_word
from regard.evaluate.scores import bleu
from regard.search import Options
from regard.tasks.captioner import Caption, Captioner
from regard.tasks.frozen import keep_features

MOST = 4  # words of the longest n-gram


@dataclass(frozen=True)
class Value:
    """A score, and its interval of 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.1f} [{self.low:.1f}, {self.high:.1f}]"


@dataclass(frozen=True)
class Row:
    """What a run reached. `ratio` is words written for each word of the nearest references, `distinct` in percent.

    `marked` is BLEU-1 to 4 of what stands between spaces, lower-cased, punctuation included.
    """

    bleu: tuple[Value, ...]
    marked: tuple[float, ...]
    cider: Value | None
    sacre: Value
    ratio: float
    distinct: float

    def __str__(self) -> str:
        cider = "-" if self.cider is None else str(self.cider)
        marked = " ".join(f"{each:.1f}" for each in self.marked)
        told = [*map(str, self.bleu), cider, marked, f"{self.sacre.value:.1f}", f"{self.ratio:.2f}"]
        return " | ".join([*told, f"{self.distinct:.1f}"])


HEADER = " | ".join([*(f"BLEU-{n}" for n in range(1, MOST + 1)), "CIDEr", "with punctuation", "sacreBLEU"])
HEADER += " | length ratio | distinct %"


def open_split(folder: str, split: str, most: int | None = None) -> tuple[list[str], list[tuple[str, ...]]]:
    """The images of a split, once each, with all their captions."""
    rows = Corpus.open(folder, reads="image", wants="text").split(split)
    found: dict[str, list[str]] = {}
    for image, caption in zip(rows["source"], rows["target"], strict=True):
        found.setdefault(image, []).append(caption)
    return list(found)[:most], [tuple(each) for each in found.values()][:most]


def load_captioner(run: str | Path) -> Captioner:
    """A trained model; what its frozen network makes of images is read from the cache."""
    found: Captioner = Captioner.load(run)
    keep_features(found.model, found.source)
    return found


def tokenised(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """Some texts of each image, as words with spaces between."""
    if find_spec("pycocoevalcap") is None:
        return [
            [" ".join(w for w in text.lower().split() if any(map(str.isalnum, w))) for text in some] for some in texts
        ]
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    asked = {number: [{"caption": text} for text in some] for number, some in enumerate(texts)}
    found: dict[int, list[str]] = PTBTokenizer().tokenize(asked)
    return [found[number] for number in range(len(texts))]


def bleu_of(totals: Sequence[int], longest: int) -> float:
    """BLEU with n-grams of at most `longest` words, of summed counts: lengths, matching n-grams, all n-grams."""
    written, wanted, *counts = totals
    right, every = counts[:longest], counts[MOST : MOST + longest]
    if not all(right):
        return 0.0
    mean = sum(math.log(one / all_) for one, all_ in zip(right, every, strict=True)) / longest
    return 100 * math.exp(min(0.0, 1 - wanted / written) + mean)


def cider_of(answers: Sequence[str], references: Sequence[Sequence[str]]) -> Float[np.ndarray, " N"] | None:
    """CIDEr of each image in percent; None without the package."""
    if find_spec("pycocoevalcap") is None:
        return None
    from pycocoevalcap.cider.cider import Cider

    given = {number: list(some) for number, some in enumerate(references)}
    written = {number: [text] for number, text in enumerate(answers)}
    return 100 * np.asarray(Cider().compute_score(given, written)[1])


def score(answers: Sequence[str], references: Sequence[Sequence[str]]) -> Row:
    """What is reached by raw captions."""
    words, right = [each[0] for each in tokenised([[text] for text in answers])], tokenised(references)
    counted = count_bleu(words, right, tokenize="none")
    drawn = [totals.tolist() for totals in draws(counted.rows)]
    found = []
    for n in range(1, MOST + 1):
        low, high = interval(np.array([bleu_of(each, n) for each in drawn]))
        found.append(Value(bleu_of(counted.totals(), n), low, high))
    spaced = count_bleu(
        [text.lower() for text in answers], [[each.lower() for each in some] for some in references], tokenize="none"
    )
    marked = tuple(bleu_of(spaced.totals(), n) for n in range(1, MOST + 1))
    each_image, cider = cider_of(words, right), None
    if each_image is not None:
        cider = Value(float(each_image.mean()), *interval(drawn_means(each_image)))
    own = bleu(answers, references)
    distinct = 100 * len(set(words)) / len(words)
    return Row(tuple(found), marked, cider, Value(own.value, own.low, own.high), words_for_word(counted), distinct)


def drawn_means(values: Float[np.ndarray, " N"]) -> Float[np.ndarray, " M"]:
    """The mean of each draw of the images, the same ones as of the counts."""
    generator, size = np.random.default_rng(SEED), len(values)
    return np.array([values[generator.integers(size, size=size)].mean() for _ in range(DRAWS)])


def write(model: Captioner, images: Sequence[str], beam: int, alpha: float | None) -> list[str]:
    """The best caption of each image."""
    found: list[list[Caption]] = model.search(images, Options(beam=beam, alpha=alpha), record=False)
    return [best[0].text for best in found]


def main() -> None:
    """Read the command line, print a row for each run and each length penalty."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--beam", type=int, default=3)
    parser.add_argument("--alpha", type=float, nargs="+", default=[None], help="else what the run found best")
    parser.add_argument("--images", type=int, help="only the first so many")
    parser.add_argument("--json", type=Path, help="a file for all numbers, and the captions")
    asked = parser.parse_args()
    try:
        images, references = open_split(asked.folder, asked.split, asked.images)
        told: dict[str, Any] = {}
        sys.stdout.write(f"run | alpha | {HEADER}\n")
        for run in asked.runs:
            model = load_captioner(run)
            for alpha in asked.alpha:
                answers = write(model, images, asked.beam, alpha)
                row = score(answers, references)
                used = model.alpha if alpha is None else alpha
                sys.stdout.write(f"{run.name} | {used:g} | {row}\n")
                sys.stdout.flush()
                told[f"{run} {used:g}"] = {**asdict(row), "captions": dict(zip(images, answers, strict=True))}
        if asked.json:
            asked.json.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except RegardError as wrong:
        sys.exit(f"flickr8k_table.py: {wrong}")


if __name__ == "__main__":
    main()
