"""Built-in corpora as rows for training, and as plain files (`regard data make`).

Pairs of texts are written a file a side, texts with labels as `.csv`, with tags a word a line, images a folder a class,
plain text as `.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from regard.data.builtin import BUILTIN, examples
from regard.data.files import cache_folder, scratch_folder, settle
from regard.data.labelled.wanted import is_labelled
from regard.data.labelled.write import names_of, write_labelled
from regard.data.plain.wanted import is_plain, text_of
from regard.data.plan import Plan
from regard.data.report import Finding
from regard.data.rows import Reader, Row
from regard.data.splits import SPLITS
from regard.errors import UnknownName, UsageError


class Made(Reader):
    """Draws one split of a built-in corpus."""

    def __init__(
        self, name: str, split: str, size: int, seed: int, direction: tuple[str, str], folder: Path | None = None
    ) -> None:
        self.name, self.size, self.seed, self.direction = name, size, seed, direction
        self.folder = (folder or cache_folder()).resolve() if "image" in direction else None  # of its files
        self.split: str = split
        self.paths = ()
        self.has_links = BUILTIN[name].has_gold

    def rows(self) -> Iterator[Row]:
        source, target = self.direction
        asked = {"split": self.split, "source": source, "target": target}
        drawn = examples(self.name, **asked, size=self.size, seed=self.seed, folder=self.folder)
        for line, pair in enumerate(drawn, start=1):
            yield Row(self.split, pair.source, pair.target, pair.gold() if self.has_links else None, line)

    def findings(self) -> list[Finding]:
        return []

    def count(self) -> int:
        return self.size

    @property
    def settings(self) -> str:
        drawn = f"{self.name} {self.split} {self.size} {self.seed} {self.direction} {_generators()}"
        return f"{drawn} {self.folder}" if self.folder else drawn


@cache
def _generators() -> str:
    """A number that changes whenever the code or the data that draws the pairs does."""
    found = blake2b(version("babel").encode(), digest_size=16)
    for path in sorted(Path(__file__).parent.rglob("*")):
        if path.suffix in (".py", ".tsv", ".toml", ".json"):
            found.update(path.read_bytes())
    return found.hexdigest()


def plan_of_builtin(
    name: str,
    *,
    source: str | None = None,
    target: str | None = None,
    size: int | None = None,
    seed: int = 0,
    cache: Path | None = None,
) -> Plan:
    """A plan for a built-in corpus: `size` training pairs; val and test have their own size, or less."""
    if name not in BUILTIN:
        raise UnknownName("built-in corpus", name, BUILTIN)
    if size is not None and size < 1:
        raise UsageError(f"expected a size of one pair or more; found {size}.", hint="Write --size 1000, say.")
    corpus = BUILTIN[name]
    direction = corpus.direction(source, target)
    sizes = {split: corpus.sizes[split] for split in SPLITS}
    if size is not None:
        sizes = {split: min(size, sizes[split]) for split in SPLITS} | {"train": size}
    readers = tuple(Made(name, split, sizes[split], seed, direction, cache) for split in SPLITS)
    return Plan(name, *direction, readers)


def write_files(plan: Plan, out: Path, *, gold: bool = False) -> list[Path]:
    """Write a corpus as plain files, `train.en train.fr val.en ...`, all of them or none.

    With `gold`, the links of each split go to a file such as `test.en-fr.gold`, a line a pair; of labelled data, to a
    column.
    """
    if gold and not plan.has_links:
        raise UsageError(f"{plan.name} has no gold links.", hint="Leave --gold out.")
    labelled = is_labelled(plan.source, plan.target)
    endings = [plan.source, plan.target] + ([f"{plan.source}-{plan.target}.gold"] if gold else [])
    if is_plain(plan.source, plan.target):
        endings = ["txt"]
    splits = [reader.split for reader in plan.readers]
    names = names_of(plan) if labelled else [f"{split}.{ending}" for split in splits for ending in endings]
    _refuse_to_overwrite(out, names)
    with scratch_folder(out) as scratch:
        if labelled:
            write_labelled(plan, scratch, gold=gold)
        else:
            _write(plan, scratch, endings)
        settle(scratch, out)
    return [out / name for name in names]


def _write(plan: Plan, folder: Path, endings: list[str]) -> None:
    for reader in plan.readers:
        paths = [folder / f"{reader.split}.{ending}" for ending in endings]
        files = [path.open("w", encoding="utf-8", newline="\n") for path in paths]
        try:
            for row in reader.rows():
                texts = (text_of(row),) if len(files) == 1 else (row.source, row.target, row.links)
                for file, text in zip(files, texts, strict=False):
                    file.write(f"{text}\n")
        finally:
            for file in files:
                file.close()


def _refuse_to_overwrite(out: Path, names: list[str]) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: expected a folder; found a file.", hint="Choose another --out.")
    there = [name for name in names if (out / name).exists()]
    if there:
        raise UsageError(
            f"{out}: {', '.join(there[:3])} {'is' if len(there) == 1 else 'are'} there already.",
            hint="Choose another --out, or take the old files away.",
        )
