"""`python benchmarks/peers`: Regard against other toolkits (compare.py has it)."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

# Started as a folder, Python looks for modules inside it, where each peer's would hide the package that it measures.
sys.path[0] = str(Path(__file__).parents[1])
import_module("peers.compare").main()
