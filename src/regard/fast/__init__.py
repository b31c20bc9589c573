"""What is there for speed alone: the equations elsewhere read the same without it.

`shortcuts()` is the one place that decides whether it may be taken: caches, fused kernels, looks that rows share,
groups of like length, several threads. While somebody watches, nothing of it is: every look is made in the open. A
test holds both ways equal.
"""

from __future__ import annotations

import sys


def shortcuts() -> bool:
    """May ways be taken that are there for speed alone? Not while somebody watches."""
    hooks = sys.modules.get("regard.hooks")  # nobody can watch through what was never imported, and it brings PyTorch
    return hooks is None or not hooks.hooked(hooks.Looked)
