"""How far the gates of a segmenter are open inside what is to be found, and outside of it.

    python benchmarks/gates.py RUN --data cue-discs [--split test] [--images 200]

Each gate is brought to the size of its image by bilinear interpolation; means are over the pixels of all images. Inside
is every class but the ground.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from measure import table
from torch.nn import functional as F

import regard
from regard.data.corpus import Corpus
from regard.data.masks import NO_CLASS
from regard.tasks.segmenter import Segmenter


def opened(model: Segmenter, images: list[str], masks: list[str]) -> list[tuple[str, float, float]]:
    """Of each gate its cells, and its means inside and outside, coarsest first."""
    sums: dict[int, np.ndarray] = {}
    cells: dict[int, str] = {}
    for image, mask in zip(images, masks, strict=True):
        right = model.target.classes(mask)
        inside, outside = (right > 0) & (right != NO_CLASS), right == 0
        for number, gate in enumerate(model.answer([image])[0].gates):
            whole = F.interpolate(gate[None, None], size=right.shape, mode="bilinear", align_corners=False)[
                0, 0
            ].numpy()
            found = [whole[inside].sum(), inside.sum(), whole[outside].sum(), outside.sum()]
            sums[number] = sums.get(number, np.zeros(4)) + np.array(found, np.float64)
            cells[number] = " x ".join(map(str, gate.shape))
    return [(cells[number], each[0] / each[1], each[2] / each[3]) for number, each in sums.items()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("--data", required=True)
    parser.add_argument("--split", default="test")
    parser.add_argument("--images", type=int, default=200, help="at most so many")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    used = regard.load(asked.run)
    rows = Corpus.open(asked.data, reads="image", wants="mask").split(asked.split)
    some = rows.select(range(min(asked.images, len(rows))))
    told = opened(used, list(some["source"]), list(some["target"]))
    table(
        ["gate", "inside", "outside", "difference"],
        [[name, f"{one:.3f}", f"{other:.3f}", f"{one - other:+.3f}"] for name, one, other in told],
    )
