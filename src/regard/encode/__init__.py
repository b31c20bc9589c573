"""Encode: vectors to a memory that can be attended to."""

from regard.encode import convolve, gated, image, lstmn, recurrent, rows, transformer

__all__ = ["convolve", "gated", "image", "lstmn", "recurrent", "rows", "transformer"]
