"""Sampling: the next piece is drawn, with its probability or only from among the likeliest.

Letters: N rows, V vocabulary, C candidates, L steps at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.model import Model
from regard.search.hypothesis import Hypothesis
from regard.search.loop import search
from regard.search.options import Number, Options, Sampling
from regard.search.rows import Rows, Step
from regard.search.strategy import Candidates, Strategy
from regard.types import Grid, Padded

Dice = torch.Generator | Sequence[torch.Generator] | None  # for all sentences, or one for each; None: PyTorch's own


def dice_of(seed: int, source: Sequence[int]) -> torch.Generator:
    """A generator that goes by a seed and a sentence alone: wherever that stands, it draws the same."""
    told = hashlib.blake2b(repr((seed, *source)).encode(), digest_size=7)
    return torch.Generator().manual_seed(int.from_bytes(told.digest()))


def sample(
    model: Model,
    source: Padded | Grid,
    sampling: Sampling | None = None,
    options: Options | None = None,
    *,
    start: int,
    end: int,
    generator: Dice = None,
    record: bool = False,
) -> list[list[Hypothesis]]:
    """`draws` outputs for each sentence, in the order they were drawn; likelihoods are the model's own.

    The same generator draws the same, and so does one for each sentence, whatever others stand beside it. How long
    other sentences go on does not change what a sentence draws.
    """
    sampling, options = sampling or Sampling(), options or Options()
    strategy = Draw(sampling, options, generator)
    drawn = search(model, source, options, strategy, start=start, end=end, record=record)
    singles = [found[0] for found in drawn]
    return [singles[first : first + sampling.draws] for first in range(0, len(singles), sampling.draws)]


class Draw(Strategy):
    """Every row goes on with a piece that is drawn for it."""

    def __init__(self, sampling: Sampling, options: Options, generator: Dice) -> None:
        self.sampling, self.options, self.generator = sampling, options, generator
        self.copies = sampling.draws

    def begin(self, limits: Int[Tensor, " B"]) -> None:
        """Throw all dice at once, so that those of a row do not depend on when other rows end.

        Of a text that is continued, the first are for the first piece after its beginning, however long that is.
        """
        steps = self.options.max_length + 1
        if isinstance(self.generator, Sequence):
            thrown = torch.cat([torch.rand((self.copies, steps), generator=each) for each in self.generator])
        else:
            thrown = torch.rand((len(limits), steps), generator=self.generator)
        self.dice = thrown.to(limits.device)
        begun = self.options.forced(len(limits) // self.copies) if self.options.continues else [0]
        self.begun = limits.new_tensor(begun).repeat_interleave(self.copies)

    def narrow(self, chances: Float[Tensor, "N V"], rows: Rows, step: Step, wanted: int) -> Candidates:
        """A piece for each row."""
        shares, pieces = shortlist(chances, self.sampling)
        at = (step - self.begun[rows.owner]).clamp(min=0) if self.options.continues else step
        place = draw(shares, self.dice[rows.owner, at])
        piece = place.unsqueeze(1) if pieces is None else pieces.gather(1, place.unsqueeze(1))
        return Candidates(chances.gather(1, piece), piece)


def shortlist(
    chances: Float[Tensor, "N V"], sampling: Sampling
) -> tuple[Float[Tensor, "N C"], Int[Tensor, "N C"] | None]:
    """The shares to draw with, and the pieces they belong to (None: all pieces, in their order)."""
    few = 1 if sampling.temperature == 0 else min(sampling.top_k, chances.shape[1])
    values, pieces = chances, None
    if few:
        values, pieces = chances.topk(few)
    elif sampling.top_p < 1:
        values, pieces = chances.sort(descending=True)
    # The largest is taken off first: divided by a tiny temperature, everything may become -inf.
    shares = torch.softmax((values - values.amax(-1, keepdim=True)) / (sampling.temperature or 1.0), -1)
    if sampling.top_p < 1:
        shares = nucleus(shares, sampling.top_p)
    return (typical_set(shares, sampling.typical) if sampling.typical < 1 else shares), pieces


def nucleus(shares: Float[Tensor, "N C"], top_p: Number) -> Float[Tensor, "N C"]:
    """Of shares from large to small only the first ones that together hold `top_p`; at least one."""
    before = shares.cumsum(-1) - shares
    return shares.masked_fill(before >= top_p, 0.0)


def typical_set(shares: Float[Tensor, "N C"], mass: Number) -> Float[Tensor, "N C"]:
    """Only the shares whose surprise, -log p, is nearest to the expected one, as many as together hold `mass`."""
    shares = shares / shares.sum(-1, keepdim=True)
    surprise = -shares.log()
    expected = (shares * surprise.nan_to_num(posinf=0.0)).sum(-1, keepdim=True)
    order = (surprise - expected).abs().sort(stable=True, dim=-1).indices
    nearest = shares.gather(-1, order)
    before = nearest.cumsum(-1) - nearest
    return torch.zeros_like(shares).scatter(-1, order, nearest.masked_fill(before >= mass, 0.0))


def draw(shares: Float[Tensor, "N C"], dice: Float[Tensor, " N"]) -> Int[Tensor, " N"]:
    """The place that each die, a number from 0 up to 1, falls on; shares need not sum to one.

    In double precision a single-precision die below 1 falls short of the total, and so never on a share of zero.
    """
    heights = shares.double().cumsum(-1)
    mark = dice.double().unsqueeze(1) * heights[:, -1:]
    return torch.searchsorted(heights, mark, right=True).squeeze(1)
