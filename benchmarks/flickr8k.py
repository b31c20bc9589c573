"""Flickr8k as its authors pass it on, made of the packed form: images in files, captions, and the official lists.

    python benchmarks/flickr8k.py PACKED FOLDER [--images 500]
    regard train caption-frozen --data FOLDER --out runs/flickr8k

PACKED holds captions.jsonl.gz (a line an image: image, split, captions) and images_{train,dev,test}.npz (jpeg: all
files joined, offsets, name). Nothing of it belongs into the repository.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

LISTS = {"train": "Flickr_8k.trainImages.txt", "dev": "Flickr_8k.devImages.txt", "test": "Flickr_8k.testImages.txt"}


def unpack(packed: Path, folder: Path, most: int | None = None) -> dict[str, int]:
    """Write the folder; of each split at most so many images. How many there are of each."""
    images = folder / "Images"
    images.mkdir(parents=True, exist_ok=True)
    counts = {}
    kept: set[str] = set()
    for split, name in LISTS.items():
        with np.load(packed / f"images_{split}.npz") as file:
            joined, offsets, names = file["jpeg"], file["offsets"], [str(each) for each in file["name"]]
        names = names[:most]
        for number, each in enumerate(names):
            (images / each).write_bytes(joined[offsets[number] : offsets[number + 1]].tobytes())
        (folder / name).write_text("".join(f"{each}\n" for each in names), encoding="utf-8")
        counts[split] = len(names)
        kept |= set(names)
    with gzip.open(packed / "captions.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    with (folder / "Flickr8k.token.txt").open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            if row["image"] in kept:
                file.writelines(f"{row['image']}#{number}\t{text}\n" for number, text in enumerate(row["captions"]))
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", type=int, help="of each split at most so many")
    asked = parser.parse_args()
    print(unpack(asked.packed, asked.folder, asked.images))
