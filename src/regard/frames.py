"""What parts that read or make whole images of one size share: the frame, its halves, and what bends between layers."""

from __future__ import annotations

from typing import Literal

from torch import nn

from regard.errors import ShapeError
from regard.types import Whole

Frame = tuple[Whole, Whole]  # height and width
Bend = Literal["relu", "tanh", "none"]


def checked_frame(frame: Frame, key: str) -> tuple[int, int]:
    """Height and width, which somebody must have said."""
    if min(frame) < 1:
        raise ShapeError(
            f"expected the height and width of images; found {key} = [{frame[0]}, {frame[1]}].",
            hint=f"Write {key} = [28, 28], or read images, whose size it then takes.",
        )
    return frame[0], frame[1]


def halvings(frame: tuple[int, int], times: int) -> list[tuple[int, int]]:
    """Height and width, and what is left of them after each halving; of odd ones the larger half."""
    found = [frame]
    for _ in range(times):
        height, width = found[-1]
        found.append((-(-height // 2), -(-width // 2)))
    return found


def bent(activation: Bend) -> list[nn.Module]:
    """What follows a layer; nothing where all shall be linear."""
    return [nn.ReLU(inplace=True)] if activation == "relu" else [nn.Tanh()] if activation == "tanh" else []
