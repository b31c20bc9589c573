"""One update of a GAN, both steps: ours beside the same networks in plain PyTorch, in one run.

    python benchmarks/gan.py [--images 32] [--rounds 9] [--json FILE]

Both have the recipe's widths and attention over 16 x 16 cells, spectral normalisation in both networks, the hinge loss
and two Adams, and learn from the same images. Ours is `Learner.update`, with its average and all that a training does
around a step. The plain one is what one writes by hand with PyTorch's own modules and its spectral_norm, as it comes
(NCHW) and with weights and images in channels-last. They take turns; medians of the clock and of the processor are
told, and the most bytes that tensors held at once.
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
from torch.nn.utils.parametrizations import spectral_norm

from regard.fast.pages import keep_pages
from regard.learn.learner import Learner
from regard.recipe import resolve
from regard.task import Spec, TaskParts
from regard.tasks.goals.adversarial import NOISE
from regard.types import Batch, Grid

SIZE, NUMBERS = 32, 64
GENERATOR, CRITIC = (64, 64, 32, 32), (32, 32, 64)


def convolution(inputs: int, outputs: int, kernel: int = 3, *, bias: bool = True) -> nn.Module:
    """A convolution as both networks have them."""
    return spectral_norm(nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=bias))


class Attention(nn.Module):
    """The paper's layer, with 1 x 1 convolutions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.f, self.g = (convolution(width, width // 8, 1, bias=False) for _ in range(2))
        self.h, self.out = convolution(width, width // 2, 1, bias=False), convolution(width // 2, width, 1, bias=False)
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B C h w"]:
        """y = gamma o + x."""
        f, g, h = (each(data).flatten(2) for each in (self.f, self.g, self.h))
        weights = torch.softmax(g.mT @ f, -1)
        return data + self.gamma * self.out((h @ weights.mT).unflatten(2, data.shape[2:]))


class Up(nn.Module):
    """A block of the generator."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.one, self.two = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.first, self.second = convolution(inputs, outputs), convolution(outputs, outputs)
        self.skip = convolution(inputs, outputs, 1)

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """Twice the grid."""
        found = self.first(F.interpolate(F.relu(self.one(data)), scale_factor=2.0))
        return self.second(F.relu(self.two(found))) + F.interpolate(self.skip(data), scale_factor=2.0)


class Down(nn.Module):
    """A block of the critic."""

    def __init__(self, inputs: int, outputs: int, *, first: bool = False, halves: bool = True) -> None:
        super().__init__()
        self.is_first, self.halves = first, halves
        self.first, self.second = convolution(inputs, outputs), convolution(outputs, outputs)
        self.skip = convolution(inputs, outputs, 1) if halves else nn.Identity()

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """Half the grid, or the same."""
        found = self.second(F.relu(self.first(data if self.is_first else F.relu(data))))
        if not self.halves:
            return found + data
        return F.avg_pool2d(found, 2) + self.skip(F.avg_pool2d(data, 2))


class Generator(nn.Module):
    """The whole generator."""

    def __init__(self) -> None:
        super().__init__()
        self.first = spectral_norm(nn.Linear(NUMBERS, GENERATOR[0] * 16))
        blocks: list[nn.Module] = [Up(*pair) for pair in pairwise(GENERATOR)]
        blocks.insert(2, Attention(GENERATOR[2]))
        self.blocks = nn.Sequential(*blocks)
        self.last = nn.Sequential(nn.BatchNorm2d(GENERATOR[-1]), nn.ReLU(), convolution(GENERATOR[-1], 3), nn.Tanh())

    def forward(self, noise: Float[Tensor, "B Z"]) -> Float[Tensor, "B 3 h w"]:
        """Images."""
        return self.last(self.blocks(self.first(noise).unflatten(1, (-1, 4, 4))))


class Critic(nn.Module):
    """The whole critic."""

    def __init__(self) -> None:
        super().__init__()
        pairs = list(pairwise((3, *CRITIC)))
        blocks: list[nn.Module] = [Down(*pair, first=not place) for place, pair in enumerate(pairs)]
        blocks.insert(1, Attention(CRITIC[0]))
        self.blocks = nn.Sequential(*blocks, Down(CRITIC[-1], CRITIC[-1], halves=False))
        self.score = spectral_norm(nn.Linear(CRITIC[-1], 1))

    def forward(self, images: Float[Tensor, "B 3 h w"]) -> Float[Tensor, "B 1"]:
        """Scores."""
        return self.score(F.relu(self.blocks(images)).sum((2, 3)))


def plain_step(images: Tensor, *, bf16: bool, last: bool) -> Callable[[], Any]:
    """An update as one writes it."""
    torch.manual_seed(0)
    both = [Generator(), Critic()]
    if last:
        both = [each.to(memory_format=torch.channels_last) for each in both]  # type: ignore[call-overload]
        images = images.to(memory_format=torch.channels_last)
    generator, critic = both
    adams = [torch.optim.Adam(each.parameters(), 2e-4, (0.0, 0.9), fused=True) for each in both]
    count = len(images)

    def step() -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            with torch.no_grad():
                made = generator(torch.randn(count, NUMBERS))
            real, false = critic(torch.cat((images, made.float()))).float().chunk(2)
        (F.relu(1 - real).mean() + F.relu(1 + false).mean()).backward()
        adams[1].step()
        adams[1].zero_grad()
        critic.requires_grad_(False)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            loss = -critic(generator(torch.randn(count, NUMBERS))).float().mean()
        loss.backward()
        critic.requires_grad_(True)
        adams[0].step()
        adams[0].zero_grad()

    return step


def our_step(batch: Batch, *, bf16: bool) -> tuple[int, Callable[[], Any]]:
    """The weights of our model, and an update of a training."""
    recipe = resolve("sagan")
    torch.manual_seed(0)
    model = recipe.build(Spec(0), Spec(3, (SIZE, SIZE)))
    objectives = TaskParts.build(recipe.task()).goal.objectives(model)
    learner = Learner(model, recipe.train(), repeat(batch), objectives=objectives, bf16=bf16)
    return sum(each.numel() for each in model.parameters()), lambda: learner.update(0.5)


def main(count: int, rounds: int) -> dict[str, Any]:
    """Measure all of them in turn."""
    keep_pages()  # for both sides
    torch.manual_seed(0)
    images = torch.rand(count, 3, SIZE, SIZE)
    grid = Grid(images, torch.ones(count, SIZE, SIZE, dtype=torch.bool))
    seeds = {NOISE: torch.arange(count)}
    batch = Batch(None, grid, tuple(range(count)), weights=(1,) * count, extra=seeds)
    found: dict[str, Any] = {}
    weights = sum(each.numel() for net in (Generator(), Critic()) for each in net.parameters())
    for bf16 in (False, True):
        name = "bf16" if bf16 else "fp32"
        ours, calls = our_step(batch, bf16=bf16)
        steps = {f"ours, {name}": calls}
        for last in (True, False):
            told = "channels-last" if last else "as it comes"
            steps[f"plain {told}, {name}"] = plain_step(2 * images - 1, bf16=bf16, last=last)
        found |= costs(steps, rounds)
    print(f"{count} images; parameters: ours {ours:,}, plain {weights:,}; {torch.get_num_threads()} thread(s)\n")
    first = {name: found[f"plain as it comes, {name}"].cpu for name in ("fp32", "bf16")}
    rows = []
    for name, cost in found.items():
        milliseconds = [f"{1e3 * each:.0f}" for each in (cost.clock, cost.cpu)]
        rows.append([name, *milliseconds, f"{first[name[-4:]] / cost.cpu:.2f}", f"{cost.peak / 1e6:.0f}"])
    table(["step", "ms by the clock", "ms of the processor", "times as fast as plain", "peak MB"], rows)
    return {name: asdict(cost) for name, cost in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    asked = parser.parse_args()
    told = main(asked.images, asked.rounds)
    if asked.json is not None:
        asked.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
