"""Opening a model with little more memory than it needs: nothing is drawn that the file will overwrite.

Memory that was asked for and never written takes no room. So the parameters of a model that is built to be filled stay
as they were allocated, and are then read one by one, the largest first, while there is room beside it for what is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode


class Undrawn(TorchFunctionMode):
    """Inside, whatever would change a parameter in place leaves it alone: what a part begins with, it draws so."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, given: tuple[Any, ...] = (), named: dict[str, Any] | None = None
    ) -> Any:
        """Call what was called, or give the parameter back."""
        name, named = getattr(function, "__name__", ""), named or {}
        changes = name.endswith("_") and not name.startswith("__") and name != "requires_grad_"
        changed = given[0] if given else named.get("tensor")  # as torch.nn.init calls it
        if changes and isinstance(changed, nn.Parameter):
            return changed
        return function(*given, **named)


def read_weights(model: nn.Module, path: Path) -> None:
    """Fill a model from a file of safetensors; names that share a tensor stand there once."""
    wanted = model.state_dict()
    with safe_open(path, framework="pt") as file:
        shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    _check(wanted, shapes)
    for name in sorted(shapes, key=lambda name: -wanted[name].numel()):
        with safe_open(path, framework="pt") as file:  # what was read stays mapped as long as the file is open
            wanted[name].copy_(file.get_tensor(name))


def _check(wanted: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Refuse a file that holds too much, too little, or other shapes."""
    stray = sorted(shapes.keys() - wanted.keys())
    wrong = [
        f"{name} has the shape {shape}, expected {tuple(wanted[name].shape)}"
        for name, shape in shapes.items()
        if name in wanted and tuple(wanted[name].shape) != shape
    ]
    there = {wanted[name].data_ptr() for name in shapes if name in wanted}
    missing = [name for name, each in wanted.items() if name not in shapes and each.data_ptr() not in there]
    problems = [
        *(f"{name} is none of its weights" for name in stray),
        *wrong,
        *(f"{name} is missing" for name in missing),
    ]
    if problems:
        raise RuntimeError("; ".join(problems[:9]))
