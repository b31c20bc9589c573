"""Regard's side of `language.py`: updates of a small model; an imported one that reads, or writes (see worker.py)."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import torch
from language_setting import ADDED, asked, pieces
from worker import Job, Round, serve

import regard
from regard.data.hiding import SEEN
from regard.data.tokenizer import END
from regard.learn.learner import Learner, flush_denormals
from regard.recipe import resolve
from regard.search import greedy_search
from regard.task import TaskParts
from regard.tasks.generation import GenerateOptions
from regard.types import Batch, Padded, Segmented, nothing


def whole(ids: torch.Tensor) -> Padded:
    """Rows without padding."""
    return Padded(ids, torch.ones_like(ids, dtype=torch.bool))


def batches(job: Job) -> list[Batch]:
    """Blocks of text, or masked texts and whether one follows another, which BERT's recipe asks as well."""
    found = []
    for ids in pieces(job, job["vocabulary"]):
        if job["family"] == "gpt2":
            found.append(Batch(None, whole(ids)))
            continue
        hidden, follows = asked(ids), torch.arange(len(ids)) % 2
        source = Segmented(ids, torch.ones_like(hidden), torch.zeros_like(ids))
        target = Padded(ids.masked_fill(~hidden, SEEN), source.mask)
        weights = tuple(hidden.sum(1).tolist())
        found.append(Batch(source, target, weights=weights, extra={"follows": follows}))
    return found


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Real updates of the recipe."""
    recipe, size = resolve(job["family"]), job["vocabulary"]
    torch.manual_seed(0)
    model = recipe.build(0 if job["family"] == "gpt2" else size, size)
    chosen = batches(job)
    objectives = TaskParts.build(recipe.task()).goal.objectives(model)
    learner = Learner(model, recipe.train(), cycle(chosen), objectives=objectives, bf16=job["bf16"])

    def work() -> dict[str, Any]:
        with flush_denormals():
            for _ in chosen:
                learner.update()
        return {"done": job["pieces"] * len(chosen)}

    return {"parameters": sum(each.numel() for each in model.parameters())}, work


def read(job: Job) -> tuple[dict[str, Any], Round]:
    """The scores of all pieces at all positions."""
    model = regard.load(job["ours"]).model
    source = whole(pieces(job, model.sizes[0])[0])

    def work() -> dict[str, Any]:
        with torch.no_grad():
            for _ in range(job["repeat"]):
                found = model.fill(source).logits
        return {"done": job["repeat"] * source.data.numel(), "found": found[-1, -1, :8].tolist()}

    return {}, work


def write(job: Job) -> tuple[dict[str, Any], Round]:
    """Greedily, after a prompt."""
    model = regard.load(job["ours"]).model
    prompts = (pieces(job, model.sizes[1] - ADDED)[0] + ADDED).tolist()
    options = GenerateOptions(greedy=True, min_length=job["new"], max_length=job["new"]).search(prompts)

    def work() -> dict[str, Any]:
        found = greedy_search(model, nothing(len(prompts)), options, start=END, end=END)
        written = [[piece - ADDED for piece in each.ids[job["length"] :]] for each in found]
        return {"done": job["new"] * len(prompts), "found": written}

    return {}, work


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    torch.set_num_threads(job["threads"])
    return {"train": train, "read": read, "write": write}[job["work"]](job)


if __name__ == "__main__":
    serve(prepare, "regard", "torch")
