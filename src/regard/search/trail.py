"""The way back: what each step wrote and looked at, and from which row, until the outputs are read off it.

A search keeps tensors only: at each step one piece and one back-pointer for every row that goes on. When all is
found, the best outputs are followed from their ends to their starts, all at once, and with them their weights.

Letters: N rows of one step, F finished outputs, W winners, H heads, T steps, S source positions.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.penalty import heads_apart
from regard.types import Attended, Reorderable


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """One output: its pieces, without start and end.

    `score` is what outputs are ranked by; `likelihood` is the model's log-likelihood of the pieces and the end.
    `weights` has one tensor for each of the decoder's attentions over the source, bottom first: a row for every
    piece and one for the end, a column for every real source position. It is empty if nobody asked for it, or
    if the decoder does not attend.
    """

    ids: tuple[int, ...]
    score: float
    likelihood: float
    weights: tuple[Float[Tensor, "H T S"], ...] = ()


@dataclass(frozen=True)
class Finished(Reorderable):
    """Outputs that have ended: whose they are, the step and the row that wrote the end, and how good they are."""

    owner: Int[Tensor, " F"]
    step: Int[Tensor, " F"]
    row: Int[Tensor, " F"]
    likelihood: Float[Tensor, " F"]
    score: Float[Tensor, " F"]

    @classmethod
    def join(cls, parts: list[Finished]) -> Finished:
        """Those of many steps as one."""
        names = ("owner", "step", "row", "likelihood", "score")
        return cls(*(torch.cat([getattr(each, name) for each in parts]) for name in names))

    def best(self, count: int) -> Finished:
        """The `count` best of each sentence, sentence by sentence, best first; of equals the one found earlier."""
        order = self.score.sort(descending=True, stable=True).indices
        ordered = self.reorder(order[self.owner[order].sort(stable=True).indices])
        rank = place_in_group(ordered.owner)
        return ordered.reorder((rank < count).nonzero().squeeze(1))


def place_in_group(owner: Int[Tensor, " N"]) -> Int[Tensor, " N"]:
    """The place of each row among those of its owner; rows of one owner stand together, owners in order."""
    return torch.arange(len(owner), device=owner.device) - torch.searchsorted(owner, owner)


@dataclass
class Trail:
    """Everything a search leaves behind, step by step."""

    record: bool
    pieces: list[Int[Tensor, " N"]] = field(default_factory=list)
    parents: list[Int[Tensor, " N"]] = field(default_factory=list)
    looks: list[tuple[Float[Tensor, "N H 1 S"], ...]] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)

    def look(self, looked: tuple[Attended, ...]) -> None:
        """Keep what the rows of a step looked at, if it is wanted: a fused attention makes its weights only now."""
        if self.record:
            self.looks.append(tuple(heads_apart(each.weights) for each in looked))

    def go_on(self, parent: Int[Tensor, " N"], piece: Int[Tensor, " N"]) -> None:
        """Keep which row each row of the next step continues, and with which piece."""
        self.parents.append(parent)
        self.pieces.append(piece)

    def read(self, count: int, real: Bool[Tensor, "B S"]) -> list[list[Hypothesis]]:
        """The `count` best outputs of each sentence, best first."""
        found: list[list[Hypothesis]] = [[] for _ in real]
        best = Finished.join(self.finished).best(count)
        path = self._path(best)
        ids = self._ids(path).tolist()
        weights = self._weights(path)
        scores = zip(
            best.owner.tolist(), best.step.tolist(), best.score.tolist(), best.likelihood.tolist(), strict=True
        )
        for number, (owner, step, score, likelihood) in enumerate(scores):
            seen = tuple(layer[number, :, : step + 1][..., real[owner]] for layer in weights)
            found[owner].append(Hypothesis(tuple(ids[number][:step]), score, likelihood, seen))
        return found

    def _path(self, best: Finished) -> list[Int[Tensor, " W"]]:
        """For each step the row of each winner; of a winner that ended before, some row, which is not read."""
        last = int(best.step.max())
        rows = [torch.where(best.step == last, best.row, 0)]
        for step in range(last - 1, -1, -1):
            rows.append(torch.where(best.step == step, best.row, self.parents[step][rows[-1]]))
        return rows[::-1]

    def _ids(self, path: list[Int[Tensor, " W"]]) -> Int[Tensor, "W T"]:
        """The pieces along each winner's path; what stands after its end is not read."""
        written = [pieces[rows] for pieces, rows in zip(self.pieces, path[1:], strict=False)]
        return torch.stack(written, 1) if written else path[0].new_empty(len(path[0]), 0)

    def _weights(self, path: list[Int[Tensor, " W"]]) -> tuple[Float[Tensor, "W H T S"], ...]:
        """The weights along each winner's path, for each layer."""
        if not self.looks:
            return ()
        layers = zip(*self.looks[: len(path)], strict=True)
        return tuple(
            torch.cat([weights[rows] for weights, rows in zip(layer, path, strict=True)], 2) for layer in layers
        )
