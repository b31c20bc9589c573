"""A training step of a residual attention network: ours beside the same network in plain PyTorch, in one run.

    python benchmarks/residual.py [--modules 1] [--rounds 9] [--json FILE]

Both have the recipe's shape (32 x 32 pixels, 64 images, SGD with Nesterov's momentum), `modules` attention modules on
each of the two coarser grids, and learn from the same batch. Ours is `Learner.update`, with all that a training does
around a step. The plain one is what one writes by hand with PyTorch's own modules, as it comes (NCHW) and with weights
and images in channels-last. They take turns; medians of the clock and of the processor are told, and the most bytes
that tensors held at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from measure import costs, table
from torch import Tensor, nn
from torch.nn import functional as F

from regard.fast.pages import keep_pages
from regard.learn.learner import Learner
from regard.model import Model, parameters
from regard.recipe import resolve
from regard.task import TaskParts
from regard.types import Batch, Grid, Labels

IMAGES, SIZE, CLASSES = 64, 32, 10


class Unit(nn.Module):
    """A pre-activation unit."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first, self.second = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.one = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        same = inputs == outputs and stride == 1
        self.skip = None if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """One unit."""
        active = F.relu(self.first(data))
        found = self.two(F.relu(self.second(self.one(active))))
        return found + (data if self.skip is None else self.skip(active))


class Module(nn.Module):
    """An attention module with p = 1, t = 2, r = 1."""

    def __init__(self, width: int, poolings: int) -> None:
        super().__init__()
        self.before, self.after = Unit(width, width), Unit(width, width)
        self.trunk = nn.Sequential(Unit(width, width), Unit(width, width))
        self.down = nn.ModuleList(Unit(width, width) for _ in range(poolings))
        self.up = nn.ModuleList(Unit(width, width) for _ in range(poolings))
        self.skips = nn.ModuleList(Unit(width, width) for _ in range(poolings - 1))
        self.open = nn.Sequential(
            *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 1, bias=False)),
            *(nn.BatchNorm2d(width), nn.ReLU(), nn.Conv2d(width, width, 1), nn.Sigmoid()),
        )

    def forward(self, data: Float[Tensor, "B D i j"]) -> Float[Tensor, "B D i j"]:
        """The trunk under its mask."""
        data = self.before(data)
        coarse, sizes, skipped = data, [data.shape[2:]], []
        for level, unit in enumerate(self.down):
            coarse = unit(F.max_pool2d(coarse, 3, 2, 1))
            if level < len(self.skips):
                sizes.append(coarse.shape[2:])
                skipped.append(self.skips[level](coarse))
        for unit in self.up:
            coarse = F.interpolate(unit(coarse), sizes.pop(), mode="bilinear", align_corners=True)
            if skipped:
                coarse = coarse + skipped.pop()
        return self.after((1 + self.open(coarse)) * self.trunk(data))


def plain(modules: int) -> nn.Sequential:
    """The whole network."""
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, padding=1, bias=False), Unit(16, 16), Unit(16, 32, 2)]
    layers += [*(Module(32, 2) for _ in range(modules)), Unit(32, 64, 2), *(Module(64, 1) for _ in range(modules))]
    last = (nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES))
    return nn.Sequential(*layers, *last)


def plain_step(modules: int, images: Tensor, labels: Tensor, *, bf16: bool, last: bool) -> Callable[[], Any]:
    """A step as one writes it."""
    torch.manual_seed(0)
    network = plain(modules)
    if last:
        network, images = network.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.SGD(network.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(network((images - 0.5) / 0.25).float(), labels)
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()

    return step


def our_step(modules: int, batch: Batch, *, bf16: bool) -> tuple[Model, Callable[[], Any]]:
    """An update of a training."""
    recipe = resolve("residual-attention", [f"encode.modules=[0,{modules},{modules}]"])
    torch.manual_seed(0)
    model = recipe.build(3, CLASSES)
    objectives = TaskParts.build(recipe.task()).goal.objectives(model)
    learner = Learner(model, recipe.train(), repeat(batch), objectives=objectives, bf16=bf16)
    return model, lambda: learner.update(0.5)


def main(modules: int, rounds: int) -> dict[str, Any]:
    """Measure all of them in turn."""
    keep_pages()  # for both sides
    torch.manual_seed(0)
    images, labels = torch.rand(IMAGES, 3, SIZE, SIZE), torch.randint(0, CLASSES, (IMAGES,))
    grid = Grid(images, torch.ones(IMAGES, SIZE, SIZE, dtype=torch.bool))
    batch = Batch(grid, Labels(labels), tuple(range(IMAGES)), weights=(1,) * IMAGES)
    found: dict[str, Any] = {}
    for bf16 in (False, True):
        model, ours = our_step(modules, batch, bf16=bf16)
        name = "bf16" if bf16 else "fp32"
        calls = {f"ours, {name}": ours}
        for last in (True, False):
            told = "channels-last" if last else "as it comes"
            calls[f"plain {told}, {name}"] = plain_step(modules, images, labels, bf16=bf16, last=last)
        found |= costs(calls, rounds)
    counts = {"ours": parameters(model), "plain": sum(each.numel() for each in plain(modules).parameters())}
    print(f"{modules} modules a grid; parameters: {counts}; {torch.get_num_threads()} thread(s)\n")
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
    parser.add_argument("--modules", type=int, default=1, help="on each of the two coarser grids")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    asked = parser.parse_args()
    told = main(asked.modules, asked.rounds)
    if asked.json is not None:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
