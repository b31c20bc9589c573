"""The images of an episode as vectors, each with its class beside it.

Letters: B episodes, S images whose class is told, Q that are asked about, I of both, N classes (ways).
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.fast.channels_last import channels_last
from regard.registry import part
from regard.task import Spec
from regard.types import Branched, Count, Episodes


class Halve(nn.Module):
    """A convolution, a norm over the batch, ReLU, and the largest of each 2 x 2 cells."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)  # the norm has a bias
        self.norm = nn.BatchNorm2d(outputs)

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """The largest of what ReLU leaves is what ReLU leaves of the largest: a quarter of the work."""
        return F.relu(F.max_pool2d(self.norm(self.convolve(data)), 2))


@part("embed", "episode")
class EpisodeEmbedder(nn.Module):
    """Convolutions that halve an image some times, and a linear layer; beside it the class, as one of N numbers.

    A class stands at the same step as its image. An image that is asked about has zeros in its place.

    Settings:
        hidden: numbers of an image.
        filters: of each convolution.
        layers: how many convolutions; each halves height and width.
        ways: classes of an episode; what is read says it.
        image: height and width of an image; what is read says it.
    """

    reads_episodes = True

    def __init__(
        self,
        size: int,
        *,
        hidden: Count = 64,
        filters: Count = 64,
        layers: Count = 4,
        ways: Count = 5,
        image: tuple[Count, Count] = (28, 28),
    ) -> None:
        super().__init__()
        self.size, self.ways, self.width = size, ways, hidden + ways
        cells = (image[0] >> layers) * (image[1] >> layers)
        if not cells:
            raise ShapeError(
                f"{layers} layers leave nothing of an image of {image[0]} x {image[1]} pixels: each halves it.",
                hint="Write fewer layers in [embed], or a larger size in [task.source].",
            )
        self.layers = nn.Sequential(*(Halve(filters if layer else size, filters) for layer in range(layers)))
        self.narrow = nn.Linear(filters * cells, hidden)

    @staticmethod
    def settings_of(spec: Spec) -> dict[str, Any]:
        """What follows from an episode: how many classes, and how large its images are."""
        ways, _, height, width = spec.shape
        return {"ways": ways, "image": (height, width)}

    def forward(self, source: Episodes) -> Branched:
        """Every image once; those that are asked about stand side by side at the last step."""
        cells = self.layers(channels_last(source.data.flatten(0, 1)))
        vectors = self.narrow(cells.flatten(1)).unflatten(0, source.data.shape[:2])
        told = F.one_hot(source.classes, self.ways).to(vectors.dtype)
        classes = F.pad(told, (0, 0, 0, source.queries))
        return Branched(torch.cat((vectors, classes), -1), source.mask, source.queries)
