"""An update and an epoch of an auto-encoder, ours beside plain PyTorch: `python benchmarks/autoencoder.py`.

The net is 784-256-64-32-64-256-784 (or convolutions), the batch 128 images of 28 x 28, Adam, gradients clipped, one
thread. Ours is an update of `Learner`; theirs is what anyone writes: forward, loss, backward, clip, step. An epoch adds
reading: ours from files that were decoded before, theirs a `DataLoader` over images in memory, and over files. All take
turns in one process; medians of the processor's time, which a busy machine changes least.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator
from itertools import cycle, pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import torch
from measure import peak
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

from regard.data.batches import Batches
from regard.data.sides.image import keep_decoded
from regard.learn.learner import Learner, flush_denormals
from regard.recipe import resolve
from regard.task import TaskParts

SIDE, BATCH = 28, 128
SETTINGS = ("train.schedule=constant",)


class Files(Dataset):
    """Images as files, decoded each time they are asked for."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, place: int) -> torch.Tensor:
        return torch.from_numpy(np.array(Image.open(self.files[place]))).unsqueeze(0).float() / 255


class Kept(Dataset):
    """Images in memory, as bytes."""

    def __init__(self, images: torch.Tensor) -> None:
        self.images = images

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, place: int) -> torch.Tensor:
        return self.images[place].float() / 255


class Rows:
    """Files as a split."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, rows: list[int], /) -> dict[str, list[str]]:
        return {"source": [self.files[row] for row in rows], "target": [""] * len(rows)}


def plain(name: str) -> nn.Module:
    """The same net without us."""
    if name == "autoencoder-convolutional":
        return nn.Sequential(
            *(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(True), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(True), nn.Flatten()),
            *(nn.Linear(32 * 49, 32), nn.Linear(32, 32 * 49), nn.ReLU(True), nn.Unflatten(1, (32, 7, 7))),
            *(nn.ConvTranspose2d(32, 16, 4, 2, 1), nn.ReLU(True), nn.ConvTranspose2d(16, 1, 4, 2, 1), nn.Sigmoid()),
        )
    widths = (SIDE * SIDE, 256, 64, 32, 64, 256, SIDE * SIDE)
    layers: list[nn.Module] = [nn.Flatten()]
    for place, pair in enumerate(pairwise(widths)):
        layers += [nn.Linear(*pair), *([] if place in (2, 5) else [nn.ReLU(True)])]
    return nn.Sequential(*layers, nn.Sigmoid(), nn.Unflatten(1, (1, SIDE, SIDE)))


def plain_step(net: nn.Module, rate: float) -> Callable[[torch.Tensor], None]:
    """What anyone writes."""
    optimiser = torch.optim.Adam(net.parameters(), rate)

    def step(images: torch.Tensor) -> None:
        optimiser.zero_grad()
        nn.functional.mse_loss(net(images), images).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()

    return step


def turns(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median of the processor's seconds of each call, in an order that is drawn anew each round."""
    spent: dict[str, list[float]] = {name: [] for name in calls}
    dice = random.Random(1)
    for _ in range(rounds):
        for name in dice.sample(list(calls), len(calls)):
            began = process_time()
            calls[name]()
            spent[name].append(process_time() - began)
    return {name: median(each) for name, each in spent.items()}


def learner_of(name: str, parts: TaskParts, batches: Iterator[Any]) -> Learner:
    """Ours, as a training makes it."""
    recipe = resolve(name, SETTINGS)
    model = recipe.build(*parts.specs)
    return Learner(model, recipe.train(), batches, objectives=parts.goal.objectives(model))


def steps(name: str, images: torch.Tensor, rounds: int) -> None:
    """An update of one batch."""
    parts = TaskParts.build(resolve(name).task())
    cells = [image.numpy() for image in images[:BATCH, 0]]
    batch = parts.goal.collate([parts.example(cell, None, row) for row, cell in enumerate(cells)])
    learner = learner_of(name, parts, cycle([batch]))
    theirs, data = plain_step(plain(name), 0.001), batch.source.data
    calls: dict[str, Callable[[], Any]] = {"ours": learner.update, "plain": lambda: theirs(data)}
    with flush_denormals():
        turns(calls, 5)
        found = turns(calls, rounds)
    most = {each: peak(call) / 2**20 for each, call in calls.items()}
    print(
        f"{name}: an update takes {1000 * found['ours']:.2f} ms, plain PyTorch {1000 * found['plain']:.2f} ms: "
        f"{found['plain'] / found['ours']:.2f} times as fast; peak {most['ours']:.1f} MiB beside {most['plain']:.1f}"
    )


def epochs(name: str, images: torch.Tensor, folder: Path, rounds: int) -> None:
    """All images once: read, batched and learnt from."""
    files = []
    for number, image in enumerate(images[:, 0]):
        files.append(str(folder / f"{number}.png"))
        Image.fromarray(image.numpy()).save(files[-1])
    parts = TaskParts.build(resolve(name).task())
    keep_decoded(parts.source)
    batches = Batches(Rows(files), parts.goal, tokens=BATCH * SIDE * SIDE, mixed=True)
    learner = learner_of(name, parts, batches.forever())
    count = -(-len(files) // BATCH)

    def ours() -> None:
        for _ in range(count):
            learner.update()

    def theirs(data: Dataset) -> Callable[[], None]:
        loader, step = DataLoader(data, BATCH, shuffle=True), plain_step(plain(name), 0.001)

        def epoch() -> None:
            for each in loader:
                step(each)

        return epoch

    calls = {"ours": ours, "DataLoader, memory": theirs(Kept(images)), "DataLoader, files": theirs(Files(files))}
    with flush_denormals():
        turns(calls, 1)  # in which ours decodes each file
        found = turns(calls, rounds)
    told = ", ".join(f"{each} {len(files) / seconds:,.0f}" for each, seconds in found.items())
    print(f"{name}: images a second in an epoch: {told}")


def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--recipes", nargs="*", default=["autoencoder", "autoencoder-convolutional"])
    asked = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    images = torch.randint(0, 256, (asked.images, 1, SIDE, SIDE), dtype=torch.uint8)
    for name in asked.recipes:
        steps(name, images, asked.rounds)
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.recipes[:1]:
            epochs(name, images, Path(folder), asked.epochs)


if __name__ == "__main__":
    main()
