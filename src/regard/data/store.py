"""The store: corpora as Arrow files in the cache, named by their content, read by memory mapping.

A corpus is streamed in batches, so that its size does not matter; it is written to a temporary folder and
renamed, so that a crash leaves nothing half-made; and it is written once for the same content.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

import pyarrow as pa
from datasets import Dataset

from regard.data.files import need_space, scratch_folder, settle
from regard.data.labelled.wanted import rows_of
from regard.data.names import by_split
from regard.data.plan import Plan
from regard.data.report import fault
from regard.data.rows import Row
from regard.errors import BrokenData

_BATCH = 8_192  # rows held in memory for each split
_GROWTH = 8  # a packed file grows about fourfold; room for that and for the other files of a user
_INDEX = "corpus.json"


class _Writer:
    """Writes the rows of one split to an Arrow file."""

    def __init__(self, path: Path, has_links: bool) -> None:
        names = ["source", "target", "links"] if has_links else ["source", "target"]
        self.pairs = 0
        self._schema = pa.schema([(name, pa.string()) for name in names])
        self._columns: list[list[str]] = [[] for _ in names]
        self._sink = pa.OSFile(str(path), "wb")
        self._stream = pa.ipc.new_stream(self._sink, self._schema)

    def add(self, row: Row) -> None:
        """Take one row; every so many are written."""
        self.pairs += 1
        for column, text in zip(self._columns, (row.source, row.target, row.links or ""), strict=False):
            column.append(text)
        if len(self._columns[0]) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        arrays = [pa.array(column, pa.string()) for column in self._columns]
        self._stream.write_batch(pa.record_batch(arrays, schema=self._schema))
        for column in self._columns:
            column.clear()

    def close(self) -> None:
        """Write what is left."""
        if self._columns[0]:
            self._flush()
        self._stream.close()
        self._sink.close()


class _Writers:
    """One writer a split, opened when its first row comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.splits: dict[str, _Writer] = {}

    def add(self, row: Row) -> None:
        """Take one row to its split."""
        writer = self.splits.get(row.split)
        if writer is None:
            writer = _Writer(self.folder / f"{row.split}.arrow", row.links is not None)
            self.splits[row.split] = writer
        writer.add(row)

    def __enter__(self) -> _Writers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for writer in self.splits.values():
            writer.close()


def keep(plan: Plan, cache: Path) -> Path:
    """The folder of Arrow files that holds the corpus of a plan; written now if it is not there yet.

    Raises one error that names every fault of the files, and then leaves nothing behind.
    """
    folder = cache / "corpora" / _key(plan)
    if (folder / _INDEX).is_file():
        return folder
    with scratch_folder(folder) as scratch:
        need_space(scratch, _GROWTH * sum(path.stat().st_size for path in plan.paths))
        pairs = _write(plan, scratch)
        errors = [finding for finding in plan.findings() if finding.level == "error"]
        if errors:
            raise fault(plan.name, errors)
        if not pairs:
            raise BrokenData(f"{plan.name}: expected {rows_of(plan.source, plan.target)}; found none.")
        (scratch / _INDEX).write_text(json.dumps({"name": plan.name, "pairs": pairs}), encoding="utf-8")
        settle(scratch, folder)
    return folder


def _key(plan: Plan) -> str:
    try:
        return plan.key()
    except OSError as failure:
        raise BrokenData(f"{failure.filename}: cannot be read: {failure.strerror}.") from None


def _write(plan: Plan, folder: Path) -> dict[str, int]:
    with _Writers(folder) as writers:
        for row in plan.rows():
            writers.add(row)
    return {split: writers.splits[split].pairs for split in sorted(writers.splits, key=by_split)}


def load(folder: Path) -> dict[str, Dataset]:
    """The splits of a kept corpus, memory-mapped: train, val, then the tests."""
    index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
    return {split: Dataset.from_file(str(folder / f"{split}.arrow")) for split in index["pairs"]}
