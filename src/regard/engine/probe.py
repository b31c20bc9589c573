"""Times a small training step in fp32 and in bf16, and writes how many times faster bf16 is. Run as a child process.

python -m regard.engine.probe
"""

from __future__ import annotations

import sys
from time import perf_counter

import torch
from torch import nn

ROWS, STEPS, WIDTH, VOCABULARY, ROUNDS = 64, 12, 256, 4000, 5


def main() -> None:
    """Measure both in turns, after one round to warm up, and compare the best of each."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cell, readout = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, VOCABULARY)
    times: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(ROUNDS + 1):
        for bf16 in times:
            times[bf16].append(_seconds(cell, readout, bf16))
    sys.stdout.write(f"{min(times[False][1:]) / min(times[True][1:]):.3f}\n")


def _seconds(cell: nn.Linear, readout: nn.Linear, bf16: bool) -> float:
    """One step of a recurrent model in the small: a chain of products, then one with the vocabulary."""
    began = perf_counter()
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        state, states = torch.zeros(ROWS, WIDTH), []
        for _ in range(STEPS):
            state = torch.tanh(cell(state))
            states.append(state)
        loss = readout(torch.stack(states, 1)).float().logsumexp(-1).mean()
    loss.backward()
    if not torch.isfinite(loss):
        raise ArithmeticError("bf16 products are not finite here")
    return perf_counter() - began


if __name__ == "__main__":
    main()
