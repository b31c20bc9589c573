"""transformers' MarianMT: its model and its generation; it has no trainer of translators, so the loop is a plain one.

Sentences are sorted by length and cut into batches as large as everybody's; AdamW is the fused one that its own trainer
takes. See worker.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from worker import (
    ATTENTION_DROPOUT,
    DROPOUT,
    Job,
    Round,
    evenly,
    lines_of,
    of_pieces,
    serve,
    training,
    translating,
)

from peers.environment import Peer

PEER = Peer(
    "transformers, MarianMT",
    "peers.marian",
    ("torch", "numpy", "transformers"),
    works=tuple((work, "transformer") for work in ("train", "decode", "latency")),
)
PAD, START, END = 0, 1, 2
LAYERS = {"layers": 3, "attention_heads": 8, "ffn_dim": 1024}
Pair = tuple[list[int], list[int]]


def read(job: Job, file: str, count: int | None = None) -> list[list[int]]:
    """The ids of each line, and its end."""
    lines = lines_of(Path(job["words"], file), count)
    return [[*(int(word[1:]) for word in line.split()), END] for line in lines]


def padded(rows: list[list[int]]) -> Any:
    """Rows of ids as one tensor."""
    import torch

    longest = max(map(len, rows))
    return torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])


def model_of(job: Job) -> Any:
    """A new model of the shape."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    size = 4 + len(lines_of(Path(job["words"], "vocabulary"), None))
    sides = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in LAYERS.items()}
    config = MarianConfig(
        vocab_size=size,
        d_model=256,
        **sides,
        dropout=DROPOUT["transformer"],
        attention_dropout=ATTENTION_DROPOUT,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=512,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=START,
        forced_eos_token_id=None,
    )
    return MarianMTModel(config)


def batches(pairs: list[Pair], tokens: int) -> Iterator[list[Pair]]:
    """Pairs of like length together, at most `tokens` positions of source and target, padding included."""
    batch: list[Pair] = []
    for pair in sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0]))):
        grown = [*batch, pair]
        if batch and len(grown) * sum(max(len(each[side]) for each in grown) for side in (0, 1)) > tokens:
            yield batch
            grown = [pair]
        batch = grown
    yield batch


def train(job: Job) -> tuple[dict[str, Any], Round]:
    """Updates on a few batches that stand for the whole epoch."""
    import torch
    from torch.nn import functional as F

    model = model_of(job).train()
    pairs = list(zip(read(job, "train.source"), read(job, "train.target"), strict=True))

    def cut(tokens: int) -> list[list[Pair]]:
        return evenly(list(batches(pairs, tokens)), job["batches"], lambda batch: len(batch[-1][1]))

    def pieces(batch: list[Pair]) -> int:
        return sum(len(target) for _, target in batch)

    chosen = of_pieces(job["pieces"], cut, pieces)
    tensors = [tuple(padded([pair[side] for pair in batch]) for side in (0, 1)) for batch in chosen]
    real = sum(map(pieces, chosen))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)

    def work() -> dict[str, Any]:
        for source, target in tensors:
            shifted = F.pad(target, (1, 0), value=START)[:, :-1]
            with torch.autocast("cpu", torch.bfloat16, enabled=job["bf16"]):
                found = model(input_ids=source, attention_mask=source != PAD, decoder_input_ids=shifted).logits
                loss = F.cross_entropy(found.flatten(0, 1), target.flatten(), ignore_index=PAD, label_smoothing=0.1)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            optimiser.zero_grad()
        return {"done": real}

    return training(model, len(chosen), real, sum(target.numel() for _, target in tensors)), work


def translate(job: Job) -> tuple[dict[str, Any], Round]:
    """Its generation on the sentences of the test set, sorted by length into batches."""
    import torch

    model = model_of(job).eval()
    exact = {"min_new_tokens": job["steps"], "max_new_tokens": job["steps"]}

    def outputs(rows: list[list[int]], size: int) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        order = sorted(range(len(rows)), key=lambda row: -len(rows[row]))
        for first in range(0, len(order), size):
            some = order[first : first + size]
            source = padded([rows[row] for row in some])
            with torch.no_grad():
                written = model.generate(source, attention_mask=source != PAD, num_beams=job["beam"], **exact)
            found |= dict(zip(some, written.tolist(), strict=True))
        return [found[row] for row in range(len(rows))]

    return translating(job, outputs, read(job, "test.source", job["sentences"]))


def prepare(job: Job) -> tuple[dict[str, Any], Round]:
    """Ready for the work that the job names."""
    return train(job) if job["work"] == "train" else translate(job)


if __name__ == "__main__":
    serve(prepare, "transformers", "torch")
