"""Where numbers that are not finite came from: the batch is run once more, and every operation is looked at.

An operation belongs to the module in whose method it stands, whichever method that is. Wanted is, of a loss that is not
finite, the first operation that makes an infinity or a NaN of finite numbers; of a finite loss, the first that sends
one back. This costs many times what an update does, and is done only for an update that has failed already.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from regard.registry import described


def origin(model: nn.Module, run: Callable[[], Tensor]) -> str | None:
    """Which part made the first number of `run`, a loss of the model, that is not finite; None if all are finite."""
    for name, weight in model.named_parameters():
        if not _are_finite([weight]):
            return f"The weights {name} are not finite: an update before this one moved them too far, or they began so."
    watch = _Watch(model)
    with watch:
        loss = run()
    if not _are_finite([loss]):
        return f"The first such number was made by {watch.made_by}."
    loss.backward()
    return None if watch.sent_by is None else f"The first such number was sent back by {watch.sent_by}."


class _Watch(TorchFunctionMode):
    """Looks at what every operation makes, and at what it sends back."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        self.places = {id(module): name for name, module in model.named_modules()}
        self.owners: dict[Any, str] = {}  # of each node of the way back
        self.made_by: str | None = None
        self.sent_by: str | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made, owner = func(*args, **(kwargs or {})), self._owner()
        with torch._C.DisableTorchFunction():
            outputs = _tensors(made)
            if self.made_by is None and not _are_finite(outputs) and _is_innocent(args, kwargs):
                self.made_by = owner
            for each in outputs:
                self._follow(each.grad_fn, owner)
        return made

    def _follow(self, last: Any, owner: str) -> None:
        """Look at what the nodes that an operation has added to the way back will send."""
        new = [last]
        while new:
            node = new.pop()
            if node is None or node in self.owners:
                continue
            self.owners[node] = owner
            node.register_hook(lambda sent, got, node=node: self._look(node, sent))
            new += [each for each, _ in node.next_functions]

    def _look(self, node: Any, sent: Any) -> None:
        if self.sent_by is None and not _are_finite(_tensors(sent)):
            self.sent_by = self.owners[node]

    def _owner(self) -> str:
        """The module in whose method the operation stands."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            place = self.places.get(id(frame.f_locals.get("self")))
            if place:
                return described(self.model, place)
            frame = frame.f_back
        return "the loss"


def _tensors(tree: Any) -> list[Tensor]:
    return [each for each in tree_leaves(tree) if isinstance(each, Tensor)]


def _are_finite(tensors: Iterable[Tensor]) -> bool:
    return all(bool(torch.isfinite(each).all()) for each in tensors if each.is_floating_point())


def _is_innocent(*given: Any) -> bool:
    """Was an operation given nothing but finite numbers? One that is told to fill in infinities is to do so."""
    numbers = [each for each in tree_leaves(given) if isinstance(each, float)]
    return _are_finite(_tensors(given)) and all(map(math.isfinite, numbers))
