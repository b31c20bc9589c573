"""Features of a frozen network, computed once for each image and kept in the cache: the second epoch starts at once.

They are found by content: by the bytes of an image's file, the network with its weights, and the size that images are
brought to. They lie in files of some hundred images, from which a batch reads its own when its turn comes; each file is
written under a temporary name and renamed, so that a crash leaves whole files alone, and two runs may fill one cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, Protocol, runtime_checkable
from uuid import uuid4

import torch
from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from regard.data.files import cache_folder, digest_file, need_space
from regard.data.sides.image import Image
from regard.data.stored import Stored, stored_in
from regard.errors import DataError
from regard.types import Features, Grid

TOGETHER = 32  # images whose pixels are held at once
KEPT = 256  # images of one file
VERSION = "1"  # changes whenever the same files would give other pixels


@runtime_checkable
class Network(Protocol):
    """What computes features: `encode.frozen`."""

    def features(self, source: Grid) -> Features:
        """Of a batch of images."""

    def digest(self) -> str:
        """The same for the same network with the same weights."""

    def parameters(self) -> Iterator[Tensor]:
        """Its weights, which lie where images must go."""


class FeatureCache:
    """What a network makes of images, in the place of their pixels."""

    def __init__(
        self, network: Network, side: Image, folder: Path | None = None, say: Callable[[str], None] = lambda line: None
    ) -> None:
        self.network, self.side, self.say = network, side, say
        self.root = folder or cache_folder()
        self._kept: dict[str, Stored] = {}  # the name of an image -> where its features lie
        self._names: dict[tuple[str, int, int], str] = {}  # a file as it was when it was read -> its name

    @cached_property
    def folder(self) -> Path:
        """Where they lie. Asked for when the first are wanted: a run that goes on has its weights only then."""
        side = {"size": list(self.side.size), "channels": self.side.channels, "proportion": self.side.proportion}
        told = json.dumps([VERSION, self.network.digest(), side])
        folder = self.root / "features" / blake2b(told.encode(), digest_size=16).hexdigest()
        for path in sorted(folder.glob("*.safetensors")):
            self._open(path)
        return folder

    @cached_property
    def cells(self) -> tuple[int, int]:
        """Rows and columns of an image of the largest size."""
        height, width = self.side.size
        found = self._computed([torch.zeros(self.side.channels, height, width, dtype=torch.uint8)])[0]
        return int(found.shape[1]), int(found.shape[2])

    def of(self, cells: Sequence[Any], side: Image) -> list[Stored]:
        """Where the features of each image lie; those that nobody has computed yet are, and kept."""
        folder, names = self.folder, [self._name(cell) for cell in cells]
        missing = {name: cell for name, cell in zip(names, cells, strict=True) if name not in self._kept}
        if missing:
            self.say(f"computing the features of {len(missing):,} images, once: they are kept in {folder}")
            self._keep(missing)
        return [self._kept[name] for name in names]

    def _keep(self, missing: dict[str, Any]) -> None:
        began = monotonic()
        for number, some in enumerate(_groups(list(missing), KEPT)):
            found: dict[str, Tensor] = {}
            for few in _groups(some, TOGETHER):
                items = [self.side.pixels(missing[name]) for name in few]
                found |= dict(zip(few, self._computed(items), strict=True))
            self._write(found)
            if number == 0 and len(missing) > KEPT:
                whole = (monotonic() - began) * len(missing) / KEPT / 60
                self.say(f"this takes about {max(1, round(whole))} minutes")

    def _computed(self, items: Sequence[Tensor]) -> list[Tensor]:
        """What the network makes of images, in half precision, each without padding."""
        batch = self.side.collate(items)
        device = next(iter(self.network.parameters())).device
        made = self.network.features(Grid(batch.data.to(device), batch.mask.to(device)))
        rows, columns = made.mask.any(2).sum(1).tolist(), made.mask.any(1).sum(1).tolist()
        return [
            each[:, :down, :right].half().cpu().contiguous()
            for each, down, right in zip(made.data, rows, columns, strict=True)
        ]

    def _write(self, found: dict[str, Tensor]) -> None:
        scratch = self.folder / f".{uuid4().hex}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            need_space(self.folder, sum(each.numel() * each.element_size() for each in found.values()))
            save_file(found, str(scratch))
            path = scratch.with_name(f"{scratch.name[1:]}.safetensors")
            scratch.replace(path)
        except (OSError, SafetensorError) as failure:
            with suppress(OSError):
                scratch.unlink()
            raise DataError(
                f"{self.folder}: features cannot be written there: {failure}.",
                hint="Set REGARD_CACHE to a folder you may write to.",
            ) from failure
        self._open(path)

    def _open(self, path: Path) -> None:
        """Find out what a file holds; one that is not whole is passed over, and what it held computed again."""
        try:
            self._kept |= stored_in(path)
        except (OSError, ValueError, KeyError, TypeError):
            return

    def _name(self, cell: Any) -> str:
        """What an image is known by: the bytes of its file, or its pixels where it has none."""
        if not isinstance(cell, str | Path):
            pixels = self.side.pixels(cell)
            return f"pixels-{blake2b(pixels.numpy().tobytes(), digest_size=16).hexdigest()}"
        try:
            status = Path(cell).stat()
            known = str(cell), status.st_size, status.st_mtime_ns
            if known not in self._names:
                self._names[known] = digest_file(Path(cell))
        except (OSError, ValueError):
            self.side.pixels(cell)  # which says what is wrong with it
            raise
        return self._names[known]


def _groups(names: Sequence[str], size: int) -> Iterator[list[str]]:
    rest = iter(names)
    while some := list(islice(rest, size)):
        yield some
