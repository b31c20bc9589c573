"""An image from one vector: the layers of `encode.code`, mirrored.

Letters: C channels, h rows and w columns of pixels, Z numbers of a code.
"""

from __future__ import annotations

from itertools import pairwise
from typing import ClassVar, Literal

from jaxtyping import Float
from torch import Tensor, nn

from regard.frames import Bend, Frame, bent, checked_frame, halvings
from regard.predict.recurrent import no_gates, refused
from regard.registry import Maker, part
from regard.types import Count, Memory, Rendered, Widths

Output = Literal["sigmoid", "linear"]


class Double(nn.Module):
    """A transposed convolution that doubles height and width; of what is too much the last row and column are cut.

    Its kernel of 4 is a whole number of strides, so that every pixel is made of as many (Odena et al. 2016).
    """

    def __init__(self, inputs: int, outputs: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.size = size
        self.convolve = nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1)

    def forward(self, cells: Float[Tensor, "B D i j"]) -> Float[Tensor, "B E h w"]:
        """Twice as high and wide, or one less."""
        found: Tensor = self.convolve(cells)
        # A part of a tensor, even all of it, cannot be changed in place without a copy on the way back.
        return found if found.shape[2:] == self.size else found[..., : self.size[0], : self.size[1]].contiguous()


@part("predict", "image")
class ImageDecoder(nn.Module):
    """Layers over the encoder's summary, then convolutions that double height and width, up to a whole image.

    Settings:
        hidden: the widths of the layers after the code, from the code on; [] for none.
        convolve: the channels of the grids that are doubled, from the smallest grid on; [] for none.
        activation: what follows each layer but the last: "relu", "tanh", or "none", which makes all of it linear.
        output: "sigmoid" keeps pixels between 0 and 1; "linear" leaves them as they come.
        frame: height and width of the images; [0, 0] takes those of the task's target, or of its source where the
            goal makes one of the other.
    """

    attends: ClassVar[bool] = False

    def __init__(
        self,
        size: int,
        memory: Widths,
        attend: Maker | None,
        *,
        hidden: tuple[Count, ...] = (64, 256),
        convolve: tuple[Count, ...] = (),
        activation: Bend = "relu",
        output: Output = "sigmoid",
        frame: Frame = (0, 0),
    ) -> None:
        super().__init__()
        refused(attend, "'image'")
        no_gates(memory, "'image'")
        self.output, self.width = output, memory.summary
        self.frame = checked_frame(frame, "predict.frame")
        sizes = halvings(self.frame, len(convolve))[::-1]
        first = (*convolve, size)[0], *sizes[0]
        widths = memory.summary, *hidden, first[0] * first[1] * first[2]
        layers: list[nn.Module] = []
        for place, pair in enumerate(pairwise(widths), 1):
            last = place == len(widths) - 1 and not convolve
            layers += [nn.Linear(*pair), *(() if last else bent(activation))]
        layers.append(nn.Unflatten(1, first))
        for place, (pair, grid) in enumerate(zip(pairwise((*convolve, size)), sizes[1:], strict=True), 1):
            layers += [Double(*pair, grid), *(() if place == len(convolve) else bent(activation))]
        self.layers = nn.Sequential(*layers)

    def image(self, memory: Memory) -> Rendered:
        """An image for each source, by the name that goals ask for."""
        return self(memory)

    def forward(self, memory: Memory) -> Rendered:
        """An image for each source."""
        return Rendered(self.layers(memory.summary), self.output == "sigmoid")
