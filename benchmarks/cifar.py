"""CIFAR-10 as a folder a class, made of the packed form: training, validation and test images.

    python benchmarks/cifar.py PACKED FOLDER [--validation 1000]
    regard train residual-attention --data FOLDER --out runs/cifar --steps 3500

PACKED is an .npz of JPEG files: `jpeg` (all files joined), `offsets`, `label`, `is_train`, `class_name`. The validation
images are cut off from the training images, as many of each class, the same ones every time; settings are chosen on
them, and the test images are left for the end. Nothing of it belongs into the repository.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

import numpy as np


def unpack(packed: Path, folder: Path, validation: int = 1000) -> dict[str, int]:
    """Write the folder; how many images each split has."""
    with np.load(packed) as file:
        joined, offsets, labels = file["jpeg"], file["offsets"], file["label"]
        training, names = file["is_train"].astype(bool), [str(each) for each in file["class_name"]]
    held = held_out(labels, training, validation // len(names))
    counts: Counter[str] = Counter()
    for number, label in enumerate(labels.tolist()):
        split = "test" if not training[number] else "val" if number in held else "train"
        home = folder / split / names[label]
        home.mkdir(parents=True, exist_ok=True)
        image = joined[offsets[number] : offsets[number + 1]].tobytes()
        (home / f"{number:05}.jpg").write_bytes(image)
        counts[split] += 1
    return dict(counts)


def held_out(labels: np.ndarray, training: np.ndarray, each: int) -> set[int]:
    """The training images that are for validation: so many of each class, drawn once and for all."""
    found: set[int] = set()
    for label in sorted(set(labels.tolist())):
        rows = np.flatnonzero(training & (labels == label)).tolist()
        found.update(Random(label).sample(rows, min(each, len(rows) - 1)))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path, help="the .npz file")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--validation", type=int, default=1000, help="training images that are held out")
    asked = parser.parse_args()
    print(unpack(asked.packed, asked.folder, asked.validation))
