"""Encode: vectors to a memory that can be attended to."""

from regard.encode import convolve, image, recurrent, transformer

__all__ = ["convolve", "image", "recurrent", "transformer"]
