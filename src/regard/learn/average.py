"""Averages: weights that are a mean over many updates, which translate better than the last ones alone.

An average follows the weights update by update and keeps tensors of its own. `weights` are what to use;
training itself never sees them. Weights travel as tensors by name (see `state.weights_of`).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from regard.registry import part
from regard.types import Count, Share

Weights = Mapping[str, Tensor]


class Average:
    """What every average offers. `copies` says how many times the weights it keeps at most."""

    copies: int

    def follow(self, number: int, weights: Weights) -> None:
        """Hear the weights after an update."""
        raise TypeError(f"{type(self).__name__} does not say what it keeps")

    def weights(self, current: Weights) -> Weights:
        """The weights to use; those of now where nothing was kept yet."""
        raise TypeError(f"{type(self).__name__} does not say which weights to use")

    def tensors(self) -> dict[str, Tensor]:
        """All that it keeps."""
        raise TypeError(f"{type(self).__name__} does not say what it keeps")

    def restore(self, tensors: Weights) -> None:
        """Go on from what was kept."""
        raise TypeError(f"{type(self).__name__} does not say how to go on")


@part("average", "ema")
class Moving(Average):
    """The exponential moving average: after each update, decay x what was + (1 - decay) x what is.

    Update n keeps at most (1 + n) / (10 + n), so that the first weights are soon forgotten.

    Settings:
        decay: how much of the average is kept at each update.
    """

    copies = 1

    def __init__(self, *, decay: Share = 0.999) -> None:
        self.decay = decay
        self.kept: dict[str, Tensor] = {}

    def follow(self, number: int, weights: Weights) -> None:
        """Move a little towards the weights of now."""
        keep = min(self.decay, (1 + number) / (10 + number))
        for name, weight in weights.items():
            if name in self.kept and weight.is_floating_point():
                self.kept[name].lerp_(weight.detach(), 1 - keep)
            else:
                self.kept[name] = weight.detach().clone()

    def weights(self, current: Weights) -> Weights:
        """The moving average."""
        return self.kept or current

    def tensors(self) -> dict[str, Tensor]:
        """The moving average."""
        return dict(self.kept)

    def restore(self, tensors: Weights) -> None:
        """Go on from what was kept."""
        self.kept = dict(tensors)


@part("average", "last")
class Last(Average):
    """The mean of the weights at a few points, the last ones taken (Vaswani 2017, section 6.1).

    Settings:
        count: how many are kept.
        every: updates from one to the next.
    """

    def __init__(self, *, count: Count = 5, every: Count = 200) -> None:
        self.count, self.every, self.copies = count, every, count
        self.taken: list[Weights] = []  # the oldest first

    def follow(self, number: int, weights: Weights) -> None:
        """Keep a copy where it is time to."""
        if number % self.every == 0:
            copy = {name: weight.detach().clone() for name, weight in weights.items()}
            self.taken = [*self.taken, copy][-self.count :]

    def weights(self, current: Weights) -> Weights:
        """The mean of the copies; what is no number to average is taken from the last."""
        return {name: self._mean(name) for name in current} if self.taken else current

    def tensors(self) -> dict[str, Tensor]:
        """The copies, each under its place."""
        return {f"{place}.{name}": weight for place, copy in enumerate(self.taken) for name, weight in copy.items()}

    def restore(self, tensors: Weights) -> None:
        """Go on from what was kept."""
        found: dict[int, dict[str, Tensor]] = {}
        for key, weight in tensors.items():
            place, _, name = key.partition(".")
            found.setdefault(int(place), {})[name] = weight
        self.taken = [found[place] for place in sorted(found)]

    def _mean(self, name: str) -> Tensor:
        copies = [copy[name] for copy in self.taken]
        return torch.stack(copies).mean(0) if copies[-1].is_floating_point() else copies[-1]
