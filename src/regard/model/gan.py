"""A model of two: a generator and its critic. A classless one has nothing as its source, else the source is a class."""

from __future__ import annotations

from typing import Any

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.model.flow import Model
from regard.registry import Maker, maker, part
from regard.task import Spec


@part("model", "gan")
class Gan(Model):
    """A generator of images and a critic that tells them from real ones.

    Settings:
        generator: how images are made of noise.
        critic: how images are judged.
    """

    def __init__(
        self,
        source: Spec | int,
        target: Spec | int,
        *,
        generator: Maker = maker("generator", "residual"),
        critic: Maker = maker("critic", "residual"),
    ) -> None:
        nn.Module.__init__(self)
        self.specs = Spec.of(source), Spec.of(target)
        if len(self.specs[1].shape) != 2:
            raise ShapeError(
                "a GAN makes images of one height and width.", hint='Write target = { part = "image" } in [task].'
            )
        classes = self.specs[0].size
        self.generator: Any = generator(self.specs[1], classes)
        self.critic: Any = critic(self.specs[1], classes)

    def generate(
        self, noise: Float[Tensor, "B Z"], classes: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B C h w"]:
        """Images of noise, each number between -1 and 1."""
        images: Tensor = self.generator(noise, classes)
        return images

    def judge(self, images: Float[Tensor, "B C h w"], classes: Int[Tensor, " B"] | None = None) -> Float[Tensor, " B"]:
        """How real images look: the higher, the more."""
        scores: Tensor = self.critic(images, classes)
        return scores

    def noted(self) -> dict[str, float]:
        """How much of what its attentions gather they add, by where they stand: what a training's log keeps of it."""
        return {
            f"gamma_{name.split('.')[0]}": float(each.detach())
            for name, each in self.named_parameters()
            if name.endswith(".gamma")
        }

    def is_averaged(self, name: str) -> bool:
        """Whether an average follows a weight: a critic is of no use but to its own generator of now."""
        return name.startswith("generator.")
