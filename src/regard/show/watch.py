"""Watching a model: every weight it looks with, without a flag anywhere in it.

with regard.watch(model) as seen:
    model.teach(batch)
seen.weights("cross")            # B H T S, of the last layer
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.errors import UnknownName, UsageError
from regard.hooks import Looked, hook

KINDS = ("cross", "image", "encoder-self", "decoder-self", "attention")


@dataclass(frozen=True)
class Look:
    """One call of one attention: its kind and layer, the step of its first query, and the weights of every head."""

    kind: str
    layer: int
    step: int
    weights: Float[Tensor, "B H Q K"]


class Seen:
    """The attention record: every look, in the order in which it happened."""

    def __init__(self, places: dict[int, tuple[str, int]], repeats: int = 1) -> None:
        self.looks: list[Look] = []
        self._places, self._repeats = places, repeats
        self._calls: Counter[int] = Counter()  # of attentions that several layers share, each in its turn
        self._alive: list[nn.Module] = []  # an id is a name only while its owner lives

    def hear(self, event: Looked) -> None:
        """Note one look; an attention outside the model is of kind "attention"."""
        if id(event.module) not in self._places:
            self._places[id(event.module)] = ("attention", len(self._alive))
            self._alive.append(event.module)
        kind, layer = self._places[id(event.module)]
        if kind == "encoder-self" and self._repeats > 1:
            layer += self._calls[id(event.module)] % self._repeats
            self._calls[id(event.module)] += 1
        weights = event.weights if event.weights.dim() == 4 else event.weights.unsqueeze(1)
        self.looks.append(Look(kind, layer, event.start, weights))

    @property
    def kinds(self) -> dict[str, int]:
        """The kinds of attention that were seen, and how many layers of each."""
        return {
            kind: len({look.layer for look in self.looks if look.kind == kind})
            for kind in KINDS
            if any(look.kind == kind for look in self.looks)
        }

    def weights(self, kind: str = "cross", layer: int = -1) -> Float[Tensor, "B H T K"]:
        """All queries of one layer, in order of their steps; keys that came later have weight zero."""
        if kind not in self.kinds:
            raise UnknownName("kind of attention in this record", kind, self.kinds)
        layers = sorted({look.layer for look in self.looks if look.kind == kind})
        if not -len(layers) <= layer < len(layers):
            raise UsageError(f"the record has {len(layers)} layers of {kind} attention; asked for number {layer}.")
        looks = [look.weights for look in self.looks if look.kind == kind and look.layer == layers[layer]]
        if len({weights.shape[0] for weights in looks}) > 1:
            raise UsageError(
                "the rows changed while watching, so the steps cannot be joined.",
                hint="Watch one batch at a time; a search returns its own record.",
            )
        longest = max(weights.shape[-1] for weights in looks)
        return torch.cat([nn.functional.pad(weights, (0, longest - weights.shape[-1])) for weights in looks], 2)


@contextmanager
def watch(model: nn.Module | None = None) -> Iterator[Seen]:
    """Record every attention that looks inside the block; `model` gives each its kind and layer."""
    repeats = getattr(getattr(model, "encode", None), "repeats", 1)
    seen = Seen({} if model is None else places(model), repeats)
    with hook(Looked, seen.hear):
        yield seen


def places(model: nn.Module) -> dict[int, tuple[str, int]]:
    """Each attention's kind and layer, from where it stands in the model."""
    found: dict[int, tuple[str, int]] = {}
    counts: dict[str, int] = {}
    for name, module in model.named_modules():
        # The innermost attention, which holds score, scope and choice; or what says by itself what it looks at.
        if hasattr(module, "explicit") or hasattr(module, "looks_at"):
            kind = getattr(module, "looks_at", None) or _kind(name.split("."), model)
            found[id(module)] = (kind, counts.setdefault(kind, 0))
            counts[kind] += 1
    return found


def _kind(path: list[str], model: nn.Module) -> str:
    if "encode" in path:
        return "encoder-self"
    if "self_attend" in path:
        return "decoder-self"
    return "image" if getattr(getattr(model, "encode", None), "sees_images", False) else "cross"
