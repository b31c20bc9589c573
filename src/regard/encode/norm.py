"""Batch normalisation of grids some cells of which are padding; it stands in `regard.grids`, for decoders need it too."""

from regard.grids import CellNorm

__all__ = ["CellNorm"]
