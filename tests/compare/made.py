"""A report without any training: arms whose scores are made up and whose weights are drawn."""

from pathlib import Path

import torch

from regard.align.alignment import END
from regard.align.record import Aligner, Layer, Record, Tokenized
from regard.compare import Arm, ArmResult, Measures, Outcome, Pairs, Plan, Result, Section, Trial, write_report
from regard.compare.examples import WRITTEN
from regard.compare.page import sentences_html
from regard.evaluate import Bucket, Score
from regard.translate.translator import Translation


def side(words):
    """A side in which every third word is two pieces; the end is added."""
    cut = [(word[:1], word[1:]) if number % 3 == 1 else (word,) for number, word in enumerate(words)]
    pieces = [piece for each in cut for piece in each]
    word = [number for number, each in enumerate(cut) for _ in each]
    return Tokenized(" ".join(words), (4,) * len(pieces) + (2,), (*pieces, END), (*words, END), (*word, len(words)))


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


def result(label, seed=0, *, seeds=1):
    """A trial of an arm, with scores."""
    scores = {name: Score(name, 31.0, "nrefs:1", 29.0, 37.0) for name in ("BLEU", "chrF2", "exact match")}
    lengths = (Bucket(1, 7, 101, scores["BLEU"]), Bucket(8, 13, 103, scores["BLEU"]))
    curve = ((60.0, {"bleu": 11.0 + seed}), (120.0, {"bleu": 31.0 + 2 * seed}))
    trial = Trial(Arm(label, "luong"), seed, seed, alone=seeds == 1)
    return Result(trial, Path(label), 1009, scores, lengths, None, 7.0, ("a b c d e", "f g h"), curve=curve)


def arm_result(label, seeds=1):
    """An arm with all its trials."""
    trials = tuple(result(label, seed, seeds=seeds) for seed in range(seeds))
    return ArmResult(trials[0].trial.arm, trials)


def report(out, arms, sentences, seeds=1):
    """Write a report: labels, and for each sentence its source words and what each arm found, in their order."""
    results = [arm_result(label, seeds) for label in arms]
    outcomes = [Outcome(each.trial, each.trial.folder(out)) for arm in results for each in arm.trials]
    shown = [(" ".join(source), "the reference .", dict(zip(arms, found, strict=True))) for source, found in sentences]
    pairs = Pairs(["a b c d e", "f g h i j k l m"], ["a b c d e", "f g h"])
    section = Section(WRITTEN, sentences_html(shown))
    plan = Plan("copy", steps=3, seeds=seeds)
    return write_report(plan, outcomes, Measures(results, pairs), section, out)
