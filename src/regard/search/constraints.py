"""What may be written next: limits of length, forced first pieces, no repeats.

Rules act on the log-probabilities of the next piece, in place: what is not allowed gets -inf, what is allowed
keeps its value, so that likelihoods stay the model's own. Of a text that is continued, what is forced counts nothing:
neither what it begins with, nor the end where it is cut. A rule looks only at a row and its own sentence.

Letters: N hypotheses, V vocabulary, B sentences, t pieces written so far, P longest forced prefix.
"""

from __future__ import annotations

from copy import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard.errors import ModelError
from regard.search.options import Options
from regard.search.rows import Rows, Step

# What a piece of probability zero counts where it has to be written: a finite number, so that the outputs that
# hold it can still be told apart.
LEAST = -1e9
NEVER = -torch.inf
FREE = -1  # in the place of a forced piece: none


def log_probabilities(logits: Float[Tensor, "N V"], room: Float[Tensor, " R"] | None = None) -> Float[Tensor, "N V"]:
    """The log-probability of every next piece, in full precision; in `room`, if some is given."""
    if room is None:
        room = torch.empty(logits.numel(), device=logits.device)
    chances = room[: logits.numel()].view(logits.shape)
    full = logits if logits.dtype == chances.dtype else chances.copy_(logits)
    torch.ops.aten._log_softmax.out(full, -1, False, out=chances)
    refuse_nan(chances[:, :1])  # one NaN makes its whole row NaN
    return chances


def refuse_nan(values: Float[Tensor, "..."]) -> None:
    """Say so where a model has lost its numbers: a search would go on to its limit and find rubbish."""
    if values.isnan().any():
        raise ModelError(
            "the model's scores are not numbers (NaN), so nothing can be searched for.",
            hint="Its training has probably diverged: train again with a lower rate, or take an earlier state.",
        )


class Constraints:
    """The rules of one search. `limits` and `least` say how many pieces each sentence's output may and must have."""

    def __init__(self, options: Options, lengths: Int[Tensor, " B"], *, size: int, end: int) -> None:
        options.check_pieces(len(lengths), size=size, end=end)
        self.options, self.end = options, end
        self.avoid = torch.tensor(list(options.avoid), dtype=torch.long, device=lengths.device)
        self.prefix = _framed(options, len(lengths)).to(lengths.device)
        self.limits = lengths.new_tensor(options.limits(lengths.tolist()))
        self.least = lengths.new_tensor(options.least(len(lengths)))
        self.begun = lengths.new_tensor(options.forced(len(lengths)))

    def reorder(self, index: Int[Tensor, " N"]) -> Constraints:
        """The same rules for sentence `index[i]` at place i."""
        other = copy(self)
        other.prefix, other.limits, other.least = self.prefix[index], self.limits[index], self.least[index]
        other.begun = self.begun[index]
        return other

    def concatenate(self, other: Constraints) -> Constraints:
        """The same rules for these sentences and those of the other."""
        more, width = copy(self), max(self.prefix.shape[1], other.prefix.shape[1])
        tables = [F.pad(each.prefix, (0, width - each.prefix.shape[1]), value=FREE) for each in (self, other)]
        more.prefix, more.limits = torch.cat(tables), torch.cat((self.limits, other.limits))
        more.least, more.begun = torch.cat((self.least, other.least)), torch.cat((self.begun, other.begun))
        return more

    def renamed(self, *, end: int, avoid: Int[Tensor, " A"], prefix: Int[Tensor, "B P"]) -> Constraints:
        """The same rules where pieces go by other numbers."""
        other = copy(self)
        other.end, other.avoid, other.prefix = end, avoid, prefix
        return other

    def __call__(self, chances: Float[Tensor, "N V"], rows: Rows, step: Step) -> None:
        """Forbid in place what no hypothesis may write at this step; each row keeps at least one piece."""
        forced = self.forced(rows.owner, step)
        only = forced.masked_fill(forced == FREE, self.end)  # a row that may write nothing else may end
        chance = chances.gather(1, only.unsqueeze(1)).squeeze(1).clamp(min=LEAST)
        narrow = forced != FREE
        if self.options.continues:  # what is given is not the model's, nor is the end of what is cut
            chance = chance.masked_fill(narrow, 0.0)
        if self._forbid(chances, rows, step):
            narrow = narrow | (chances.amax(-1) == NEVER)
        if narrow.any():
            chances[narrow] = NEVER
            chances[narrow, only[narrow]] = chance[narrow]

    def forced(self, owner: Int[Tensor, " N"], step: Step) -> Int[Tensor, " N"]:
        """The only piece that a row may write now: of its prefix, or the end at its limit; else FREE."""
        wanted, last, now = torch.full_like(owner, FREE), self.prefix.shape[1] - 1, torch.as_tensor(step)
        if last >= 0:
            wanted = self.prefix[owner, now.clamp(max=last)].masked_fill(now > last, FREE)
        return wanted.masked_fill(self.limits[owner] <= step, self.end)

    def _forbid(self, chances: Float[Tensor, "N V"], rows: Rows, step: Step) -> bool:
        """Forbid single pieces; was there anything to forbid?"""
        early = bool(self.options.min_length)
        if early:
            chances[:, self.end].masked_fill_(self.least[rows.owner] > step, NEVER)
        if len(self.avoid):
            chances[:, self.avoid] = NEVER
        if rows.written is not None:
            row, piece = repeats(rows.written, self.options.no_repeat)
            chances[row, piece] = NEVER
        return early or len(self.avoid) > 0 or rows.written is not None


def repeats(written: Int[Tensor, "N t"], size: int) -> tuple[Int[Tensor, " R"], Int[Tensor, " R"]]:
    """Rows and pieces: writing that piece would end a sequence of `size` pieces that the row already holds."""
    if written.shape[1] < size:
        nothing = torch.empty(0, dtype=torch.long, device=written.device)
        return nothing, nothing
    grams = written.unfold(1, size, 1)
    last = written[:, written.shape[1] - size + 1 :].unsqueeze(1)
    row, place = (grams[..., :-1] == last).all(-1).nonzero(as_tuple=True)
    return row, grams[row, place, -1]


def _framed(options: Options, sentences: int) -> Int[Tensor, "B P"]:
    """The forced first pieces as one table, FREE after each sentence's own."""
    longest = max(map(len, options.prefix), default=0)
    lines = options.prefix or [()] * sentences
    table = [[*pieces, *[FREE] * (longest - len(pieces))] for pieces in lines]
    return torch.tensor(table, dtype=torch.long).view(sentences, longest)
