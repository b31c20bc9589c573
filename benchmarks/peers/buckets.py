"""What OpenNMT-py and eole, which descends from it, have in common: batches in buckets, and a trainer that takes them.

A bucket is as large as the whole text here, so that the first one is an epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import Any

from worker import Job, Round, evenly, of_pieces, training

Row = tuple[dict[str, Any], int]  # a batch, and the number of its bucket


def pieces(row: Row) -> int:
    """Target pieces of a batch that are predicted: the start is not."""
    return int(row[0]["tgtlen"].sum()) - len(row[0]["tgtlen"])


def dropped_as_ours(model: Any) -> None:
    """Both drop numbers inside the feed-forward of a Transformer with the share of everything else; Regard does not."""
    for module in model.modules():
        if hasattr(module, "dropout_1") and hasattr(module, "dropout_2"):
            module.dropout_1.p = 0.0


def trained(trainer: Any, model: Any, rows: Callable[[int], Iterable[Row]], job: Job) -> tuple[Job, Round]:
    """Its trainer goes through a few of its batches, which stand for the whole epoch; `rows` are cut by its limit."""

    def cut(limit: int) -> list[Row]:
        epoch = list(takewhile(lambda each: each[1] == 0, rows(limit)))
        return evenly(epoch, job["batches"], lambda each: each[0]["tgt"].shape[1])

    dropped_as_ours(model)
    chosen = of_pieces(job["pieces"], cut, pieces)
    real = sum(map(pieces, chosen))
    positions = sum(batch["tgt"][:, 1:].numel() for batch, _ in chosen)

    def work() -> dict[str, Any]:
        trainer.train(chosen, 0, save_checkpoint_steps=0, valid_steps=10**9)
        return {"done": real}

    return training(model, len(chosen), real, positions), work
