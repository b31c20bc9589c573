"""A generator and its critic on points of a circle: no source, two objectives, no likelihood."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from datasets import Dataset
from torch import nn
from torch.nn import functional as F

from regard.data.corpus import Corpus
from regard.model import Model
from regard.recipe import resolve
from regard.registry import part
from regard.task import BaseGoal, Loss, Objective, Spec
from regard.tasks.job import silent
from regard.tasks.setup import set_up
from regard.types import Count, Positive, Values

RECIPE = Path(__file__).with_name("gan.toml")
NOISE, RADIUS = 3, 2.0


class Points:
    """Points of a plane, written as two numbers."""

    def __init__(self, role):
        self.role = role

    def spec(self):
        return Spec(2)

    def fit(self, cells):
        pass

    def encode(self, cells, random=None, given=None):
        return [tuple(map(float, str(cell).split())) for cell in cells]

    def positions(self, item):
        return 1

    def predictions(self, item):
        return 1

    def fits(self, item):
        return True

    def collate(self, items):
        return Values(torch.tensor(items))

    def files(self):
        return {}

    @classmethod
    def load(cls, folder, role, **settings):
        return cls(role, **settings)


class Duel(Model):
    """A network that makes points of noise, and one that tells them from real ones.

    Settings:
        hidden: the width of both.
    """

    def __init__(self, source: Spec | int, target: Spec | int, *, hidden: Count = 16) -> None:
        nn.Module.__init__(self)
        self.specs = Spec.of(source), Spec.of(target)
        size = self.specs[1].size
        self.generate = nn.Sequential(nn.Linear(NOISE, hidden), nn.ReLU(), nn.Linear(hidden, size))
        self.judge = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, 1))


@dataclass(frozen=True)
class Sample:
    """A point, as an answer."""

    point: tuple[float, ...]

    @property
    def text(self):
        return " ".join(f"{each:.3f}" for each in self.point)


class Adversarial(BaseGoal):
    """Make points that a critic takes for real ones (hinge loss).

    Settings:
        critic_rate: the critic's learning rate, as a factor.
        critic_steps: its steps in each update.
    """

    predicts = "generate"
    metrics = ("distance",)

    def __init__(self, source, target, *, critic_rate: Positive = 2.0, critic_steps: Count = 2) -> None:
        super().__init__(source, target)
        self.critic_rate, self.critic_steps = critic_rate, critic_steps

    def prepare(self, example, random):
        return replace(example, extra={"noise": [random.gauss(0, 1) for _ in range(NOISE)]})

    def collate(self, examples):
        noise = torch.tensor([each.extra["noise"] for each in examples])
        return replace(super().collate(examples), extra={"noise": noise})

    def objectives(self, model):
        return [
            Objective(
                "critic", critic_loss, lambda model: model.judge.parameters(), self.critic_rate, self.critic_steps
            ),
            Objective("generator", generator_loss, lambda model: model.generate.parameters()),
        ]

    def nll(self, model, batch):
        return None

    def answer(self, model, cells):
        noise = torch.randn(len(cells), NOISE, generator=torch.Generator().manual_seed(7))
        return [Sample(tuple(point)) for point in model.generate(noise).tolist()]

    def drawn(self, model, cell):
        return self.answer(model, [cell])[0].text


def critic_loss(model, batch, number):
    made = model.generate(batch.extra["noise"])
    total = (F.relu(1 - model.judge(batch.target.data)) + F.relu(1 + model.judge(made))).mean()
    return Loss(total, total.detach(), len(batch))


def generator_loss(model, batch, number):
    total = -model.judge(model.generate(batch.extra["noise"])).mean()
    return Loss(total, total.detach(), len(batch))


def register():
    """The parts above, by name."""
    part("side", "points")(Points)
    part("model", "duel")(Duel)
    part("goal", "points")(Adversarial)


def circle(count):
    """Points on a circle."""
    angles = [2 * math.pi * place / count for place in range(count)]
    return [f"{RADIUS * math.cos(each):.4f} {RADIUS * math.sin(each):.4f}" for each in angles]


def corpus():
    """A training and a validation split, with no column to be read."""
    splits = {name: Dataset.from_dict({"target": circle(count)}) for name, count in (("train", 53), ("val", 31))}
    return Corpus("circle", "nothing", "points", splits)


def setup(settings=(), seed=5):
    """All that a training needs."""
    return set_up(resolve(RECIPE, settings), corpus(), None, seed, silent)
