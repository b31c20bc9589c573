"""What a model folder keeps of the Hugging Face folder that it came from: the family, and the special pieces.

Our pieces 0 to 3 are `<pad>`, `<s>`, `</s>` and `<unk>`; all others stand in their old order. So four numbers and their
names are enough to give every piece its old number again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from regard.data.tokenizer_train import SPECIAL
from regard.errors import ModelError

FILE = "huggingface.json"
ADDED = -1  # the old number of a piece that is new


@dataclass(frozen=True)
class Origin:
    """The family; their names of our special pieces, the one that hides included; the old numbers of the first four."""

    model_type: str
    special: Mapping[str, str]
    numbers: tuple[int, ...]

    def order(self, size: int) -> tuple[int, ...]:
        """The old number of each piece, where the old vocabulary had `size`; ADDED of those that are new."""
        return (*self.numbers, *(number for number in range(size) if number not in self.numbers))

    @property
    def added(self) -> int:
        """How many of the first four are new."""
        return self.numbers.count(ADDED)

    def files(self) -> dict[str, str]:
        """As a model folder keeps it."""
        return {FILE: json.dumps({**asdict(self), "special": dict(self.special)}, ensure_ascii=False, indent=1) + "\n"}

    @classmethod
    def read(cls, folder: Path) -> Origin | None:
        """What a model folder keeps; None of one that was trained here."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            origin = cls(str(found["model_type"]), dict(found["special"]), tuple(map(int, found["numbers"])))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(f"{path} cannot be read: {error}.", hint="Import the model again.") from error
        if len(origin.numbers) != len(SPECIAL):
            raise ModelError(f"{path}: expected {len(SPECIAL)} numbers; found {len(origin.numbers)}.")
        return origin
