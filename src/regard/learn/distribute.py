"""A model distributed over processes, and its tensors gathered again.

Usually every process has the whole model, and gradients are summed (DistributedDataParallel). A large one can be
divided (FSDP2): each process keeps a part of every weight, gradient and moment of the optimiser, and the weights are
put together for the length of an update. The model is one unit then, because parts are called by many methods and not
only by `forward`, which is where PyTorch could put a smaller unit together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import Any

from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from regard.learn.processes import Processes

# Where buffers are sent round at every step: PyTorch 2.13 gave the switch a new name, and warns of the old one.
NAMES = ("forward_sync_buffers", "broadcast_buffers")
BUFFERS = next(name for name in NAMES if name in signature(DistributedDataParallel).parameters)


def distribute(loss_module: nn.Module, processes: Processes, *, shard: bool) -> nn.Module:
    """The module on this process's device, joined to its like in the other processes.

    Gradients are their mean over processes. Buffers are left alone: some grow with the longest sentence seen.
    """
    loss_module = loss_module.to(processes.device)
    if processes.count == 1:
        return loss_module
    if not shard:
        options: dict[str, Any] = {BUFFERS: False}
        if processes.device.type == "cuda":
            options["device_ids"] = [processes.device]
        return DistributedDataParallel(loss_module, **options)
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    fully_shard(loss_module, mesh=init_device_mesh(processes.device.type, (processes.count,)))
    return loss_module


def wants_shard(setting: bool) -> bool:
    """Is the model to be divided? `accelerate launch --use_fsdp` asks for it in the environment."""
    return setting or os.environ.get("ACCELERATE_USE_FSDP", "").lower() in ("1", "true")


@contextmanager
def without_sync(loss_module: nn.Module) -> Iterator[None]:
    """Inside, gradients are added up in each process, and none waits for the others."""
    if isinstance(loss_module, DistributedDataParallel):
        with loss_module.no_sync():
            yield
        return
    switch: Any = getattr(loss_module, "set_requires_gradient_sync", lambda on: None)  # of a divided one
    switch(False)
    try:
        yield
    finally:
        switch(True)


def is_sharded(module: nn.Module) -> bool:
    """Does this process hold only parts of the module's weights?"""
    return any(_is_part(each) for each in module.parameters())


def gathered(tensors: Mapping[str, Tensor], *, keep: bool) -> dict[str, Tensor]:
    """The whole tensors of which this process may hold parts; all processes ask, and only some `keep` the answer."""
    found = {}
    for name, each in tensors.items():
        full = each.full_tensor() if _is_part(each) else each  # type: ignore[attr-defined]
        if keep:
            found[name] = full
    return found


def placed_like(value: Tensor, like: Tensor) -> Tensor:
    """A whole tensor as `like` is kept: on its device, and of divided ones this process's part."""
    if not _is_part(like) or _is_part(value) or value.shape != like.shape:
        return value.to(like.device) if value.shape == like.shape else value
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = like.device_mesh, like.placements  # type: ignore[attr-defined]
    return distribute_tensor(value.to(like.device), mesh, placements, src_data_rank=None)


def _is_part(tensor: Tensor) -> bool:
    """Is this a DTensor? Asked by what it can do: the class is slow to import, and most trainings have none."""
    return hasattr(tensor, "full_tensor")
