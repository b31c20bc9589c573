"""Regard's side of the speed benchmarks: a process that trains, or translates, a round at a time (see worker.py).

Jobs name their work: `train` (real updates of a real learner on batches of the real text), `decode` (all sentences, in
batches), `latency` (a sentence at a time). `model` is a folder that any engine of Regard runs.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

from worker import Job, Round, evenly, lines_of, of_pieces, serve, training, translating

from regard.search import Options
from regard.translate.translator import Translator

if TYPE_CHECKING:
    from regard.types import Batch

AVERAGE = 16  # source pieces of a sentence, its end included: how many positions so many sentences are


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Updates: a round goes through a few batches that stand for the whole epoch."""
    import setting
    import torch

    from regard.data.pairs import pair_batches
    from regard.learn.learner import Learner, flush_denormals
    from regard.task import TaskParts

    text = setting.corpus(job["data"])
    tokenizer = setting.pieces(text)
    torch.set_num_threads(job["threads"])
    recipe = setting.SHAPES[job["shape"]].resolve()

    def cut(tokens: int) -> list[Batch]:
        epoch = list(pair_batches(text.split("train"), tokenizer, tokenizer, tokens=tokens))
        return evenly(epoch, job["batches"], lambda batch: batch.target.data.shape[1])

    chosen = of_pieces(job["pieces"], cut, _pieces)
    model = setting.build(job["shape"], len(tokenizer))
    objectives = TaskParts.build(recipe.task()).goal.objectives(model)
    learner = Learner(model, recipe.train(), cycle(chosen), objectives=objectives, bf16=job["bf16"])

    def work() -> dict[str, Any]:
        with flush_denormals():
            return {"done": sum(learner.update().count for _ in chosen)}

    positions = sum(batch.target.data[:, 1:].numel() for batch in chosen)
    return training(model, len(chosen), sum(map(_pieces, chosen)), positions), work


def _pieces(batch: Batch) -> int:
    """Target pieces to be predicted, the end included."""
    return int(batch.target.mask[:, 1:].sum())


def translate(job: Job) -> tuple[dict[str, Any], Round]:
    """The sentences of the test set."""
    translator = Translator.load(job["model"], threads=job["threads"])
    options = Options(beam=job["beam"], alpha=job.get("alpha"))
    if job["steps"]:  # so many pieces and no other number, the end being one of them
        exact = job["steps"] - 1
        options = replace(options, min_length=exact, max_length=exact, stretch=math.inf)

    def outputs(lines: list[str], size: int) -> list[str]:
        found = translator.search(lines, options, tokens=size * AVERAGE, record=False)
        return [best[0].text for best in found]

    return translating(job, outputs, lines_of(job["text"], job["sentences"]))


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names. An engine that needs no PyTorch is measured without it."""
    return train(job) if job["work"] == "train" else translate(job)


if __name__ == "__main__":
    serve(prepare, "regard", "torch")
