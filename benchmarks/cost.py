"""What one layer costs as the sequence grows: recurrent, convolution, self-attention, self-attention in a window.

Three questions of Vaswani et al. (2017, table 1), answered by measuring Regard's own layers at equal width: how long
forward and backward take, how many bytes they hold at most (see measure.py), and how many operations lie between the
first position and the last. Time is of the processor, in turn, as medians, one thread. An exponent is the slope of a
straight line through the longest lengths on log-log axes: 1 is linear, 2 quadratic.
Run by `python benchmarks/figures.py --only cost`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import torch
from measure import costs, slope, table
from torch import Tensor, nn

from regard.encode.convolve import GatedConvolution
from regard.encode.recurrent import Layer
from regard.encode.transformer import EncoderLayer
from regard.hooks import Looked, hook
from regard.registry import Maker, maker

WIDTH, HEADS, KERNEL, REACH, REPEATS, LAST = 128, 4, 5, 8, 7, 4
LENGTHS = tuple(2**power for power in range(4, 13))  # 16 ... 4096
QUICK: dict[str, Any] = {"lengths": (32, 64, 128, 256), "width": 8, "repeats": 1}  # narrow: growth shows early
FUSED = "self-attention, fused"  # the same layer as "self-attention", when nobody watches
Found = dict[str, Any]


# --- the layers --------------------------------------------------------------------------------------------


def _transformer(scope: Maker, width: int) -> nn.Module:
    look = maker("attend", "attention", score=maker("score", "scaled_dot"), scope=scope)
    return EncoderLayer(width, 4 * width, "before", 0.0, maker("attend", "heads", heads=HEADS, attend=look))


@dataclass(frozen=True)
class Kind:
    """A kind of layer: how to make one of a width, and which positions hear a position after one operation."""

    make: Callable[[int], nn.Module]
    hears: Callable[[int, int], range]  # position, length


def _near(reach: int, at: int, length: int) -> range:
    return range(max(0, at - reach), min(length, at + reach + 1))


KINDS: dict[str, Kind] = {
    "recurrent": Kind(
        lambda width: Layer(width, width, "gru", "forward"), lambda at, length: range(at, min(length, at + 2))
    ),
    "convolution": Kind(lambda width: GatedConvolution(width, KERNEL, 0.0), partial(_near, KERNEL // 2)),
    "self-attention": Kind(partial(_transformer, maker("scope", "global")), lambda at, length: range(length)),
    "local self-attention": Kind(partial(_transformer, maker("scope", "local_m", reach=REACH)), partial(_near, REACH)),
}


def learn(layer: nn.Module, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """Forward and backward: the gradients of the input and of every weight."""
    made = layer(states, mask)
    found = made[0] if isinstance(made, tuple) else made
    return torch.autograd.grad(found.sum(), (states, *layer.parameters()))


def learn_in_the_open(layer: nn.Module, states: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """The same while somebody watches: every weight of the attention is computed, and kept for the gradient."""
    with hook(Looked, lambda looked: None):
        return learn(layer, states, mask)


def calls(length: int, width: int) -> dict[str, Callable[[], Any]]:
    """One call a kind on one random sequence; self-attention twice, in the open and fused."""
    torch.manual_seed(0)
    states, mask = torch.randn(1, length, width, requires_grad=True), torch.ones(1, length, dtype=torch.bool)
    found: dict[str, Callable[[], Any]] = {}
    for name, kind in KINDS.items():
        layer = kind.make(width)
        found[name] = partial(learn_in_the_open if name == "self-attention" else learn, layer, states, mask)
        if name == "self-attention":
            found[FUSED] = partial(learn, layer, states, mask)
    return found


# --- what is measured --------------------------------------------------------------------------------------


def path(kind: Kind, length: int) -> int:
    """The operations between the first and the last position, found by following the wiring breadth first."""
    reached, front, steps = {0}, {0}, 0
    while length - 1 not in reached:
        front = {other for at in front for other in kind.hears(at, length)} - reached
        reached |= front
        steps += 1
    return steps


def power(lengths: Sequence[int], numbers: Sequence[float]) -> float:
    """The exponent e of numbers ~ length^e, from the longest few lengths, where what is constant matters least."""
    at, found = ([math.log2(each) for each in side[-LAST:]] for side in (lengths, numbers))
    return slope(at, found)


def measure(lengths: tuple[int, ...] = LENGTHS, width: int = WIDTH, repeats: int = REPEATS) -> Found:
    """Costs and paths of every kind at every length, with their exponents."""
    by_length = [costs(calls(length, width), repeats) for length in lengths]
    kinds: Found = {}
    for name in by_length[0]:
        series = [each[name] for each in by_length]
        paths = [path(KINDS[name.removesuffix(", fused")], length) for length in lengths]
        kinds[name] = {
            "costs": [asdict(one) for one in series],
            "path": paths,
            "exponents": {
                "time": power(lengths, [one.cpu for one in series]),
                "memory": power(lengths, [one.peak for one in series]),
                "path": power(lengths, paths),
            },
        }
    settings = {"width": width, "heads": HEADS, "kernel": KERNEL, "reach": REACH, "repeats": repeats}
    return {"settings": settings, "lengths": list(lengths), "kinds": kinds, "torch": torch.__version__}


def tell(found: Found) -> None:
    """Three tables: milliseconds, megabytes, operations; each with its exponent."""
    shown: dict[str, Callable[[Found, int], str]] = {
        "time": lambda kind, at: f"{kind['costs'][at]['cpu'] * 1e3:,.1f}",
        "memory": lambda kind, at: f"{kind['costs'][at]['peak'] / 1e6:,.2f}",
        "path": lambda kind, at: f"{kind['path'][at]:,}",
    }
    units = {"time": "milliseconds of the processor", "memory": "megabytes at most", "path": "operations"}
    lengths = found["lengths"]
    for which, told in shown.items():
        print(f"{units[which]}, by length; exponent over the last {min(LAST, len(lengths))}\n")
        rows = [
            [name, *(told(kind, at) for at in range(len(lengths))), f"{kind['exponents'][which]:.2f}"]
            for name, kind in found["kinds"].items()
        ]
        table(["", *map(str, lengths), "exponent"], rows)
