"""Batch normalisation of grids with padding: it stands in `regard.grids`, since decoders need it too."""

from regard.grids import CellNorm

__all__ = ["CellNorm"]
