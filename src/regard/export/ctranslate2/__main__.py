"""Converts a model folder in full precision, in a process of its own; `regard.engine.converted` starts it.

python -m regard.export.ctranslate2 MODEL OUT
"""

from __future__ import annotations

import sys

from regard.engine.converted import REFUSED
from regard.errors import RegardError
from regard.export.ctranslate2.folder import export
from regard.export.request import FULL, Wish


def main(model: str, out: str) -> int:
    """Export the model; say why not where it cannot be."""
    try:
        export(model, out, Wish(FULL))
    except RegardError as error:
        sys.stdout.write(f"{error}\n")
        return REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
