"""A corpus: pairs of sentences in splits, from wherever they come, larger than memory if need be.

corpus = Corpus.open("multi30k", source="de", target="en")
corpus.split("train")[0]                # {'source': 'Zwei junge ...', 'target': 'Two young ...'}
corpus = Corpus.open("reviews.csv", reads="text", wants="label")
corpus.split("train")[0]                # {'source': 'Slow, but ...', 'target': 'pos'}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from datasets import Dataset

from regard.data.files import cache_folder
from regard.data.held_out import USUAL, Cut, HeldOut
from regard.data.labelled.wanted import Kind, is_generated, is_labelled
from regard.data.plain.wanted import is_plain
from regard.data.plan import Plan
from regard.data.report import Finding
from regard.data.rows import Reader, Row
from regard.data.sources import plan_of_kind
from regard.data.store import keep, load
from regard.errors import MissingData


@dataclass(frozen=True)
class Corpus:
    """The splits of a corpus as memory-mapped tables with the columns `source`, `target` and perhaps `links`.

    `links` holds gold word links, one text a pair: `0-1` is sure, `0?1` possible (see `pair.read_gold`). Of images
    it holds where the words of a caption are (see `places`).
    """

    name: str
    source: str  # the language read; or text, image, nothing
    target: str  # the language written; or label, tags, text
    splits: Mapping[str, Dataset]  # train, val, then the tests by name
    notes: tuple[str, ...] = ()  # what was decided while opening it
    cut: Cut = field(default_factory=dict)  # splits that were cut off from train
    key: str = ""  # the same for the same content, whatever the files are called

    @classmethod
    def open(
        cls,
        data: str | Path,
        *,
        source: str | None = None,
        target: str | None = None,
        size: int | None = None,
        seed: int = 0,
        cache: Path | None = None,
        held_out: HeldOut = USUAL,
        **kind: Unpack[Kind],
    ) -> Corpus:
        """Open a built-in corpus, a downloaded one, a folder or a file.

        With `wants="label"` or `"tags"`, and `reads="image"` where it is, the data is labelled: `source` holds texts
        or paths of images, `target` labels, tags or (of `reads="image"` alone) captions. With `reads="nothing"`, it is
        plain text, in `target`.

        Args:
            data: a name that `regard data list` shows, or a path.
            source: the language to read; may be left out where only two are there. Of labelled data, the column.
            target: the language to write. Of labelled data, the column of labels. Of plain text, "lines" where each
                line is a text, "documents" where each file is; where nothing is said, empty lines in a file tell.
            size: how many training pairs a built-in corpus shall draw.
            seed: which ones.
            cache: where Arrow files and downloads are kept, if not in `files.cache_folder()`.
            held_out: how much is cut off from train where there is no validation or test split.
            kind: `reads` and `wants`, what the sides are; `text` and `label`, the columns of labelled data.
        """
        kept = cache or cache_folder()
        plan = plan_of_kind(data, kind, source, target, size=size, seed=seed, cache=kept, held_out=held_out)
        folder = keep(plan, kept)
        return cls(plan.name, plan.source, plan.target, load(folder), plan.notes, plan.cut, folder.name)

    def plan(self) -> Plan:
        """The corpus as a stream of rows, for whoever reads it once from end to end (the checks do)."""
        readers = tuple(_Stored(split, dataset) for split, dataset in self.splits.items())
        return Plan(self.name, self.source, self.target, readers, notes=self.notes)

    def split(self, name: str) -> Dataset:
        """One split. `test` is the only test there is, or the first by name."""
        if name in self.splits:
            return self.splits[name]
        tests = [split for split in self.splits if split not in ("train", "val")]
        if name == "test" and tests:
            return self.splits[tests[0]]
        labelled = is_labelled(self.source, self.target)
        files = (
            f"its {self.source}s"
            if labelled
            else "its images"
            if is_generated(self.source, self.target)
            else f"{name}.txt"
            if is_plain(self.source, self.target)
            else f"{name}.{self.source} and {name}.{self.target}"
        )
        raise MissingData(
            f"{self.name}: expected a split called '{name}'; found {', '.join(self.splits)}.",
            hint=f"Add {files}, or ask for another split.",
        )


def column(split: Dataset, name: str) -> Iterator[str]:
    """One side of a split, line by line, without holding it in memory."""
    for chunk in split.select_columns(name).iter(batch_size=1_000):
        yield from chunk[name]


class _Stored(Reader):
    """Streams a split that lies in the store: its files were found to be sound when it was written."""

    def __init__(self, split: str, dataset: Dataset) -> None:
        self.split: str = split
        self.dataset = dataset
        self.paths = ()
        self.has_links = "links" in dataset.column_names

    def rows(self) -> Iterator[Row]:
        line = 0
        for batch in self.dataset.iter(batch_size=1_000):
            links = batch["links"] if self.has_links else [None] * len(batch["source"])
            for source, target, gold in zip(batch["source"], batch["target"], links, strict=True):
                line += 1
                yield Row(self.split, source, target, gold, line)

    def findings(self) -> list[Finding]:
        return []

    def count(self) -> int:
        return len(self.dataset)

    @property
    def settings(self) -> str:
        return f"stored {self.split}"
