"""What OpenNMT-py and eole, which descends from it, have in common: batches in buckets, and a trainer that takes them.

A bucket is as large as the whole text here, so that the first one is an epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from worker import Job, Round, evenly, training


def trained(trainer: Any, model: Any, rows: Iterable[tuple[dict[str, Any], int]], job: Job) -> tuple[Job, Round]:
    """Its trainer goes through a few of its batches, which stand for the whole epoch."""
    epoch = list(takewhile(lambda each: each[1] == 0, rows))
    chosen = evenly(epoch, job["batches"], lambda each: each[0]["tgt"].shape[1])
    real = sum(int(batch["tgtlen"].sum()) - len(batch["tgtlen"]) for batch, _ in chosen)  # the start is not predicted
    positions = sum(batch["tgt"][:, 1:].numel() for batch, _ in chosen)

    def work() -> dict[str, Any]:
        trainer.train(chosen, 0, save_checkpoint_steps=0, valid_steps=10**9)
        return {"done": real}

    return training(model, len(chosen), real, positions), work
