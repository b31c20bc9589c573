"""Labelled corpora as plain files, such as we read them: `train.csv`, `train.conll`, `train/circle/000001.png`.

Images with captions lie in a folder a split, with `metadata.jsonl` beside them; images with masks in `train/images` and
`train/masks`.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

from regard.data.plan import Plan
from regard.data.rows import Reader


def names_of(plan: Plan) -> list[str]:
    """The files (of images: folders) that a corpus is written to."""
    ending = "" if plan.source == "image" else ".conll" if plan.target == "tags" else ".csv"
    return [f"{reader.split}{ending}" for reader in plan.readers]


def write_labelled(plan: Plan, folder: Path, *, gold: bool = False) -> None:
    """Write every split of a labelled corpus; with `gold`, a table has a column of links too."""
    for name, reader in zip(names_of(plan), plan.readers, strict=True):
        if (plan.source, plan.target) == ("image", "text"):
            _write_captions(reader, folder / name, gold=gold)
        elif plan.target == "mask":
            _write_masks(reader, folder / name)
        elif plan.source == "image":
            _write_images(reader, folder / name)
        elif plan.target == "tags":
            _write_words(reader, folder / name)
        else:
            _write_table(reader, folder / name, gold=gold)


def _write_table(reader: Reader, path: Path, *, gold: bool) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(("text", "label", "links") if gold else ("text", "label"))
        for row in reader.rows():
            rows.writerow((row.source, row.target, row.links) if gold else (row.source, row.target))


def _write_words(reader: Reader, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in reader.rows():
            words = zip(row.source.split(), row.target.split(), strict=True)
            file.writelines(f"{word}\t{tag}\n" for word, tag in words)
            file.write("\n")


def _write_images(reader: Reader, folder: Path) -> None:
    for row in reader.rows():
        image = Path(row.source)
        (folder / row.target).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image, folder / row.target / image.name)


def _write_masks(reader: Reader, folder: Path) -> None:
    for kind in ("images", "masks"):
        (folder / kind).mkdir(parents=True)
    for row in reader.rows():
        for kind, path in (("images", Path(row.source)), ("masks", Path(row.target))):
            shutil.copyfile(path, folder / kind / path.name)


def _write_captions(reader: Reader, folder: Path, *, gold: bool) -> None:
    folder.mkdir(parents=True)
    with (folder / "metadata.jsonl").open("w", encoding="utf-8", newline="\n") as file:
        for row in reader.rows():
            image = Path(row.source)
            shutil.copyfile(image, folder / image.name)
            told = {"file_name": image.name, "text": row.target} | ({"links": row.links} if gold else {})
            file.write(json.dumps(told, ensure_ascii=False) + "\n")
