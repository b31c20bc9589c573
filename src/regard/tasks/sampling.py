"""What samples of a generator are worth, beside the images of a split."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from datasets import Dataset

from regard.evaluate import Report, Stopwatch
from regard.evaluate.metrics import METRICS, sampled
from regard.evaluate.samples import count_symmetry
from regard.tasks.sampler import Sampler, features_of

if TYPE_CHECKING:
    from regard.tasks.evaluation import Answers

# What a built-in corpus is made to show, and its images are measured by too.
OWN = {"mirror": ("symmetry_error",)}


def metrics_for(model: Sampler, corpus: str) -> tuple[str, ...]:
    """What samples are measured by, beside the images of a corpus."""
    names = dict.fromkeys((*model.metrics, *OWN.get(corpus, ())))
    return tuple(name for name in names if METRICS[name].count_samples)


def evaluate_samples(model: Sampler, rows: Dataset, corpus: str, features: str | Path | None) -> tuple[Report, Answers]:
    """As many samples as there are images, of the same labels; and what the images themselves are measured at."""
    from regard.tasks.evaluation import Answers

    cells, references = list(rows["source"]), list(rows["target"])
    real = model.target.encode(references)
    described = features_of(features) if features is not None else model.described
    watch = Stopwatch()
    with watch:
        found = model.answer(cells, record=False)
    watch.add(len(found), 0)
    names = metrics_for(model, corpus)
    counted = sampled(names, found, real, described)
    notes = []
    if "symmetry_error" in counted:
        images = torch.stack(real)
        own = METRICS["symmetry_error"].told(count_symmetry(images, images).value())
        notes.append(f"symmetry error of the images themselves: {own}")
    scores = tuple(each.score() for each in counted.values())
    report = Report(f"{len(found):,} samples of seed 0", scores, speed=watch.throughput(), notes=tuple(notes))
    return report, Answers([each.text for each in found])
