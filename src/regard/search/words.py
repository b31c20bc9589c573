"""Which pieces a search scores: all of the vocabulary, or for each sentence the few of a shortlist.

With a shortlist every sentence of a batch has a small vocabulary of its own. The readout is narrowed once, to what any
of them may write; of its scores each row takes those of its own sentence, so that the softmax, the rules and the choice
see no others, and no sentence knows what the sentences beside it may write. Inside the search a piece then goes by its
place in its sentence's vocabulary: the end first, what is to be avoided after it, then the candidates by their ids.

Letters: N rows, B sentences, V vocabulary, U pieces that any sentence may write, C pieces that one sentence may write.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.errors import UsageError
from regard.model import Model
from regard.search.backpointers import place_in_group
from regard.search.constraints import FREE, NEVER, Constraints
from regard.search.shortlist import Shortlist
from regard.types import Grid, Padded, Reorderable

Module = TypeVar("Module", bound=nn.Module)


class Words:
    """All pieces, each at the place that its id says. `size` is how many the readout scores."""

    def __init__(self, model: Model, size: int) -> None:
        self.model, self.size = model, size

    def placed(self, rules: Constraints) -> Constraints:
        """The rules, speaking of places."""
        return rules

    def reorder(self, index: Int[Tensor, " N"]) -> Words:
        """The words of sentence `index[i]` at place i."""
        return self

    def own(self, logits: Float[Tensor, "N U"], owner: Int[Tensor, " N"]) -> Float[Tensor, "N C"]:
        """Of each row's scores those of what its sentence may write."""
        return logits

    def ids(self, place: Int[Tensor, " N"], owner: Int[Tensor, " N"]) -> Int[Tensor, " N"]:
        """The pieces at these places."""
        return place


@dataclass(frozen=True, eq=False)
class Vocabularies(Reorderable):
    """The vocabulary of each sentence: its ids, where the readout has them, and which of them only fill up."""

    ids: Int[Tensor, "B C"]
    columns: Int[Tensor, "B C"]
    filling: Bool[Tensor, "B C"]


class Listed(Words):
    """The pieces of a shortlist; those that are forced are open as well."""

    def __init__(self, model: Model, source: Padded, shortlist: Shortlist, rules: Constraints) -> None:
        open_to = shortlist.candidates(source, model.sizes[1])
        row, step = (rules.prefix != FREE).nonzero(as_tuple=True)
        open_to[row, rules.prefix[row, step]] = True
        first = torch.cat((rules.avoid.new_tensor([rules.end]), rules.avoid.unique()))
        open_to[:, first] = True
        self.each = _vocabularies(open_to, first)
        pieces = open_to.any(0).nonzero().squeeze(1)
        super().__init__(_narrowed(model, pieces), len(pieces))

    def placed(self, rules: Constraints) -> Constraints:
        """The rules, speaking of places; the end and what is to be avoided have the same in every vocabulary."""
        places = (self.each.ids.unsqueeze(1) == rules.prefix.unsqueeze(2)).int().argmax(-1)
        avoid = torch.arange(1, 1 + len(rules.avoid.unique()), device=places.device)
        return rules.renamed(end=0, avoid=avoid, prefix=places.masked_fill(rules.prefix == FREE, FREE))

    def reorder(self, index: Int[Tensor, " N"]) -> Listed:
        """The words of sentence `index[i]` at place i."""
        other = copy(self)
        other.each = self.each.reorder(index)
        return other

    def own(self, logits: Float[Tensor, "N U"], owner: Int[Tensor, " N"]) -> Float[Tensor, "N C"]:
        """Of each row's scores those of what its sentence may write; what only fills up is impossible."""
        return logits.gather(1, self.each.columns[owner]).masked_fill_(self.each.filling[owner], NEVER)

    def ids(self, place: Int[Tensor, " N"], owner: Int[Tensor, " N"]) -> Int[Tensor, " N"]:
        """The pieces at these places."""
        return self.each.ids[owner, place]


def words_of(model: Model, source: Padded | Grid, shortlist: Shortlist | None, rules: Constraints) -> Words:
    """What a search may write."""
    if shortlist is None:
        return Words(model, model.sizes[1])
    if not isinstance(source, Padded):
        raise UsageError("a shortlist says what the pieces of a text lead to; these sources are images.")
    return Listed(model, source, shortlist, rules)


def _vocabularies(open_to: Bool[Tensor, "B V"], first: Int[Tensor, " A"]) -> Vocabularies:
    """What is open to each sentence: first what is open to all of them, then its own."""
    others = open_to.clone()
    others[:, first] = False
    counts = len(first) + others.sum(1)
    row, piece = others.nonzero(as_tuple=True)
    ids = first[0].repeat(len(open_to), int(counts.max()))
    ids[:, : len(first)] = first
    ids[row, len(first) + place_in_group(row)] = piece
    columns = open_to.any(0).cumsum(0) - 1
    return Vocabularies(ids, columns[ids], torch.arange(ids.shape[1], device=ids.device) >= counts.unsqueeze(1))


def _narrowed(model: Model, pieces: Int[Tensor, " U"]) -> Model:
    """The same model, parts and all, but that its readout scores these pieces alone."""
    readout = getattr(model.predict, "readout", None)
    if readout is None or not hasattr(readout, "narrow"):
        raise UsageError(
            f"a shortlist needs a readout that multiplies with a table of pieces; found {type(readout).__name__}.",
            hint="Search without a shortlist.",
        )
    return _with(model, "predict", _with(model.predict, "readout", readout.narrow(pieces)))


def _with(module: Module, name: str, child: nn.Module) -> Module:
    """A shallow copy with another child: whoever else uses the module meanwhile sees nothing of it."""
    other = copy(module)
    other._modules = {**module._modules, name: child}
    return other
