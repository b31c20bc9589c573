"""Does a model fit into the memory of this machine? Asked before it is built: what takes too much may be killed."""

from __future__ import annotations

import os
from typing import NoReturn

import torch

from regard.errors import RegardError, UsageError
from regard.learn.average import Average
from regard.learn.distribute import wants_shard
from regard.learn.optimise import copies_of
from regard.learn.settings import TrainSettings, flat_part
from regard.model import parameters
from regard.recipe import Recipe
from regard.task import Spec

BYTES = 4  # of a weight in training


def check_memory(recipe: Recipe, source: Spec | int, target: Spec | int, settings: TrainSettings) -> None:
    """Refuse a model whose weights, gradients and moments are more than this machine can hold."""
    try:
        with torch.device("meta"):  # where tensors have shapes and no numbers
            count = parameters(recipe.build(source, target))
    except RegardError:
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        if "overflow" in str(error).lower():
            _refuse(recipe, "more numbers than can be counted")
        return  # a part of somebody's own that wants to see its numbers: what fails will fail when it is built
    held = _held(settings)
    memory = _memory()
    if memory is not None and count * held * BYTES > memory:
        each = f" with {held - 1} more for each (gradient, optimiser, average)" if held > 1 else ""
        _refuse(recipe, f"{count:,} parameters{each}: {_told(count * held * BYTES)}, and there are {_told(memory)}")


def _refuse(recipe: Recipe, needs: str) -> NoReturn:
    numbers = {key: value for key, value in flat_part(recipe.model).items() if type(value) is int}
    largest = max(numbers, key=lambda key: numbers[key])
    raise UsageError(
        f"the model does not fit into the memory of this machine: {needs}.",
        hint=f"Make it smaller; its largest setting is {largest} = {numbers[largest]}.",
    )


def _held(settings: TrainSettings) -> int:
    """How many numbers are held for each weight, itself included; elsewhere than here, if it goes elsewhere."""
    if torch.cuda.is_available() or wants_shard(settings.shard):
        return 1
    average: Average | None = None if settings.average is None else settings.average()
    return 2 + copies_of(settings) + (0 if average is None else average.copies)


def _memory() -> int | None:
    """The bytes of this machine, where it tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return None


def _told(size: int | float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:,.0f} PB"
