"""A report without any training: arms whose scores are made up and whose weights are drawn."""

from pathlib import Path

import torch

from regard.align.alignment import END
from regard.align.record import Aligner, Layer, Record, Side
from regard.compare import Outcome, Plan, Result, write_report
from regard.compare.arms import Arm
from regard.compare.report import Example
from regard.evaluate import Bucket, Score
from regard.translator import Translation


def side(words):
    """A side in which every third word is two pieces; the end is added."""
    cut = [(word[:1], word[1:]) if number % 3 == 1 else (word,) for number, word in enumerate(words)]
    pieces = [piece for each in cut for piece in each]
    word = [number for number, each in enumerate(cut) for _ in each]
    return Side(" ".join(words), (4,) * len(pieces) + (2,), (*pieces, END), (*words, END), (*word, len(words)))


def attending(source, target, *, layers=1, heads=1, seed=3):
    """What an arm wrote that attends, with weights of which each row sums to one."""
    draw = torch.Generator().manual_seed(seed)
    ours, theirs = side(source), side(target)
    shape = heads, len(theirs.pieces), len(ours.pieces)
    layered = [Layer("cross", number, torch.randn(shape, generator=draw).softmax(-1)) for number in range(layers)]
    record = Record(ours, theirs, tuple(layered), Aligner("cross", 0, (0,)))
    return Translation(theirs.text, -1.0, -1.0, theirs.pieces, record.alignment(), look=lambda: record)


def blind(target):
    """What an arm wrote that does not attend."""
    return Translation(" ".join(target), -1.0, -1.0, tuple(target), None)


def result(label):
    """An arm with scores."""
    scores = {name: Score(name, 31.0, "nrefs:1", 29.0, 37.0) for name in ("BLEU", "chrF2", "exact match")}
    lengths = (Bucket(1, 7, 101, scores["BLEU"]), Bucket(8, 13, 103, scores["BLEU"]))
    curve = ((60.0, {"bleu": 11.0}), (120.0, {"bleu": 31.0}))
    return Result(Arm(label, "luong"), Path(label), 1009, scores, lengths, None, 7.0, ("a b c d e",), curve=curve)


def report(out, arms, sentences):
    """Write a report: labels, and for each sentence its source words and what each arm found, in their order."""
    results = [result(label) for label in arms]
    outcomes = [Outcome(each.arm, out / "arms" / each.arm.folder) for each in results]
    examples = [Example(" ".join(source), "the reference .", tuple(found)) for source, found in sentences]
    return write_report(Plan("copy", steps=3), outcomes, results, ["a b c d e"], examples, out)
