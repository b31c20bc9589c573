"""Half precision: whether this machine can do bf16 products at all, and whether they are faster.

Some virtual machines announce units of the processor that they then refuse: a bf16 product kills the process.
So the question is put to a child process, once, and the answer is kept in the cache, under the versions and
the processor it holds for.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Literal

import torch

from regard.data.files import cache_folder
from regard.errors import TrainingError

GAIN = 1.2  # how many times faster bf16 must be to be worth its lost digits
TIMEOUT = 120


def use_bf16(precision: Literal["auto", "fp32", "bf16"]) -> bool:
    """Whether products shall be made in bf16; asks the machine where that matters."""
    if precision == "fp32":
        return False
    if torch.cuda.is_available():
        return torch.cuda.is_bf16_supported(including_emulation=False)
    gain = bf16_gain()
    if precision == "bf16" and not gain:
        raise TrainingError(
            "precision = 'bf16': products in bf16 fail on this machine (a child process tried).",
            hint='Write precision = "auto" or "fp32"; or set ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16 and try again.',
        )
    return precision == "bf16" or gain >= GAIN


def can_bf16() -> bool:
    """Whether this machine can do bf16 products at all."""
    return torch.cuda.is_bf16_supported() if torch.cuda.is_available() else bf16_gain() > 0


def bf16_gain() -> float:
    """How many times faster training is in bf16 than in fp32 on this machine; 0 where bf16 fails."""
    path, key = cache_folder() / "bf16.json", _machine()
    known = _known(path)
    if key not in known:
        known[key] = _ask()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(json.dumps(known, indent=1), encoding="utf-8")
        draft.replace(path)
    return known[key]


def _machine() -> str:
    """What the answer depends on."""
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA", "no limit")
    return f"torch {torch.__version__}, {_processor()}, {limit}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else f"{platform.machine()} {platform.processor()}".strip()


def _known(path: Path) -> dict[str, float]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def _ask() -> float:
    """Run the probe in a child process; a child that dies has answered."""
    command = [sys.executable, "-m", "regard.engine.probe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
        return float(json.loads(done.stdout))
    except (subprocess.SubprocessError, OSError, ValueError):
        return 0.0
