"""The way back: what each step wrote and looked at, and from which row, until the outputs are read off it.

A search keeps tensors only: at each step one piece and one back-pointer for every row that goes on. When all is
found, the best outputs are followed from their ends to their starts, all at once, and with them their weights.

Letters: N rows of one step, F finished outputs, W winners, H heads, T steps, S source positions, C those of them that
any winner has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.search.hypothesis import Hypothesis
from regard.search.penalty import heads_apart
from regard.search.rows import Step
from regard.types import Attended, Reorderable


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
class Backpointers:
    """Everything a search leaves behind, step by step, and since when each sentence has been there.

    Steps are counted from the first of the search. What was read off is forgotten: the lists start with step `first`.
    `later` says that not all sentences began with the first step.
    """

    record: bool
    pieces: list[Int[Tensor, " N"]] = field(default_factory=list)
    parents: list[Int[Tensor, " N"]] = field(default_factory=list)
    looks: list[tuple[Float[Tensor, "N H 1 S"], ...]] = field(default_factory=list)
    finished: list[Finished] = field(default_factory=list)
    begun: Int[Tensor, " B"] = field(default_factory=lambda: torch.empty(0, dtype=torch.long))
    first: int = 0
    later: bool = False

    @property
    def step(self) -> int:
        """The step that is being made."""
        return self.first + len(self.parents)

    def steps(self, owner: Int[Tensor, " N"]) -> Step:
        """How many steps rows of these sentences have made: one number if all began together."""
        return self.step - self.begun[owner] if self.later else self.step

    def enter(self, owner: Int[Tensor, " M"]) -> None:
        """More sentences begin, each with a row after those that are there; it continues none."""
        self.begun = torch.cat((self.begun.to(owner.device), torch.full_like(owner, self.step)))
        if self.parents:
            self.later = True
            for steps in (self.parents, self.pieces):
                steps[-1] = torch.cat((steps[-1], torch.zeros_like(owner)))

    def look(self, looked: tuple[Attended, ...]) -> None:
        """Keep what the rows of a step looked at, if it is wanted: a fused attention makes its weights only now."""
        if self.record:
            self.looks.append(tuple(heads_apart(each.weights) for each in looked))

    def go_on(self, parent: Int[Tensor, " N"], piece: Int[Tensor, " N"]) -> None:
        """Keep which row each row of the next step continues, and with which piece."""
        self.parents.append(parent)
        self.pieces.append(piece)

    def read(
        self, count: int, real: Bool[Tensor, "B S"], alive: Int[Tensor, " L"] | None = None
    ) -> dict[int, list[Hypothesis]]:
        """The `count` best outputs of each sentence, best first; not of those that are still `alive`.

        What was read, and the steps that none of those alive has made, are forgotten.
        """
        best = self._take(real, alive).best(count)
        found: dict[int, list[Hypothesis]] = {owner: [] for owner in best.owner.tolist()}
        if not found:
            return found
        since = int(self.begun[best.owner].min())
        path = self._path(best, since)
        ids, weights = self._ids(path, since).tolist(), self._weights(path, since, real[best.owner])
        numbers = (best.owner, self.begun[best.owner] - since, best.step - since, best.score, best.likelihood)
        for row, (owner, begun, end, score, likelihood) in enumerate(zip(*(n.tolist() for n in numbers), strict=True)):
            seen = tuple(layer[row, :, begun : end + 1][..., real[owner, : layer.shape[-1]]] for layer in weights)
            found[owner].append(Hypothesis(tuple(ids[row][begun:end]), score, likelihood, seen))
        self._forget(alive)
        return found

    def _take(self, real: Tensor, alive: Tensor | None) -> Finished:
        """What has finished of the sentences that are no more alive; the rest is kept."""
        finished = Finished.join(self.finished)
        busy = torch.zeros(len(real), dtype=torch.bool, device=real.device)
        if alive is not None:
            busy[alive] = True
        at_it = busy[finished.owner]
        self.finished = [finished.reorder(at_it.nonzero().squeeze(1))]
        return finished.reorder((~at_it).nonzero().squeeze(1))

    def _forget(self, alive: Int[Tensor, " L"] | None) -> None:
        """The steps before the first of those alive: nobody will ask for them."""
        since = self.step if alive is None else int(self.begun[alive].min())
        for steps in (self.pieces, self.parents, self.looks):
            del steps[: since - self.first]
        self.first = since

    def _path(self, best: Finished, since: int) -> list[Int[Tensor, " W"]]:
        """For each step the row of each winner; of one that ended before or began later some row, that is not read."""
        last = int(best.step.max())
        rows = [torch.where(best.step == last, best.row, 0)]
        for step in range(last - 1, since - 1, -1):
            rows.append(torch.where(best.step == step, best.row, self.parents[step - self.first][rows[-1]]))
        return rows[::-1]

    def _ids(self, path: list[Int[Tensor, " W"]], since: int) -> Int[Tensor, "W T"]:
        """The pieces along each winner's path; what stands before its start and after its end is not read."""
        steps = self.pieces[since - self.first :]
        written = [pieces[rows] for pieces, rows in zip(steps, path[1:], strict=False)]
        return torch.stack(written, 1) if written else path[0].new_empty(len(path[0]), 0)

    def _weights(
        self, path: list[Int[Tensor, " W"]], since: int, real: Bool[Tensor, "W S"]
    ) -> tuple[Float[Tensor, "W H T C"], ...]:
        """The weights along each winner's path, for each layer; of every step as wide as the widest winner's source."""
        if not self.looks:
            return ()
        columns = real.any(0).nonzero().flatten().tolist()
        width = columns[-1] + 1 if columns else 0
        steps = self.looks[since - self.first :][: len(path)]
        return tuple(
            torch.cat([_as_wide(weights[rows], width) for weights, rows in zip(layer, path, strict=True)], 2)
            for layer in zip(*steps, strict=True)
        )


def _as_wide(weights: Float[Tensor, "W H 1 K"], width: int) -> Float[Tensor, "W H 1 S"]:
    """The first `width` columns; where keys were fewer, nothing was looked at there."""
    spare = width - weights.shape[-1]
    return F.pad(weights, (0, spare)) if spare > 0 else weights[..., :width]
