"""Captions a second: ours beside a plain PyTorch loop over the same weights, many images at once and one at a time.

    python benchmarks/caption.py FOLDER RUN [--beam 3 1] [--threads 1 2] [--images 256] [--rounds 5] [--json FILE]

FOLDER is what `flickr8k.py` wrote, RUN a training of `caption-frozen`. Both sides begin with the features of the frozen
network: ours reads them from the cache on the disk, the loop has them in memory. Both write the captions of the same
images with the same beam, length penalty and limit, 64 images at a time and one by one, in turn, and medians are told,
by the clock and of the processor. The loop is what one writes by hand: keys and first states once for a batch,
a row for each hypothesis, one step of all rows at a time, states that follow their beam, until all rows have ended.
How many captions of both sides are the same is told too: an ended hypothesis keeps its place in a beam of the loop only
as long as it is likely enough, ours always, so that a few differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import torch
from flickr8k_table import load_captioner, open_split
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.data.tokenizer import END, START
from regard.errors import RegardError
from regard.search import Options
from regard.tasks.captioner import Captioner
from regard.translate.translator import SILENT

TOGETHER = 64  # images of a batch


class Plain:
    """Show, Attend and Tell as a loop, with the weights of one of our models."""

    def __init__(self, model: Captioner) -> None:
        weights = {name: each.detach() for name, each in model.model.state_dict().items()}
        if "predict.attend.score.vector" not in weights or "encode.narrow.weight" not in weights:
            raise RegardError("the loop is written for a run of caption-frozen, with additive attention.")
        self.narrow = weights["encode.narrow.weight"], weights["encode.narrow.bias"]
        self.words = weights["predict.embed.table.weight"]
        self.query = weights["predict.attend.score.of_query.weight"], weights["predict.attend.score.of_query.bias"]
        self.key, self.vector = weights["predict.attend.score.of_key.weight"], weights["predict.attend.score.vector"]
        self.first = [
            (weights[f"predict.bridge.{name}.0.0.weight"], weights[f"predict.bridge.{name}.0.0.bias"])
            for name in ("hidden", "cell")
        ]
        inputs = [weights[f"predict.cells.0.project.{number}.weight"] for number in (0, 1)]
        self.enter = torch.cat(inputs, 1), weights["predict.cells.0.project.0.bias"]
        self.recur = weights["predict.cells.0.recur.weight"], weights["predict.cells.0.recur.bias"]
        self.select = weights["predict.select.weight"], weights["predict.select.bias"]
        self.join = weights["predict.readout.join.weight"], weights["predict.readout.join.bias"]
        self.score = weights["predict.readout.inner.score.weight"], weights["predict.readout.inner.score.bias"]

    def step(
        self, token: Tensor, hidden: Tensor, cell: Tensor, cells: Tensor, keys: Tensor
    ) -> tuple[Float[Tensor, "N V"], Tensor, Tensor]:
        """Scores of the next word of each row, and the states after it."""
        word = self.words[token]
        bent = torch.tanh(keys + F.linear(hidden, *self.query).unsqueeze(1))
        weights = torch.softmax(bent @ self.vector, 1)
        seen = torch.sigmoid(F.linear(hidden, *self.select)) * (weights.unsqueeze(1) @ cells).squeeze(1)
        gates = F.linear(torch.cat((word, seen), 1), *self.enter) + F.linear(hidden, *self.recur)
        enter, forget, new, leave = gates.chunk(4, 1)
        cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
        hidden = torch.sigmoid(leave) * torch.tanh(cell)
        deep = torch.tanh(word + F.linear(torch.cat((hidden, seen), 1), *self.join))
        return F.linear(deep, *self.score), hidden, cell

    def begin(self, features: Float[Tensor, "B D i j"]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Cells, keys, and the first states of each image."""
        cells = F.relu(F.linear(features.flatten(2).transpose(1, 2), *self.narrow))
        hidden, cell = (torch.tanh(F.linear(cells.mean(1), *each)) for each in self.first)
        return cells, F.linear(cells, self.key), hidden, cell

    @torch.no_grad()
    def captions(self, features: Float[Tensor, "B D i j"], beam: int, alpha: float, limit: int) -> list[list[int]]:
        """The pieces of the best caption of each image."""
        count = len(features)
        cells, keys, hidden, cell = (each.repeat_interleave(beam, 0) for each in self.begin(features))
        token = torch.full((count * beam,), START)
        total = torch.full((count, beam), float("-inf"))
        total[:, 0] = 0
        ended = torch.zeros(count * beam, dtype=torch.bool)
        length = torch.zeros(count * beam)
        written = torch.empty(count * beam, 0, dtype=torch.long)
        first = torch.arange(count).unsqueeze(1) * beam
        for _ in range(limit + 1):
            scores, hidden, cell = self.step(token, hidden, cell, cells, keys)
            scores[:, list(SILENT)] = float("-inf")
            chances = torch.log_softmax(scores, 1)
            chances[ended] = float("-inf")  # what has ended stays as it is
            chances[ended, END] = 0
            sums = (total.view(-1, 1) + chances).view(count, -1)
            total, places = sums.topk(beam, 1)
            parent = (first + places // chances.shape[1]).view(-1)
            token = (places % chances.shape[1]).view(-1)
            hidden, cell, ended, length = hidden[parent], cell[parent], ended[parent], length[parent]
            written = torch.cat((written[parent], token.unsqueeze(1)), 1)
            length = length + ~ended
            ended = ended | (token == END)
            if ended.all():
                break
        ranks = total / ((5 + length.view(count, beam)) / 6) ** alpha
        best = ranks.masked_fill(~ended.view(count, beam), float("-inf")).argmax(1) + first.squeeze(1)
        return [row[: row.index(END)] if END in row else row[:limit] for row in written[best].tolist()]


def in_turn(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, tuple[float, float]]:
    """Medians of the seconds of each call, by the clock and of the processor; once before, to be warm."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(rounds):
        for name, call in calls.items():
            clock, cpu = perf_counter(), process_time()
            call()
            times[name].append((perf_counter() - clock, process_time() - cpu))
    return {name: (median(a for a, _ in both), median(b for _, b in both)) for name, both in times.items()}


def measure(model: Captioner, images: Sequence[str], beam: int, at_once: int, rounds: int) -> dict[str, Any]:
    """Both sides on the same images, so many at a time."""
    plain, held = Plain(model), [each.read() for each in model.source.encode(images)]
    options = Options(beam=beam, alpha=model.alpha)
    cells = held[0].shape[1] * held[0].shape[2]
    limit = min(options.max_length, int(options.stretch * cells + 10))
    groups = [range(first, min(first + at_once, len(images))) for first in range(0, len(images), at_once)]

    def ours() -> list[str]:
        found = [model.search([images[n] for n in group], options, record=False) for group in groups]
        return [best[0].text for some in found for best in some]

    def theirs() -> list[str]:
        found: list[str] = []
        for group in groups:
            features = torch.stack([held[n] for n in group]).float()
            pieces = plain.captions(features, beam, float(model.alpha), limit)
            found += [model.target.tokenizer.decode(each) for each in pieces]
        return found

    same = sum(map(str.__eq__, ours(), theirs())) / len(images)
    found = in_turn({"ours": ours, "plain": theirs}, rounds)
    rates = {name: {"clock": len(images) / clock, "cpu": len(images) / cpu} for name, (clock, cpu) in found.items()}
    ratio = {by: rates["ours"][by] / rates["plain"][by] for by in ("clock", "cpu")}
    return {"beam": beam, "at once": at_once, **rates, "ratio": ratio, "same": same}


def main() -> None:
    """Read the command line, print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("run", type=Path)
    parser.add_argument("--beam", type=int, nargs="+", default=[3, 1])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--alone", type=int, default=64, help="images that are captioned one by one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    try:
        images, _ = open_split(asked.folder, "test", asked.images)
        model = load_captioner(asked.run)
        told = []
        print("threads | beam | at once | ours, captions/s | plain loop | ratio (of the processor) | same captions")
        for threads, beam, at_once in product(asked.threads, asked.beam, (TOGETHER, 1)):
            torch.set_num_threads(threads)
            some = images if at_once > 1 else images[: asked.alone]
            row = measure(model, some, beam, at_once, asked.rounds)
            rates = " | ".join(f"{row[side]['clock']:.1f}" for side in ("ours", "plain"))
            ratio = f"{row['ratio']['clock']:.2f} ({row['ratio']['cpu']:.2f})"
            print(f"{threads} | {beam} | {at_once} | {rates} | {ratio} | {100 * row['same']:.0f} %", flush=True)
            told.append({"threads": threads, **row})
    except RegardError as wrong:
        sys.exit(f"caption.py: {wrong}")
    if asked.json:
        asked.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
