"""A whole image as one short vector, its code (Hinton and Salakhutdinov 2006); a whole text likewise.

Letters: C channels, h rows and w columns of pixels; Z numbers of a code.
"""

from __future__ import annotations

from itertools import pairwise

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.frames import Bend, Frame, bent, checked_frame, halvings
from regard.registry import Maker, maker, part
from regard.types import Codes, Count, Grid, Memory, Padded, Widths


@part("encode", "code")
class CodeEncoder(nn.Module):
    """Convolutions that halve an image, layers over all that is left of it, and a linear layer to the code.

    With nothing but the last layer it is linear. Smaller images lie in the upper left corner of the frame.

    Settings:
        code: how many numbers the code has.
        hidden: the widths of the layers before the last one, from the image on; [] for none.
        convolve: the channels of convolutions before these, each of which halves height and width; [] for none.
        activation: what follows each layer but the last: "relu", "tanh", or "none", which makes all of it linear.
        frame: height and width of the images; [0, 0] takes those of the task's source.
    """

    sees_images = True

    def __init__(
        self,
        width: int,
        *,
        code: Count = 32,
        hidden: tuple[Count, ...] = (256, 64),
        convolve: tuple[Count, ...] = (),
        activation: Bend = "relu",
        frame: Frame = (0, 0),
    ) -> None:
        super().__init__()
        self.frame = checked_frame(frame, "encode.frame")
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise((width, *convolve)):
            layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), *bent(activation)]
        height, wide = halvings(self.frame, len(convolve))[-1]
        widths = (width, *convolve)[-1] * height * wide, *hidden, code
        layers.append(nn.Flatten())
        for place, (inputs, outputs) in enumerate(pairwise(widths), 1):
            last = place == len(widths) - 1
            layers += [nn.Linear(inputs, outputs), *(() if last else bent(activation))]
        self.layers = nn.Sequential(*layers)
        self.widths = Widths(keys=code, values=code, summary=code)

    def forward(self, source: Grid) -> Memory:
        """Encode a batch of images."""
        return Memory.of_codes(Codes.of(self.layers(self._filled(source.data))))

    def _filled(self, data: Float[Tensor, "B C i j"]) -> Float[Tensor, "B C h w"]:
        """In the whole frame."""
        height, width = data.shape[2:]
        down, right = self.frame[0] - height, self.frame[1] - width
        if down < 0 or right < 0:
            raise ShapeError(
                f"the encoder 'code' was made for images of at most {self.frame[0]} x {self.frame[1]} pixels; "
                f"found {height} x {width}.",
                hint="Give it images through the side that it was trained with.",
            )
        return F.pad(data, (0, right, 0, down)) if down or right else data


@part("encode", "sentence")
class SentenceEncoder(nn.Module):
    """One vector for a whole text: the summary of another encoder, brought to the width of a code.

    Settings:
        encode: what reads the text.
        code: how many numbers the code has.
    """

    def __init__(self, width: int, *, encode: Maker = maker("encode", "recurrent"), code: Count = 128) -> None:
        super().__init__()
        self.encode = encode(width)
        self.narrow = nn.Linear(self.encode.widths.summary, code)
        self.widths = Widths(keys=code, values=code, summary=code)

    def forward(self, source: Padded) -> Memory:
        """Encode a batch of texts."""
        return Memory.of_codes(Codes.of(self.narrow(self.encode(source).summary)))
