"""Encode: vectors to a memory that can be attended to."""

from regard.encode import (
    code,
    convolve,
    frozen,
    gated,
    image,
    ladder,
    lstmn,
    networks,
    recurrent,
    residual,
    rows,
    snail,
    transformer,
)

__all__ = [
    "code",
    "convolve",
    "frozen",
    "gated",
    "image",
    "ladder",
    "lstmn",
    "networks",
    "recurrent",
    "residual",
    "rows",
    "snail",
    "transformer",
]
