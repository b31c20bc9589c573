"""The lookup task of the hard-attention bench: sixteen slots hold a class each, a query names one of them.

Looking at the named slot is all there is to learn, so a mechanism's learning signal shows by itself.
Run by `python benchmarks/mechanisms.py --only hard`. Shapes: B items, K slots, N classes.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from time import process_time
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attend import Heads
from regard.hooks import LossTerms, Reward, loss_terms
from regard.registry import Maker, maker

SLOTS, CLASSES, HIDDEN, BATCH, RATE = 16, 8, 32, 64, 3e-3
# Each arm is the recipe line `choice = {...}` of an attention.
ARMS: dict[str, Maker] = {
    "soft": maker("choice", "soft"),
    "hard, no baseline": maker("choice", "hard", baseline=0.0, entropy=0.0),
    "hard, baseline": maker("choice", "hard", baseline=0.9, entropy=0.0),
    "hard, baseline, entropy, half expected": maker("choice", "hard", baseline=0.9, entropy=0.002, expected=0.5),
}


@dataclass(frozen=True)
class Items:
    """Slots (B K 24) in any order, the name of one of them (B 1 16), and its class (B)."""

    slots: Tensor
    query: Tensor
    label: Tensor


class Lookup(nn.Module):
    """One head over the slots, and a linear layer from what it brings to the class."""

    def __init__(self, choice: Maker) -> None:
        super().__init__()
        inner = maker("attend", "attention", score=maker("score", "dot"), choice=choice)
        self.attend = Heads(SLOTS, SLOTS + CLASSES, SLOTS + CLASSES, heads=1, width=HIDDEN, attend=inner)
        self.read = nn.Linear(HIDDEN, CLASSES)

    def asking(self) -> list[nn.Parameter]:
        """The weights that decide where to look, which a draw gives no gradient but the score function's."""
        return [*self.attend.of_query.parameters(), *self.attend.of_key.parameters()]

    def forward(self, items: Items) -> Tensor:
        """The log-probability of each class."""
        looked = self.attend(items.query, self.attend.prepare(items.slots, items.slots))
        return F.log_softmax(self.read(looked.context[:, 0]), -1)


def draw(count: int, generator: torch.Generator) -> Items:
    """Fresh items: every slot is there, in random order, each with a random class."""
    order = torch.rand(count, SLOTS, generator=generator).argsort(1)
    classes = torch.randint(CLASSES, (count, SLOTS), generator=generator)
    asked = torch.randint(SLOTS, (count,), generator=generator)
    slots = torch.cat((F.one_hot(order, SLOTS), F.one_hot(classes, CLASSES)), -1).float()
    label = classes.gather(1, (order == asked[:, None]).int().argmax(1, keepdim=True)).squeeze(1)
    return Items(slots, F.one_hot(asked, SLOTS).float().unsqueeze(1), label)


def forward(model: Lookup, items: Items) -> tuple[Tensor, LossTerms]:
    """The log-likelihood of each item, and the terms that the attention adds to the loss."""
    with loss_terms() as extra:
        likelihood = model(items).gather(1, items.label[:, None]).squeeze(1)
    return likelihood, extra


def accuracy(model: Lookup, items: Items) -> float:
    """How often the class is right when the model is in use: hard attention takes its best key."""
    model.eval()
    with torch.no_grad():
        right = (model(items).argmax(1) == items.label).float().mean()
    model.train()
    return float(right)


def noise(model: Lookup, seed: int, batches: int) -> tuple[float, float]:
    """The standard deviation of the attention's gradient, without and with the baseline, at the same weights.

    Both are taken from the same draws. The baseline is the moving average as thirty batches at these weights
    leave it, whatever arm the weights come from. The figure is the square root of the summed variances of the
    weights that decide where to look.
    """
    generator = torch.Generator().manual_seed(seed)
    model = deepcopy(model)
    hard, weights, found = model.attend.attend.choice, model.asking(), {0.0: [], 0.9: []}
    hard.keep, hard.expected = 0.9, 0.0
    for number in range(-30, batches):
        likelihood, extra = forward(model, draw(BATCH, generator))
        if number < 0:
            extra(likelihood)
            continue
        for keep, rows in found.items():
            hard.keep = keep
            reward = Reward(likelihood.detach().unsqueeze(1), torch.ones(len(likelihood), 1, dtype=torch.bool))
            loss = sum(side.term(reward) for side in extra.told)
            rows.append(torch.cat([g.flatten() for g in torch.autograd.grad(loss, weights, retain_graph=True)]))
    without, with_it = (float(torch.stack(rows).var(0).sum().sqrt()) for rows in found.values())
    return without, with_it


def train(
    arm: str, seed: int, *, steps: int, every: int, noise_at: tuple[int, ...] = (), batches: int = 400
) -> dict[str, Any]:
    """Train one arm; its accuracy every so many steps, and the noise of its gradient where asked."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Lookup(ARMS[arm])
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    held_out = draw(1024, torch.Generator().manual_seed(seed + 1_000_003))
    curve, noises, began = {}, {}, process_time()
    for step in range(steps + 1):
        if step % every == 0:
            curve[step] = accuracy(model, held_out)
        if step in noise_at:
            noises[step] = noise(model, seed + 2_000_003 + step, batches)
        likelihood, extra = forward(model, draw(BATCH, generator))
        optimiser.zero_grad()
        (extra(likelihood) - likelihood.mean()).backward()
        optimiser.step()
    return {"arm": arm, "seed": seed, "accuracy": curve, "noise": noises, "seconds": process_time() - began}
