"""The file of a CTranslate2 model: numbers by name. Read without copying them, written with some of them changed."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.errors import ModelError

OLDEST, NEWEST = 4, 6  # versions of the file that are read here
TYPES: tuple[type, ...] = (np.float32, np.int8, np.int16, np.int32, np.float16, np.uint16)  # the last is bfloat16
NAMES = ("float32", "int8", "int16", "int32", "float16", "bfloat16")
HALF = 5  # bfloat16, which NumPy does not know


@dataclass(frozen=True)
class Binary:
    """What a file holds: its version, what kind of model it is, its numbers, and other names for some of them."""

    version: int
    spec: str
    revision: int
    variables: Mapping[str, tuple[int, np.ndarray]]  # by name: the number of the type, and the numbers
    aliases: Mapping[str, str]

    def get(self, name: str) -> np.ndarray | None:
        """The numbers of a name, as they are kept; None where it has none."""
        found = self.variables.get(self.aliases.get(name, name))
        return None if found is None else found[1]

    def number(self, name: str, missing: int | float = 0) -> float:
        """One number."""
        found = self.get(name)
        return float(missing) if found is None or found.size != 1 else float(found.reshape(()))

    def weights(self, name: str) -> np.ndarray | None:
        """A weight in full precision: whole numbers are divided by their scale, one a row or one for all."""
        name = self.aliases.get(name, name)
        if name not in self.variables:
            return None
        kind, found = self.variables[name]
        if kind == HALF:
            return (found.astype(np.uint32) << 16).view(np.float32)
        scale = self.get(f"{name}_scale")
        if scale is None or kind not in (1, 2):
            return found.astype(np.float32)
        scale = scale.astype(np.float32)
        return found.astype(np.float32) / (scale[:, None] if scale.ndim and found.ndim > 1 else scale)

    @property
    def quantization(self) -> str:
        """How most of its numbers are kept."""
        kinds = [kind for name, (kind, _) in self.variables.items() if name.endswith("/weight")]
        return NAMES[max(set(kinds), key=kinds.count)] if kinds else NAMES[0]

    def replaced(self, changes: Mapping[str, np.ndarray]) -> Binary:
        """The same with other numbers under some names."""
        kinds = {name: self.variables[name][0] for name in changes}
        fresh = {name: (kinds[name], found) for name, found in changes.items()}
        return Binary(self.version, self.spec, self.revision, {**self.variables, **fresh}, self.aliases)


def read_binary(path: Path) -> Binary:
    """The numbers of a file."""
    try:
        return _Reader(np.memmap(path, dtype=np.uint8, mode="r")).read()
    except (struct.error, ValueError, IndexError, UnicodeDecodeError, OSError) as error:
        raise ModelError(
            f"{path} is no model of CTranslate2, or broken: {error}.", hint="Download or convert it again."
        ) from error


def write_binary(binary: Binary, path: Path) -> None:
    """Write a file that CTranslate2 reads."""
    with path.open("wb") as file:
        file.write(struct.pack("<I", binary.version) + _text(binary.spec) + struct.pack("<I", binary.revision))
        file.write(struct.pack("<I", len(binary.variables)))
        for name, (kind, found) in binary.variables.items():
            file.write(_text(name) + struct.pack("<B", found.ndim) + struct.pack(f"<{found.ndim}I", *found.shape))
            file.write(struct.pack("<BI", kind, found.nbytes) + found.tobytes())
        file.write(struct.pack("<I", len(binary.aliases)))
        for alias, name in binary.aliases.items():
            file.write(_text(alias) + _text(name))


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data) + 1) + data + b"\0"


class _Reader:
    """Goes through a file from its beginning; what ends too early is refused."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.place = data, 0

    def read(self) -> Binary:
        version = self._number("I")
        if not OLDEST <= version <= NEWEST:
            raise ValueError(f"its version is {version}; those from {OLDEST} to {NEWEST} can be read")
        spec, revision = self._text(), self._number("I")
        variables = dict(self._variable() for _ in range(self._number("I")))
        aliases = {}
        for _ in range(self._number("I") if self.place < len(self.data) else 0):
            alias = self._text()
            aliases[alias] = self._text()
        return Binary(version, spec, revision, variables, aliases)

    def _take(self, count: int) -> np.ndarray:
        found = self.data[self.place : self.place + count]
        if len(found) < count:
            raise ValueError("it ends in the middle")
        self.place += count
        return found

    def _number(self, kind: str) -> int:
        (found,) = struct.unpack(f"<{kind}", self._take(struct.calcsize(f"<{kind}")).tobytes())
        return int(found)

    def _text(self) -> str:
        return self._take(self._number("H")).tobytes().rstrip(b"\0").decode()

    def _variable(self) -> tuple[str, tuple[int, np.ndarray]]:
        name = self._text()
        shape = [self._number("I") for _ in range(self._number("B"))]
        kind, count = self._number("B"), self._number("I")
        if kind >= len(TYPES):
            raise ValueError(f"{name} has numbers of the unknown type {kind}")
        return name, (kind, self._take(count).view(TYPES[kind]).reshape(shape))
