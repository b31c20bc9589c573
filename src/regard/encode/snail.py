"""SNAIL: causal convolutions that gather, and causal attention that points (Mishra et al. 2018).

Every block writes beside what it reads: channels only grow. A sequence may end in several positions side by side
(`Branched`): each is the last of a sequence of its own, and what they have in common is computed once.

Letters: B sequences, P positions, Q of them side by side at the end, D channels.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import ShapeError
from regard.registry import Maker, maker, part
from regard.task import Spec
from regard.types import Branched, Count, Memory, Modules, Padded, Widths

States = Float[Tensor, "B P D"]
Wider = Float[Tensor, "B P E"]  # what was read, and what was written beside it


def before(states: States, dilation: int, ends: int = 1) -> States:
    """At each position what stands `dilation` steps before it: zeros where there is nothing.

    The last positions, `ends` of them, stand at the same step.
    """
    steps = states.shape[1] - ends + 1
    earlier = F.pad(states[:, : max(steps - dilation, 0)], (0, 0, min(dilation, steps), 0))
    if ends == 1:
        return earlier
    return torch.cat((earlier[:, :-1], earlier[:, -1:].expand(-1, ends, -1)), 1)


class DenseBlock(nn.Module):
    """tanh times sigmoid of two causal convolutions of width 2, beside what was read."""

    def __init__(self, inputs: int, filters: int, dilation: int) -> None:
        super().__init__()
        self.dilation, self.width = dilation, inputs + filters
        self.now = nn.Linear(inputs, 2 * filters)  # of both convolutions the weight of the position itself
        self.earlier = nn.Linear(inputs, 2 * filters, bias=False)  # and that of the one before

    def forward(self, states: States, ends: int = 1) -> Wider:
        """One product for both convolutions and both of their weights."""
        weight = torch.cat((self.now.weight, self.earlier.weight))
        now, earlier = F.linear(states, weight).chunk(2, -1)
        found = now + before(earlier, self.dilation, ends) + self.now.bias
        value, gate = found.chunk(2, -1)
        return torch.cat((states, value.tanh() * gate.sigmoid()), -1)


class Convolutions(nn.Module):
    """Dense blocks of dilations 1, 2, 4 ..., as many as it takes to see `length` steps: the logarithm, of base two."""

    def __init__(self, inputs: int, filters: int, length: int) -> None:
        super().__init__()
        depth = (length - 1).bit_length()  # ceil(log2(length)), exactly
        self.blocks: Modules = nn.ModuleList(
            DenseBlock(inputs + filters * layer, filters, 2**layer) for layer in range(depth)
        )
        self.width = inputs + filters * depth

    def forward(self, states: States, mask: Bool[Tensor, "B P"], ends: int = 1) -> Wider:
        """One after the other; padding follows what is real, and nothing looks ahead."""
        for block in self.blocks:
            states = block(states, ends)
        return states


class Pointer(nn.Module):
    """Attention over all steps until now, itself included; what it brings stands beside what was read."""

    def __init__(self, inputs: int, keys: int, values: int, attend: Maker, *, alike: bool = False) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(inputs, keys), nn.Linear(inputs, keys)
        self.value = nn.Linear(inputs, values)
        if alike:
            nn.init.normal_(self.key.weight, std=inputs**-0.5)
            nn.init.zeros_(self.key.bias)
            self.query.load_state_dict(self.key.state_dict())
        self.attend = attend(keys, keys, values)
        self.width = inputs + self.attend.width

    def forward(self, states: States, mask: Bool[Tensor, "B P"], ends: int = 1) -> Wider:
        """Positions that stand side by side do not see one another."""
        prepared = self.attend.prepare(self.key(states), self.value(states), seen(mask, ends))
        read = self.attend(self.query(states), prepared, start=0, real=mask).context
        return torch.cat((states, read.to(states.dtype)), -1)


def seen(mask: Bool[Tensor, "B P"], ends: int) -> Bool[Tensor, "B P"] | Bool[Tensor, "B P P"]:
    """Who may look at what, beside what causality forbids: positions at the end see themselves, and not each other."""
    if ends == 1:
        return mask
    count = mask.shape[1]
    apart = torch.ones(count, count, dtype=torch.bool, device=mask.device)
    apart[-ends:, -ends:] = torch.eye(ends, dtype=torch.bool, device=mask.device)
    return mask.unsqueeze(1) & apart


@part("encode", "snail")
class Snail(nn.Module):
    """Attention, convolutions, attention, convolutions, attention; the summary is the state of the last position.

    The memory of sequences that end in several positions side by side is the last state of each, a row for each end.

    Settings:
        length: steps that the convolutions see; of an episode, its labelled images and the one that is asked about.
        filters: of each dense block, which adds as many channels.
        keys: width of the queries and keys of each attention, from the first to the last.
        values: channels that each attention adds.
        alike: whether queries begin as the keys do, so that at first what is alike is looked at. Where both begin at
            random, it takes thousands of updates until anything is pointed at.
        blocks: "both" kinds of blocks in turns, or only the "convolutions", or only the "attention".
        attend: how the attention blocks look.
    """

    def __init__(
        self,
        width: int,
        *,
        length: Count = 6,
        filters: Count = 128,
        keys: tuple[Count, ...] = (64, 256, 512),
        values: tuple[Count, ...] = (32, 128, 256),
        alike: bool = True,
        blocks: Literal["both", "convolutions", "attention"] = "both",
        attend: Maker = maker(
            "attend", "attention", score=maker("score", "scaled_dot"), scope=maker("scope", "causal")
        ),
    ) -> None:
        super().__init__()
        if len(keys) != len(values) or not keys:
            raise ShapeError(
                f"each attention has keys and values; found {len(keys)} and {len(values)} widths.",
                hint="Write as many in keys as in values, as in keys = [64, 256], values = [32, 128].",
            )
        made: list[Any] = []
        for number, (key, value) in enumerate(zip(keys, values, strict=True)):
            if number and blocks != "attention":
                made.append(Convolutions(width, filters, length))
                width = made[-1].width
            if blocks != "convolutions":
                made.append(Pointer(width, key, value, attend, alike=alike))
                width = made[-1].width
        self.blocks: Modules = nn.ModuleList(made)
        self.widths = Widths(keys=width, values=width, summary=width)

    @staticmethod
    def settings_of(spec: Spec) -> dict[str, Any]:
        """What follows from an episode: how many steps it has."""
        ways, shots = spec.shape[:2]
        return {"length": ways * shots + 1}

    def forward(self, source: Padded) -> Memory:
        """Read sequences from the first position to the last."""
        ends = source.ends if isinstance(source, Branched) else 1
        states = source.data
        for block in self.blocks:
            states = block(states, source.mask, ends)
        if isinstance(source, Branched):
            last = states[:, -ends:].flatten(0, 1)
            alone = last.unsqueeze(1)
            return Memory(alone, alone, torch.ones(alone.shape[:2], dtype=torch.bool, device=alone.device), last)
        states = states * source.mask.unsqueeze(-1)
        place = (source.lengths - 1).clamp(min=0)
        return Memory(states, states, source.mask, states[torch.arange(len(states), device=place.device), place])
