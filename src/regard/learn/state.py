"""The state of a run: all that decides its future, in one file that is either the old one or the new one.

Tensors (weights, optimiser, average, PyTorch's random numbers) lie in a safetensors file, the rest as JSON in
its header: one file, so that one rename makes all of it valid at once. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn, optim

from regard.errors import ModelError
from regard.learn.distribute import placed_like

FORMAT = 1


@dataclass(frozen=True)
class State:
    """Tensors by dotted name, and the rest as JSON has it."""

    tensors: Mapping[str, Tensor]
    values: Mapping[str, Any]

    def under(self, name: str) -> dict[str, Tensor]:
        """The tensors below a name."""
        return {key.removeprefix(f"{name}."): each for key, each in self.tensors.items() if key.startswith(f"{name}.")}


def write_state(path: Path, state: State) -> None:
    """Write beside the file, wait for the disk, rename: a crash at any moment leaves a whole state."""
    tensors = {name: each.detach().contiguous() for name, each in state.tensors.items()}
    # One entry: of several, the library writes one or the other first, and the same state would be other bytes.
    metadata = {"regard": json.dumps({"format": FORMAT, **state.values})}
    # In a folder of its own: the library has a temporary file beside the one it writes, and a kill leaves it there.
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        save_file(tensors, draft, metadata=metadata)
        _settle(draft)
        draft.replace(path)
    if sys.platform != "win32":  # where a folder cannot be opened
        _settle(path.parent)


def _settle(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_state(path: Path) -> State:
    """Read what `write_state` wrote."""
    try:
        with safe_open(path, framework="pt") as file:
            values = json.loads((file.metadata() or {}).get("regard", "{}"))
            # Copies: what is mapped from a file may lie askew in memory, and sums then differ in the last bit.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(
            f"{path}: expected the state of a run; {error}.",
            hint="The file was changed or copied in part. Copy it again, or begin another run.",
        ) from error
    if values.get("format") != FORMAT:
        raise ModelError(
            f"{path}: expected a state of format {FORMAT}; found {values.get('format', 'none')}.",
            hint="Resume with the version of Regard that began the run.",
        )
    return State(tensors, values)


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """Every weight and buffer that a model saves, each once, however many modules share it."""
    saved = model.state_dict(keep_vars=True).keys()
    return {name: each for name, each in chain(model.named_parameters(), model.named_buffers()) if name in saved}


@torch.no_grad()
def put_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Write weights into a model, in place."""
    for name, each in weights_of(model).items():
        each.copy_(placed_like(weights[name], each))


def optimiser_tensors(optimiser: optim.Optimizer) -> dict[str, Tensor]:
    """What an optimiser keeps, as `number.name`; what it keeps beside tensors follows from the settings."""
    kept = optimiser.state_dict()["state"]
    return {
        f"{number}.{name}": each
        for number, entries in kept.items()
        for name, each in entries.items()
        if isinstance(each, Tensor)
    }


def restore_optimiser(optimiser: optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `optimiser_tensors` gave."""
    kept: dict[int, dict[str, Tensor]] = {}
    weights = [each for group in optimiser.param_groups for each in group["params"]]
    for key, each in tensors.items():
        number, _, name = key.partition(".")
        kept.setdefault(int(number), {})[name] = placed_like(each, weights[int(number)])
    optimiser.load_state_dict({"state": kept, "param_groups": optimiser.state_dict()["param_groups"]})


def randomness() -> State:
    """Where the random numbers of PyTorch, Python and NumPy stand."""
    name, keys, *rest = np.random.get_state(legacy=True)
    numpy = [str(name), np.asarray(keys).tolist(), *rest]
    tensors = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["cuda"] = torch.cuda.get_rng_state()
    return State(tensors, {"python": random.getstate(), "numpy": numpy})


def set_randomness(state: State) -> None:
    """Go on with the random numbers of a state."""
    torch.set_rng_state(state.tensors["torch"])
    if torch.cuda.is_available() and "cuda" in state.tensors:
        torch.cuda.set_rng_state(state.tensors["cuda"])
    version, numbers, gauss = state.values["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, *rest = state.values["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))


def seed_randomness(seed: int) -> None:
    """Begin with the random numbers of a seed."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed % 2**32)


@contextmanager
def preserve_rng() -> Iterator[None]:
    """Draw what you like inside: outside, the random numbers go on as if nothing had been drawn."""
    before = randomness()
    try:
        yield
    finally:
        set_randomness(before)
