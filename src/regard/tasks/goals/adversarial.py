"""Adversarial training (Goodfellow et al. 2014): a generator makes images, a critic tells them from real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.data.sides.image import Image
from regard.data.sides.label import Label
from regard.data.sides.nothing import Nothing
from regard.errors import UsageError
from regard.model.gan import Gan
from regard.registry import part
from regard.task import BaseGoal, Example, Loss, Objective, Side
from regard.types import Batch, Count, Positive

if TYPE_CHECKING:  # what measures is not quick to import
    from regard.evaluate.samples import Features
    from regard.tasks.sampler import Sample, Sampler

NOISE = "noise"  # in a batch: a number for each example, which its noise is drawn by
BITS = 63
SHOWN = 64  # samples of a picture that is kept at each validation


@part("goal", "adversarial")
class Adversarial(BaseGoal):
    """Make images that a critic takes for real ones. The target is an image, the source its label, or nothing.

    One update moves the critic, `critic_steps` times, and then the generator, each by images and noise of its own.

    Settings:
        loss: "hinge", which asks of the critic to be right by a margin and no more (Lim and Ye 2017), or "logistic",
            the log-likelihood of being right, where the generator wants its images to be called real (2014).
        critic_rate: the critic's learning rate, as a factor of the generator's.
        critic_steps: updates of the critic for each of the generator.
        features: a classifier of images, as a model folder or a run, by whose features the Frechet distance compares in
            validations; where none is named, by the pixels of the images at 8 x 8.
    """

    predicts: ClassVar[str] = "generate"
    metrics: ClassVar[tuple[str, ...]] = ("frechet", "diversity")
    opens: ClassVar[str] = "regard.tasks.sampler:Sampler"

    def __init__(
        self,
        source: Side,
        target: Side,
        *,
        loss: Literal["hinge", "logistic"] = "hinge",
        critic_rate: Positive = 4.0,
        critic_steps: Count = 1,
        features: str = "",
    ) -> None:
        super().__init__(source, target)
        self.loss, self.critic_rate, self.critic_steps, self.features = loss, critic_rate, critic_steps, features
        if not isinstance(source, Nothing | Label) or not isinstance(target, Image):
            raise UsageError(
                "the goal 'adversarial' makes images, of nothing or of a label.",
                hint='Write source = "nothing" (or "label") and target = "image" in [task], or another goal.',
            )
        if target.proportion:
            raise UsageError(
                "the goal 'adversarial' makes images of one size.",
                hint="Write proportion = false in [task] target: every image is brought to `size`.",
            )

    def prepare(self, example: Example, random: Random) -> Example:
        """With a number that its noise is drawn by: what is drawn depends on seed, epoch and row alone."""
        return replace(example, extra={**example.extra, NOISE: random.getrandbits(BITS)})

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Images, labels if there are any, and the numbers of their noise."""
        return replace(super().collate(examples), extra={NOISE: torch.tensor([each.extra[NOISE] for each in examples])})

    def objectives(self, model: Gan) -> Sequence[Objective]:
        """The critic's, then the generator's."""
        if not isinstance(model, Gan):
            raise UsageError(
                "the goal 'adversarial' trains a generator and a critic.", hint='Write part = "gan" above all tables.'
            )
        return [
            Objective("critic", self._critic_loss, _weights_of("critic"), self.critic_rate, self.critic_steps),
            Objective("generator", self._generator_loss, _weights_of("generator")),
        ]

    def _critic_loss(self, model: Gan, batch: Batch, number: int) -> Loss:
        """Real images beside made ones, in one pass, so that the critic's singular vectors turn once."""
        classes = classes_of(batch)
        with torch.no_grad():  # the generator learns nothing of this
            made = model.generate(noise_of(batch, model), classes)
        images = torch.cat((2 * batch.target.data - 1, made.float()))
        scores = model.judge(images, None if classes is None else classes.repeat(2)).float()
        real, false = scores.chunk(2)
        if self.loss == "hinge":
            total = F.relu(1 - real).mean() + F.relu(1 + false).mean()
        else:
            total = F.softplus(-real).mean() + F.softplus(false).mean()
        return Loss(total, total.detach(), len(batch))

    def _generator_loss(self, model: Gan, batch: Batch, number: int) -> Loss:
        """What the critic thinks of the images that are made."""
        classes = classes_of(batch)
        scores = model.judge(model.generate(noise_of(batch, model), classes), classes).float()
        total = -scores.mean() if self.loss == "hinge" else F.softplus(-scores).mean()
        return Loss(total, total.detach(), len(batch))

    def nll(self, model: Gan, batch: Batch) -> Loss | None:
        """None: a sample has no likelihood."""
        return None

    def questions(self, cells: Sequence[Any], references: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """A sample for each row; the real images, as pixels, are what all of them together stand beside."""
        return cells, self.target.encode(references)

    @cached_property
    def described(self) -> Features | None:
        """What the Frechet distance compares; None for the pixels."""
        from regard.tasks.sampler import features_of

        return features_of(self.features) if self.features else None

    def answer(self, model: Gan, cells: Sequence[Any]) -> list[Sample]:
        """A sample for each row, of its label if it has one."""
        return self.person(model).answer(cells, record=False)

    def drawn(self, model: Gan, cell: Any) -> str:
        """A sample, and what its cells looked at, for a terminal."""
        return self.person(model).look(cell).drawn()

    def picture(self, model: Gan) -> bytes:
        """Some samples side by side, of the same noise each time, as a PNG file."""
        return self.person(model).mosaic(SHOWN)

    def person(self, model: Gan) -> Sampler:
        """The model as a person uses it."""
        from regard.tasks.sampler import Sampler

        return Sampler(model, self.source, self.target)


def _weights_of(name: str) -> Callable[[Gan], Iterable[nn.Parameter]]:
    """What gives the weights of one of the two."""
    return lambda model: getattr(model, name).parameters()


def classes_of(batch: Batch) -> Int[Tensor, " B"] | None:
    """The numbers of the labels, where there are labels."""
    return None if batch.source is None else batch.source.data


def noise_of(batch: Batch, model: Gan) -> Float[Tensor, "B Z"]:
    """The noise of a batch, drawn by the number of each example."""
    seeds = batch.extra[NOISE]
    return drawn_noise(seeds.tolist(), model.generator.noise).to(seeds.device)


def drawn_noise(seeds: Sequence[int], width: int) -> Float[Tensor, "B Z"]:
    """Normal noise, a row for each number that it is drawn by."""
    dice = torch.Generator()
    return torch.stack([torch.randn(width, generator=dice.manual_seed(seed)) for seed in seeds])
