"""An imported model as a model folder: the recipe, the weights in our names, the tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.data.sides.text import FILES
from regard.errors import ModelError, UsageError
from regard.model import save, unfilled
from regard.recipe import resolve
from regard.task import Role

NEVER = -1e9  # the bias of a piece that is not of the model, and never written
ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}


class Source:
    """The weights of a folder by their names; what is missing or of another shape is told all at once."""

    def __init__(self, folder: Path, weights: Mapping[str, Tensor]) -> None:
        self.folder, self.weights, self.missing = folder, weights, list[str]()

    def take(self, *names: str) -> Tensor:
        """The first of these that is there."""
        for name in names:
            if name in self.weights:
                return self.weights[name]
        raise ModelError(
            f"{self.folder}: its weights have no {names[0]}, which its config.json promises.",
            hint="Its files do not belong together, or are not whole: download them again.",
        )


def activation(named: Any, folder: Path) -> str:
    """Our name of an activation."""
    if named not in ACTIVATIONS:
        raise UsageError(
            f"{folder}: the activation {named!r} is not supported.", hint=f"There are {', '.join(ACTIVATIONS)}."
        )
    return ACTIVATIONS[named]


def require(config: Mapping[str, Any], folder: Path, wanted: Mapping[str, Any]) -> None:
    """Refuse settings of a config.json that would change what the model computes, and that ours cannot have."""
    for key, value in wanted.items():
        if config.get(key, value) != value:
            raise UsageError(f"{folder}: {key} = {config[key]!r} in config.json is not supported; {value!r} alone is.")


def write_model(
    recipe: str,
    settings: Sequence[str],
    weights: dict[str, Tensor],
    sizes: tuple[int, int],
    out: Path,
    files: dict[str, str],
) -> None:
    """Build the recipe, put the weights in, and write the folder."""
    model = unfilled(resolve(recipe, settings), *sizes)
    ours = dict(model.named_parameters())
    wrong = [
        f"{name}: expected {tuple(ours[name].shape)}; found {tuple(weight.shape)}"
        for name, weight in weights.items()
        if name in ours and ours[name].shape != weight.shape
    ]
    wrong += [f"{name}: nothing was found for it" for name in ours.keys() - weights.keys()]
    if wrong:
        raise ModelError("the weights are not those that config.json describes:\n  " + "\n  ".join(sorted(wrong)[:5]))
    for name, parameter in ours.items():
        parameter.data = weights[name].contiguous().clone()
    save(model, out, files)


def tokenizer_file(role: Role, text: str) -> dict[str, str]:
    """The file that keeps the tokenizer of a side."""
    return {FILES[role]: text}
