"""An alignment: how much each target word looked at each source word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.errors import ShapeError

END = "</s>"  # the end of a sentence, which has a row and a column of its own: models do look there


@dataclass(frozen=True)
class Alignment:
    """Rows are target words, columns source words; the last of each is the end of the sentence.

    A row sums to one where the attention's weights do. Attention is evidence, not proof.
    """

    matrix: Float[Tensor, "T S"]
    source: tuple[str, ...]
    target: tuple[str, ...]

    def __post_init__(self) -> None:
        expected = (len(self.target), len(self.source))
        if tuple(self.matrix.shape) != expected:
            raise ShapeError(f"{expected[0]} target and {expected[1]} source words need a matrix of that shape; "
                             f"it has {tuple(self.matrix.shape)}.")  # fmt: skip

    def links(self, threshold: float | None = None) -> list[tuple[int, int]]:
        """(source word, target word): the best source word of each target word, or all from `threshold` up.

        A target word that looks at the end of the source more than at any word has no link.
        """
        rows = self.matrix[: len(self.target) - 1]
        if threshold is not None:
            found = (rows[:, :-1] >= threshold).nonzero().tolist()
            return sorted((source, target) for target, source in found)
        best = rows.argmax(-1).tolist() if rows.numel() else []
        return sorted((s, t) for t, s in enumerate(best) if s < len(self.source) - 1 and rows[t, s] > 0)

    def pharaoh(self, threshold: float | None = None) -> str:
        """The links as one line: `0-0 1-2 ...`, source first."""
        return " ".join(f"{source}-{target}" for source, target in self.links(threshold))


def merge(
    weights: Float[Tensor, "T S"], target: Sequence[int], source: Sequence[int], words: tuple[int, int]
) -> Float[Tensor, "N M"]:
    """Weights between pieces as weights between words: sum over a source word's pieces, mean over a target word's.

    `target` and `source` give the word of each row and column; `words` counts target and source words.
    """
    columns = weights.new_zeros(weights.shape[0], words[1])
    columns.index_add_(1, torch.tensor(source, dtype=torch.long), weights)
    rows = weights.new_zeros(words[0], words[1])
    index = torch.tensor(target, dtype=torch.long)
    rows.index_add_(0, index, columns)
    return rows / torch.bincount(index, minlength=words[0]).clamp(min=1).unsqueeze(1)
