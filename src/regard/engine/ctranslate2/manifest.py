"""What an exported folder says of itself, and what is left of a model's heads in it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from regard.align.record import Aligner
from regard.engine import MANIFEST, read_manifest
from regard.errors import ModelError

NAME = "ctranslate2"


@dataclass(frozen=True)
class Manifest:
    """What an exported folder says of itself: the shape of the model it was, how many positions it knows."""

    quantization: str
    layers: int
    heads: int
    positions: tuple[int, int]  # of a source, of a target
    shortlist: int = 0  # target pieces a source piece may lead to; 0 is all
    regard: str = ""  # the version that exported it
    tokenizers: dict[str, str] = field(default_factory=dict)  # the checksum of each file
    agreement: dict[str, Any] = field(default_factory=dict)
    source_end: bool = True  # whether its sources end with the end; those of some that were imported do not

    def text(self) -> str:
        """As `export.json` holds it."""
        return json.dumps({"engine": NAME, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder; keys that are not ours are left alone."""
        told = read_manifest(folder)
        try:
            source, target = told["positions"]
            known = {each.name: told[each.name] for each in fields(cls) if each.name in told}
            return cls(**{**known, "positions": (int(source), int(target))})
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"{folder / MANIFEST}: expected what regard export wrote; {error}.", hint="Export the model again."
            ) from error


@dataclass(frozen=True)
class Carried(Aligner):
    """The one row of weights that is left of a model's heads; it is still told by the place those had."""

    origin: str = ""

    def __str__(self) -> str:
        return self.origin
