"""Keeping the memory that large tensors lay in: the system need not clear it again for the next ones.

By default the C library gives every large block back when it is freed, and the next of that size is made of fresh
pages, each of which the system fills with zeros when it is first touched: 4 to 6 % of a training (benchmarks/LOG.md).
Told to keep them, it uses them again. What lies there changes from step to step anyway, so the most that is held at
once hardly grows.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache

TRIM, MAP = -1, -3  # as malloc.h numbers them: how much may stay free at the end, and what has a mapping of its own
LARGE = 2**30  # bytes; a block of this size or more is given back


@cache
def keep_pages() -> bool:
    """Tell the C library, once a process; false where it is another than glibc, and nothing changes."""
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return bool(library.mallopt(MAP, LARGE) and library.mallopt(TRIM, LARGE))


def give_back() -> None:
    """Give back what lies free by now, where this is glibc: opening a model needs more room than keeping it."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
