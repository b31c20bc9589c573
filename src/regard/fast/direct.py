"""Products of float32 rows by oneDNN, on processors for which PyTorch's own way is made less well.

PyTorch multiplies with MKL, which takes Intel's processors to their limit and others to about half of it. oneDNN goes
by what a processor can do, whoever made it, and bends what it made before it leaves the cache. It takes matrices as
they lie, so that nothing is held twice.

It writes code for every number of rows anew, about a megabyte, and keeps it. So rows are filled up to one of a few
numbers: at most an eighth more of them, where there are many.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from regard.fast import shortcuts

LARGE = 1 << 23  # numbers in a matrix; one row times a smaller one whose columns lie together is MKL's
TILE = 16
Bent = Literal["none", "relu", "gelu", "gelu_tanh"]
_NAMES = {"none": ("none", ""), "relu": ("relu", ""), "gelu": ("gelu", "none"), "gelu_tanh": ("gelu", "tanh")}


@cache
def helps() -> bool:
    """Is the processor one of those, and is oneDNN there?"""
    if platform.machine().lower() not in ("x86_64", "amd64") or not torch.backends.mkl.is_available():
        return False
    known = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return known and _maker() not in ("", "GenuineIntel")


def _maker() -> str:
    """Who made the processor; nothing where the system does not say."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "AuthenticAMD" if "AuthenticAMD" in platform.processor() else ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("vendor_id")), "")


def product(
    rows: Float[Tensor, "*B G"], weight: Float[Tensor, "V G"], bias: Float[Tensor, " V"] | None, bent: Bent = "none"
) -> Float[Tensor, "*B V"]:
    """x W + b, bent if asked."""
    count = rows.shape[:-1].numel()
    if not _may(rows, weight, count):
        return _bend(F.linear(rows, weight, bias), bent)
    after, how = _NAMES[bent]
    wanted = _filled_up(count)
    if wanted == count:
        return torch.ops.mkldnn._linear_pointwise(rows, weight, bias, after, [], how)
    flat = F.pad(rows.reshape(count, rows.shape[-1]), (0, 0, 0, wanted - count))
    found = torch.ops.mkldnn._linear_pointwise(flat, weight, bias, after, [], how)
    return found[:count].view(*rows.shape[:-1], len(weight))


def _may(rows: Tensor, weight: Tensor, count: int) -> bool:
    """Is this a product that gains by it? Who wants gradients or a graph, or watches, has PyTorch's own."""
    if torch.is_grad_enabled() or torch.compiler.is_compiling() or torch.is_autocast_enabled("cpu"):
        return False
    if not count or (count == 1 and weight.numel() < LARGE and not weight.is_contiguous()):
        return False
    full = rows.dtype == weight.dtype == torch.float32 and rows.device.type == "cpu"
    return full and shortcuts() and helps()


def _filled_up(count: int) -> int:
    """So many rows, or a few more: multiples of sixteen, and of ever more, so that eight lie between n and 2 n."""
    if count <= TILE:
        return next(most for most in (1, 2, 4, 8, TILE) if count <= most)
    tile = TILE
    while count > 16 * tile:
        tile *= 2
    return count + -count % tile


def _bend(wide: Tensor, bent: Bent) -> Tensor:
    if bent == "none":
        return wide
    if bent == "relu":
        return F.relu(wide, inplace=not torch.is_grad_enabled())
    return F.gelu(wide, approximate="tanh" if bent == "gelu_tanh" else "none")
