"""Omniglot as a folder a class, made of the packed form, in the split of Vinyals et al. (2016).

    python benchmarks/omniglot.py PACKED.npz FOLDER [--classes 50]
    regard train snail --data FOLDER --out runs/omniglot

PACKED holds images (28 x 28, ink light), label, and of each class its name and its split. Nothing of it belongs into
the repository.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from PIL import Image


def unpack(packed: Path, folder: Path, most: int | None = None) -> dict[str, int]:
    """Write the folder; of each split at most so many classes. How many classes there are of each."""
    with np.load(packed) as file:
        images, labels = file["images"], file["label"]
        names, splits = ([str(each) for each in file[key]] for key in ("class_name", "class_split_vinyals"))
    counts: Counter[str] = Counter()
    for label, (name, split) in enumerate(zip(names, splits, strict=True)):
        if most is not None and counts[split] == most:
            continue
        counts[split] += 1
        home = folder / split / "-".join(name.split("/")[1:])  # the alphabet and the character
        home.mkdir(parents=True, exist_ok=True)
        for number, image in enumerate(images[labels == label], start=1):
            Image.fromarray(image).save(home / f"{number:02}.png")
    return dict(counts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--classes", type=int, help="of each split at most so many")
    asked = parser.parse_args()
    print(unpack(asked.packed, asked.folder, asked.classes))
