"""`python benchmarks/mutants`: change the source in one place, and see whether a test fails (run.py has it)."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])
sys.exit(import_module("mutants.run").main())
