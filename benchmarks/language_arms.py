"""The arms of `language_models.py`: what is trained on what, for how many updates, and what is measured of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import agreement
import copying
import hidden

from regard.data.builtin import examples
from regard.data.corpus import Corpus

Measure = Callable[[Any, str, str], Mapping[str, float]]
# What `language_text.py` makes; others are built in.
CUT = ("lines", "pretrain", "captions", "few", "sentences", "rt-500", "rt", "trec-500", "trec")
ASKED = 40  # batches of held-out text in which hidden words are asked for
ROWS = 2000  # of a split of real text whose perplexity is told
LINES = 1000  # of built-in text that are scored
LOOKS = 200  # of them, of which each look is asked for


@dataclass(frozen=True)
class Arm:
    """A recipe with its settings, the text it reads, and from which other arm it starts."""

    label: str
    recipe: str
    data: str
    steps: int
    settings: tuple[str, ...]
    measure: Measure
    start: Arm | None = None

    @property
    def cut(self) -> bool:
        """Whether its text is cut out of a real corpus."""
        return self.data in CUT

    def run(self, out: Path, seed: int) -> Path:
        """Where its model of one seed lies."""
        return out / "runs" / f"{self.data} {self.label}".replace(" ", "-").replace(",", "") / f"seed-{seed}"


@dataclass(frozen=True)
class Proof:
    """Arms that are compared, the first with each of the others."""

    claim: str
    arms: tuple[Arm, ...]


# --- what is measured -----------------------------------------------------------------------------------------


def perplexity(model: Any, data: str, split: str) -> Mapping[str, float]:
    """By word, of the first rows of a split."""
    rows = Corpus.open(data, reads="nothing", wants="text").split(split)["target"]
    found = model.likelihoods(list(rows[:ROWS]))
    words = sum(each.words for each in found)
    return {"perplexity": math.exp(sum(each.nll for each in found) / words)}


def agreement_told(model: Any, data: str, split: str) -> Mapping[str, float]:
    """The share of verbs whose right form is likelier, by distance, where all distances are as frequent."""
    lines = [each.target for each in examples("agreement-far", split=split, size=LINES)]
    told = agreement.by_distance(lines, agreement.right(model, lines))
    return {
        **dict(zip(("1-5", "6-10", "11-20", "over 20", "over 10"), told, strict=True)),
        **perplexity(model, data, split),
        "subject, %": agreement.on_the_subject(model, lines[:LOOKS]),
    }


def filled(model: Any, data: str, split: str) -> Mapping[str, float]:
    """Nats and share found of hidden pieces."""
    found = hidden.measure(model, islice(hidden.asked(model, data, split, None), ASKED))
    return {"nats": found.nll, "found, %": found.accuracy}


def ordered(model: Any, data: str, split: str) -> Mapping[str, float]:
    """Pairs told right as they were learnt, and pairs in order or swapped."""
    own, order = (
        hidden.measure(model, islice(hidden.asked(model, data, split, pairs), ASKED)).pairs for pairs in (None, "order")
    )
    return {"its own pairs, %": own, "order, %": order}


def classified(model: Any, data: str, split: str) -> Mapping[str, float]:
    """Share of right labels."""
    rows = Corpus.open(data, reads="text", wants="label").split(split)
    answers = model.answer(list(rows["source"]), record=False)
    right = [answer.label == label for answer, label in zip(answers, rows["target"], strict=True)]
    return {"accuracy": 100 * sum(right) / len(right)}


def copied(model: Any, data: str, split: str) -> Mapping[str, float]:
    """Nats of new words and of those said before; the weight on what is to be written."""
    lines = [each.target for each in examples(data, split=split, size=LINES)]
    new, again = copying.halves(model, lines)
    return {"nats, new": new, "nats, again": again, "weight, %": copying.on_the_word(model, lines[:100])}


# --- what is trained ------------------------------------------------------------------------------------------

FP32 = "train.precision=fp32"  # of a recurrent step as small as these, bf16 makes no gain
STILL = ("predict.dropout=0", "predict.embed.dropout=0")  # what is read once or twice is not learnt by heart


def _width(hidden: int) -> tuple[str, ...]:
    return (f"predict.hidden={hidden}", f"predict.embed.width={hidden}")


def _tape(hidden: int, score: int) -> tuple[str, ...]:
    return (*_width(hidden), f"predict.self_attend.score.hidden={score}")


# Vectors go in as large as states can be, and come out small: else all states look alike, and no look is learnt.
LARGE = ("predict.embed.scale=true", "predict.embed.deviation=1.0")
FADING = "predict.self_attend.score.part=fading"
LINES_SETTINGS = (
    *("task.target.pieces=words", "task.target.vocabulary=5000", "task.examples=rows", "train.tokens=2048"),
    *("train.rate=0.016", "train.precision=bf16", "predict.dropout=0.1", "predict.embed.dropout=0.1", *LARGE),
)
LSTMN = Proof(
    "a tape reads real text better than a state of as many weights",
    (
        Arm("tape", "lstmn", "lines", 1200, (*LINES_SETTINGS, FADING, *_tape(128, 48)), perplexity),
        Arm("state", "lstm-lm", "lines", 1200, (*LINES_SETTINGS, *_width(131), "predict.layers=1"), perplexity),
    ),
)
MIXED = ("task.target.pieces=words", "task.examples=rows", "train.tokens=512", "train.rate=0.01", FP32, *STILL)
AGREEMENT = Proof(
    "a tape keeps the number of a subject over more words than a state",
    (
        Arm("tape", "lstmn", "agreement-mixed", 2000, (*MIXED, FADING, *_tape(32, 32)), agreement_told),
        Arm("state", "lstm-lm", "agreement-mixed", 2000, (*MIXED, *_width(38), "predict.layers=1"), agreement_told),
    ),
)
NET = (
    *("encode.layers=2", "encode.feed=256", "encode.norm=before", "initialise.deviation=0.06", "train.precision=auto"),
    *("embed.dropout=0", "encode.dropout=0", "encode.attend.attend.dropout=0"),
)
# Batches of 2048 positions hold 1024 of the source and as many that say what is asked for.
HOLES = ("task.goal.hide=0.3", "task.goal.masked=1.0", "task.goal.swapped=0.0", "train.tokens=2048", "train.rate=0.002")
ALONE = (*NET, *HOLES, "task.examples=rows", "predict.pair=false")
WORDS = (*ALONE, "task.source.pieces=words", "task.source.vocabulary=4000", "task.source.length=64")
FILL = Proof(
    "holes are filled better by who reads both ways",
    (
        Arm("both ways", "bert", "captions", 2400, (*WORDS, "task.goal.copies=0"), filled),
        Arm(
            "left to right",
            "bert",
            "captions",
            2400,
            (*WORDS, "task.goal.copies=0", "encode.attend.attend.scope=causal"),
            filled,
        ),
    ),
)
# States are read at pieces that are not hidden, too: some of them must have been asked for.
SHOWN = ("task.goal.masked=0.8", "task.goal.swapped=0.1")
READER = (*ALONE, *SHOWN, "task.goal.copies=0", "task.source.vocabulary=6000", "task.source.length=48")
BOTH = Arm("both ways", "bert", "sentences", 8000, READER, filled)
BEGUN = Arm("begun", "bert", "sentences", 1, READER, filled)  # the tokenizer and the first weights, after one update


def _tuned(start: Arm, data: str, steps: int, rate: float, dropout: float) -> Arm:
    """A classifier that starts from an arm, with settings that were chosen for either start on validation data."""
    label = "pretrained" if start is BOTH else "from scratch"
    dropped = (f"{each}={dropout}" for each in ("embed.dropout", "encode.dropout", "predict.dropout"))
    settings = (*NET, "predict.pool=mean", "train.tokens=1024", f"train.rate={rate}", *dropped)
    return Arm(label, "bert-classify", data, steps, settings, classified, start)


BERT = Proof(
    "hidden words teach an encoder what helps to tell reviews apart",
    (_tuned(BOTH, "rt", 700, 0.003, 0.3), _tuned(BEGUN, "rt", 700, 0.001, 0.3)),
)
BERT_FEW = Proof(
    "the more, the fewer labels there are",
    (_tuned(BOTH, "rt-500", 200, 0.003, 0.2), _tuned(BEGUN, "rt-500", 250, 0.001, 0.2)),
)
TREC = Proof(
    "hidden words teach an encoder what helps to tell questions apart",
    (_tuned(BOTH, "trec", 500, 0.002, 0.2), _tuned(BEGUN, "trec", 500, 0.002, 0.2)),
)
TREC_FEW = Proof(
    "the more, the fewer labels there are",
    (_tuned(BOTH, "trec-500", 200, 0.003, 0.2), _tuned(BEGUN, "trec-500", 200, 0.001, 0.2)),
)
MASKS = Proof(
    "masks drawn anew are not worse than masks drawn once",
    (
        Arm("dynamic", "roberta", "few", 1200, WORDS, filled),
        Arm("static", "roberta", "few", 1200, (*WORDS, "task.goal.copies=1"), filled),
        Arm("static, ten copies", "roberta", "few", 1200, (*WORDS, "task.goal.copies=10"), filled),
    ),
)


def _albert(label: str, layers: int, *settings: str) -> Arm:
    narrow = ("embed.inner=64", "predict.inner=64", "initialise.deviation=0.1")
    single = ("task.goal.whole_words=false", "task.goal.longest_run=1", "task.goal.copies=0")
    return Arm(
        label, "albert", "captions", 1500, (*WORDS, *narrow, *single, f"encode.layers={layers}", *settings), filled
    )


ALBERT = Proof(
    "one layer's weights for all layers lose little",
    (
        _albert("4 shared", 4),
        _albert("4 unshared", 4, "encode.share_layers=false"),
        _albert("2 shared", 2),
        _albert("8 shared", 8),
    ),
)
STORIES = (
    "task.examples.length=32",
    "task.goal.pair_weight=10.0",
    *("encode.layers=2", "encode.feed=256", "embed.dropout=0", "encode.dropout=0", "encode.attend.attend.dropout=0"),
    "embed.width=64",
    "train.rate=0.004",
    FP32,
    "train.tokens=2048",
)
ORDER = Proof(
    "who learns which text comes next does not learn their order",
    (
        Arm("order", "albert", "stories", 1000, STORIES, ordered),
        Arm("next sentence", "albert", "stories", 1000, (*STORIES, "task.examples.pairs=next"), ordered),
    ),
)


def _gpt(width: int, steps: int = 300) -> Arm:
    shape = (
        f"predict.embed.width={width}",
        f"predict.feed={4 * width}",
        "predict.layers=2",
        "predict.self_attend.heads=4",
    )
    return Arm(
        f"width {width}", "gpt2", "pretrain", steps, (*TEXT, *shape, "predict.self_attend.attend.dropout=0"), perplexity
    )


TEXT = ("task.target.vocabulary=2000", "task.examples.length=128", "train.tokens=2048", "train.rate=0.003", *STILL)
SIZES = Proof("larger models read better", (_gpt(128), _gpt(64), _gpt(32)))
STATE = ("predict.hidden=184", "predict.embed.width=184", "predict.layers=1", "train.precision=bf16", "train.rate=0.01")
TIME = Proof(
    "in the same time it reads better than a state of as many weights",
    (_gpt(128), Arm("one state", "lstm-lm", "pretrain", 231, (*TEXT, *STATE), perplexity)),  # 94 ms an update, 122 ms
)
REPEATS = (
    "task.examples=rows",
    "train.tokens=2048",
    "train.rate=0.002",
    "predict.layers=2",
    "predict.feed=256",
    *STILL,
)
COPY = Proof(
    "what was said once is found again",
    (
        Arm(
            "gpt2",
            "gpt2",
            "repeats",
            800,
            (*REPEATS, "predict.self_attend.heads=4", "predict.embed.width=64", "predict.self_attend.attend.dropout=0"),
            copied,
        ),
    ),
)
PROOFS: Mapping[str, Proof] = {
    "lstmn": LSTMN, "agreement": AGREEMENT, "bert": BERT, "bert-500": BERT_FEW, "trec": TREC, "trec-500": TREC_FEW,
    "fill": FILL, "masks": MASKS,
    "albert": ALBERT, "order": ORDER, "sizes": SIZES, "time": TIME, "copy": COPY,
}  # fmt: skip
