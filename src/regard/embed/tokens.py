"""Token ids to vectors."""

from __future__ import annotations

import math

from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.fast.dropout import drop
from regard.registry import Maker, part
from regard.types import Count, Padded, Positive, Segmented, Share, Whole


@part("embed", "tokens")
class Tokens(nn.Module):
    """One learned vector a token, and where it stands if a position is given.

    Settings:
        width: of the vectors.
        position: how places are told apart; without it they are not (a recurrent encoder needs none).
        scale: multiply the vectors by sqrt(width) before the position is added, as the Transformer does.
        deviation: of the numbers that come out before anything is learned.
        dropout: share of the numbers dropped in training.
        locked: drop the same numbers at every position of a row.
        drop_words: share of the words (of the vocabulary) whose vectors are dropped whole in training, wherever they
            stand in a batch.
        segments: how many texts of an example are told apart, each by a vector of its own; 0 for none.
        norm: a layer norm of the sum of all vectors, before the dropout, as BERT has it.
        epsilon: what the norm adds to a variance.
        inner: width of the table where it is narrower: a linear layer makes the vectors as wide as they shall be
            (ALBERT's factorised embedding); 0 for none.
    """

    def __init__(
        self,
        size: int,
        *,
        width: Count = 256,
        position: Maker | None = None,
        scale: bool = False,
        deviation: Positive = 1.0,
        dropout: Share = 0.0,
        locked: bool = False,
        drop_words: Share = 0.0,
        segments: Whole = 0,
        norm: bool = False,
        epsilon: Positive = 1e-5,
        inner: Whole = 0,
    ) -> None:
        super().__init__()
        self.size, self.width, self.dropout = size, width, dropout
        self.locked, self.drop_words = locked, drop_words
        narrow = inner or width
        self.table = nn.Embedding(size, narrow, padding_idx=0)
        self.factor = math.sqrt(narrow) if scale else 1.0
        # With a tenth of deviation 1, recurrent states say little of the word just read, and on a large vocabulary a
        # model needs about twice the updates before its attention finds it (benchmarks/LOG.md).
        nn.init.normal_(self.table.weight, std=deviation / self.factor)
        self.table.weight.data[0] = 0
        self.position = None if position is None else position(narrow)
        self.segment = nn.Embedding(segments, narrow) if segments else None
        self.norm = nn.LayerNorm(narrow, eps=epsilon) if norm else None
        self.widen = nn.Linear(narrow, width) if inner else None
        if self.segment is not None:
            nn.init.normal_(self.segment.weight, std=deviation)

    def vectors(
        self,
        ids: Int[Tensor, "B S"],
        start: int | Int[Tensor, " B"] = 0,
        segments: Int[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B S D"]:
        """The vectors of ids that stand at positions start, start + 1, ...; each row may have a start of its own.

        Where segments are told apart and none are given, all is of the first.
        """
        found = self.table(ids) * self.factor
        if self.training and self.drop_words:
            found = found * drop(found.new_ones(self.size, 1), self.drop_words, True)[ids]
        if self.position is not None:
            found = found + self.position(start, ids.shape[1])
        if self.segment is not None:
            found = found + (self.segment.weight[0] if segments is None else self.segment(segments))
        if self.norm is not None:
            found = self.norm(found)
        found = drop(found, self.dropout, self.training, self.locked)
        return found if self.widen is None else self.widen(found)

    def forward(self, source: Padded) -> Padded:
        """Embed a batch; the mask stays."""
        segments = source.segments if isinstance(source, Segmented) else None
        return Padded(self.vectors(source.data, segments=segments), source.mask)
