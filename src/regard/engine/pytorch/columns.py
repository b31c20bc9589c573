"""How matrices lie in memory: a product of few rows is faster with a matrix whose columns lie together.

PyTorch keeps the matrix of an `nn.Linear` row by row, as training likes it. A search multiplies as many rows as it
follows hypotheses, and there the other order is a twentieth to a third faster, the fewer rows the more. Only strides
change: shapes, names and numbers are the same, and such a model can still be saved or trained.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from regard.model import Model
from regard.predict.words import Readout


def columns_together(model: Model) -> Model:
    """The model with the matrices of its linear layers, and the vocabulary's, column by column."""
    for module in model.modules():
        if type(module) is nn.Linear:
            _turn(module.weight)
    return vocabulary_by_columns(model)


def vocabulary_by_columns(model: Model) -> Model:
    """The model with the matrix of its vocabulary alone column by column: that of one row is half as fast again."""
    readout = getattr(model.predict, "readout", None)
    if isinstance(readout, Readout):  # it may be a table of vectors too: to look up a few costs less than is won
        _turn(readout.product()[0])
    return model


def _turn(matrix: Float[Tensor, "V G"]) -> None:
    matrix.data = matrix.data.t().contiguous().t()
