"""One segmented image: the class of every pixel, and how far the gates of every size were open.

Letters: H rows and W columns of pixels, N classes, i rows and j columns of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image as Pillow
from torch import Tensor

from regard.data.masks import mask_of, mask_text
from regard.data.sides.image import Image
from regard.data.sides.mask import Mask
from regard.show.outlined import Outlined
from regard.tasks.goals.segment import mask_reference


@dataclass(frozen=True)
class Segmentation:
    """One answer: `classes` has the number of each pixel's class, in the size of the image, `names` their values.

    `probability` is that of the found class, the mean over the pixels. `attention` has a tensor (1, 1, cells) for each
    gate, coarsest first, as every attention record has (heads, queries, keys); none of a model without gates. Its
    `gates` are the same as grids. `probabilities` are those of every class at every pixel.
    """

    classes: UInt8[np.ndarray, "H W"]
    names: tuple[str, ...]
    probability: float
    source: Any
    gates: tuple[Float[Tensor, "_ _"], ...] = field(default=(), repr=False)
    probabilities: Float[np.ndarray, "N H W"] | None = field(default=None, repr=False)
    sides: tuple[Image, Mask] | None = field(default=None, repr=False)

    @cached_property
    def text(self) -> str:
        """The mask as a text, as every answer has one: see `regard.data.masks`."""
        return mask_text(self.classes, len(self.names))

    @property
    def attention(self) -> tuple[Tensor, ...]:
        """How far each gate was open: heads, queries, cells."""
        return tuple(each.reshape(1, 1, -1) for each in self.gates)

    @property
    def shares(self) -> dict[str, float]:
        """How much of the image each class takes."""
        counts = np.bincount(self.classes.ravel(), minlength=len(self.names))
        return dict(zip(self.names, (counts / self.classes.size).tolist(), strict=True))

    @property
    def image(self) -> Pillow.Image:
        """The mask as a file has it, in the values of the masks that were learnt from."""
        return self._mask_side.image(self.classes)

    @property
    def overlay(self) -> Pillow.Image:
        """The image with its found classes in colours over it."""
        return Pillow.fromarray(self.seen.overlay())

    @cached_property
    def seen(self) -> Outlined:
        """The image, what was found in it, and the gates."""
        return self.compared(None)

    def compared(self, right: Any) -> Outlined:
        """The same, beside the right mask: its file, an image, an array, or its text."""
        wanted = None if right is None else mask_of(mask_reference(self._mask_side, right))[0]
        gates = tuple(each.numpy() for each in self.gates)
        told = ", ".join(f"{name}: {share:.1%}" for name, share in list(self.shares.items())[1:4])
        shares = tuple(self.shares.values())
        return Outlined(self._pixels, self.classes, wanted, gates, self.names, told, self.probability, shares)

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the image's name, and how much of it each class takes."""
        name = self.source if isinstance(self.source, str | Path) else "image"
        shares = ", ".join(f"{name} {share:.1%}" for name, share in self.shares.items())
        return f"{name}  ->  {shares}"

    def save(self, path: str | Path, right: Any = None, title: str = "") -> Path:
        """Write the picture of image, mask and gates: a .html page, a .png, .svg or .pdf figure, or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.compared(right)], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])

    @property
    def _mask_side(self) -> Mask:
        return (self.sides or (Image("source"), Mask("target", classes=("0", "1"))))[1]

    @cached_property
    def _pixels(self) -> UInt8[np.ndarray, "H W C"]:
        """The image in its own size, in the channels that the model reads."""
        side = (self.sides or (Image("source"), None))[0]
        whole = Image(side.role, channels=side.channels, windows=True)
        return whole.pixels(self.source).permute(1, 2, 0).numpy()
