"""Nuclei and EM sections as folders of images and masks, made of the packed form.

    python benchmarks/segmentation.py PACKED FOLDER
    regard train attention-unet --data FOLDER/nuclei --out runs/nuclei --steps 800

PACKED holds nuclei_dsb2018_128.npz (images, masks packed by bits, split) and isbi2012_em.npz (images, membrane_free,
split). FOLDER/nuclei and FOLDER/em have train/images, train/masks, val/..., test/... Nothing of it belongs into the
repository.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

FILES = {"nuclei": ("nuclei_dsb2018_128.npz", "masks"), "em": ("isbi2012_em.npz", "membrane_free")}
INSIDE = 255  # the value of what is to be found


def unpack(packed: Path, folder: Path) -> dict[str, dict[str, int]]:
    """Write both folders; how many images each split has."""
    counts: dict[str, dict[str, int]] = {}
    for name, (file, key) in FILES.items():
        with np.load(packed / file) as held:
            images, splits = held["images"], [str(each) for each in held["split"]]
            masks = np.unpackbits(held[key], axis=1).reshape(-1, *images.shape[1:])[: len(images)]
        for number, (image, mask, split) in enumerate(zip(images, masks, splits, strict=True)):
            for kind, pixels in (("images", image), ("masks", mask * INSIDE)):
                path = folder / name / split / kind / f"{number:03}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(pixels.astype(np.uint8)).save(path)
        counts[name] = {split: splits.count(split) for split in dict.fromkeys(splits)}
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    print(unpack(asked.packed, asked.folder))
