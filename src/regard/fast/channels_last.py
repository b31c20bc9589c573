"""Images in the memory format that a CPU's convolutions like: the channels of a pixel side by side.

A convolution, a norm, a pool and a sum hand the format on that they are given, so it is enough that what enters the
first of them has it: weights, their gradients, optimisers and saved states stay as they are.

Letters: B images, C channels, h rows and w columns of pixels.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def channels_last(images: Float[Tensor, "B C h w"]) -> Float[Tensor, "B C h w"]:
    """The same numbers, laid out so. Call it on what enters convolutions: pixels, or a grid made of a vector."""
    # Of one channel both formats are one order of numbers; `to`, unlike `contiguous`, still writes the strides of this.
    return images.to(memory_format=torch.channels_last)
