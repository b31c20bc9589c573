"""Memory that is kept: blocks that are freed and asked for again are not fresh pages."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import torch
from regard.fast.pages import keep_pages

if sys.argv[1] == "keep":
    assert keep_pages()
for turn in range(12):
    if turn == 8:  # by then there is a place for each
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [torch.ones(megabytes * 2**18) for megabytes in (5, 40, 80)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to keep pages")
def test_freed_blocks_are_used_again() -> None:
    """By default every turn would have some 30,000 pages of 4 KiB made for it (fewer where they are larger)."""
    kept, fresh = (_faults(way) for way in ("keep", "leave"))
    assert kept < fresh / 10


def _faults(way: str) -> int:
    done = subprocess.run([sys.executable, "-c", FAULTS, way], capture_output=True, text=True, check=True)
    return int(done.stdout)


HELD = """
from pathlib import Path
import torch
from regard.fast.pages import give_back, keep_pages

def held():
    return int(Path("/proc/self/statm").read_text().split()[1])

keep_pages()
blocks = [torch.ones(2**18) for _ in range(64)]  # a mebibyte each
last, blocks = blocks[-1], None  # what lies behind keeps what lies before it from being cut off at the end
full = held()
give_back()
print((full - held()) * 4096 / 2**20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told to give back")
def test_what_lies_free_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 50
