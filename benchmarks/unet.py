"""A training step of a gated U-Net: ours beside the same network in plain PyTorch, in one run.

    python benchmarks/unet.py [--hidden 16] [--levels 4] [--size 96] [--images 8] [--rounds 9] [--json FILE]

Both have the paper's gates and learn from the same batch by cross-entropy and Dice, with AdamW. Ours is
`Learner.update`, with all that a training does around a step. The plain one is what one writes by hand with PyTorch's
own modules, as it comes (NCHW) and with weights and images in channels-last. They take turns; medians of the clock and
of the processor are told, and the most bytes that tensors held at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import pairwise, repeat
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from measure import costs, table
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.sides.mask import Mask
from regard.fast.pages import keep_pages
from regard.learn.learner import Learner
from regard.model import Model, parameters
from regard.recipe import resolve
from regard.task import TaskParts
from regard.types import Batch, Grid, Masks

CLASSES = 2


def double(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions."""
    layers: list[nn.Module] = []
    for one, other in ((inputs, outputs), (outputs, outputs)):
        layers += [nn.Conv2d(one, other, 3, padding=1, bias=False), nn.BatchNorm2d(other), nn.ReLU()]
    return nn.Sequential(*layers)


class Gate(nn.Module):
    """The paper's gate."""

    def __init__(self, skip: int, gating: int) -> None:
        super().__init__()
        self.theta, self.phi = nn.Conv2d(skip, skip, 2, stride=2, bias=False), nn.Conv2d(gating, skip, 1)
        self.psi = nn.Conv2d(skip, 1, 1)
        self.join = nn.Sequential(nn.Conv2d(skip, skip, 1, bias=False), nn.BatchNorm2d(skip))

    def forward(self, skip: Float[Tensor, "B C h w"], gating: Float[Tensor, "B F i j"]) -> Float[Tensor, "B C h w"]:
        """What passes."""
        alpha = torch.sigmoid(self.psi(F.relu(self.theta(skip) + self.phi(gating))))
        alpha = F.interpolate(alpha, size=skip.shape[2:], mode="bilinear", align_corners=False)
        found: Tensor = self.join(alpha * skip)
        return found


class Plain(nn.Module):
    """An attention U-Net as one writes it."""

    def __init__(self, hidden: int, levels: int) -> None:
        super().__init__()
        widths = [hidden << level for level in range(levels)]
        self.down = nn.ModuleList(double(*pair) for pair in pairwise([1, *widths]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(wide, slim, 2, stride=2) for slim, wide in pairwise(widths))
        self.gates = nn.ModuleList(Gate(slim, wide) for slim, wide in list(pairwise(widths))[1:])
        self.merge = nn.ModuleList(double(2 * width, width) for width in widths[:-1])
        wide = widths[-1]
        self.signal = nn.Sequential(nn.Conv2d(wide, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU())
        self.score = nn.Conv2d(hidden, CLASSES, 1)

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B N h w"]:
        """The score of each class at each pixel."""
        skips: list[Tensor] = []
        for step in self.down:
            data = step(F.max_pool2d(data, 2) if skips else data)
            skips.append(data)
        gating = self.signal(skips.pop())
        for level in reversed(range(len(self.up))):
            skip = skips[level] if level == 0 else self.gates[level - 1](skips[level], gating)
            data = gating = self.merge[level](torch.cat((skip, self.up[level](data)), 1))
        found: Tensor = self.score(data)
        return found


def lost(logits: Float[Tensor, "B N h w"], wanted: Tensor) -> Tensor:
    """Cross-entropy, and 1 - Dice of what is no ground."""
    chances, right = logits.softmax(1)[:, 1], (wanted == 1).float()
    overlap = (2 * (chances * right).sum((1, 2)) + 1) / (chances.sum((1, 2)) + right.sum((1, 2)) + 1)
    return F.cross_entropy(logits, wanted) + (1 - overlap).mean()


def plain_step(shape: tuple[int, int], images: Tensor, wanted: Tensor, *, bf16: bool, last: bool) -> Callable[[], Any]:
    """A step as one writes it."""
    torch.manual_seed(0)
    network = Plain(*shape)
    if last:
        network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = images.to(memory_format=torch.channels_last)
    optimiser = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-4, fused=True)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = lost(network((images - 0.5) / 0.5).float(), wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    return step


def our_step(shape: tuple[int, int], batch: Batch, *, bf16: bool) -> tuple[Model, Callable[[], Any]]:
    """An update of a training."""
    recipe = resolve("attention-unet", [f"encode.hidden={shape[0]}", f"encode.levels={shape[1]}", "predict.deep=false"])
    torch.manual_seed(0)
    model = recipe.build(1, CLASSES)
    task = recipe.task()
    target = Mask("target", classes=("0", "255"))
    objectives = TaskParts.build(task, task.source("source"), target).goal.objectives(model)
    learner = Learner(model, recipe.train(), repeat(batch), objectives=objectives, bf16=bf16)
    return model, lambda: learner.update(0.5)


def main(shape: tuple[int, int], size: int, count: int, rounds: int) -> dict[str, Any]:
    """Measure all of them in turn."""
    keep_pages()  # for both sides
    torch.manual_seed(0)
    images, wanted = torch.rand(count, 1, size, size), torch.randint(0, CLASSES, (count, size, size))
    grid = Grid(images, torch.ones(count, size, size, dtype=torch.bool))
    batch = Batch(grid, Masks(wanted), tuple(range(count)), weights=(size * size,) * count)
    found: dict[str, Any] = {}
    for bf16 in (False, True):
        model, ours = our_step(shape, batch, bf16=bf16)
        name = "bf16" if bf16 else "fp32"
        calls = {f"ours, {name}": ours}
        for last in (True, False):
            told = "channels-last" if last else "as it comes"
            calls[f"plain {told}, {name}"] = plain_step(shape, images, wanted, bf16=bf16, last=last)
        found |= costs(calls, rounds)
    counts = {"ours": parameters(model), "plain": sum(each.numel() for each in Plain(*shape).parameters())}
    print(f"{count} images of {size} x {size}; parameters: {counts}; {torch.get_num_threads()} thread(s)\n")
    first = {name: found[f"plain as it comes, {name}"].cpu for name in ("fp32", "bf16")}
    rows = [
        [
            name,
            f"{1e3 * cost.clock:.0f}",
            f"{1e3 * cost.cpu:.0f}",
            f"{first[name[-4:]] / cost.cpu:.2f}",
            f"{cost.peak / 1e6:.0f}",
        ]
        for name, cost in found.items()
    ]
    table(["step", "ms by the clock", "ms of the processor", "times as fast as plain", "peak MB"], rows)
    return {name: asdict(cost) for name, cost in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--levels", type=int, default=4)
    parser.add_argument("--size", type=int, default=96, help="pixels of a side")
    parser.add_argument("--images", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    asked = parser.parse_args()
    told = main((asked.hidden, asked.levels), asked.size, asked.images, asked.rounds)
    if asked.json is not None:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
