r"""Im2latex's own layout, made of its packed form: formulas, the official test list, and images that mathtext draws.

    python benchmarks/im2latex.py PACKED FOLDER [--longest 50] [--tests 1000]
    regard train latex --data FOLDER/drawn --out runs/im2latex
    python benchmarks/formulas.py runs/im2latex --data FOLDER/drawn

PACKED holds formulas.tsv.gz (split, source, image_id, formula) and real_official_test.npz (png: all files joined,
offsets, formula), images of formulas of the test list that LaTeX has drawn. FOLDER/drawn has images of all three
splits, of FOLDER/real those of LaTeX are the test. Training formulas of more than `longest` tokens are left out, test
formulas of any length are drawn: as many as `tests`, chosen at random once and for all. What mathtext cannot draw in
the form that we bring formulas to is left out; how many are, is told.

Training images differ in size, weight of the lines, sharpness and noise, and half of them have the fractions of a
displayed formula, as LaTeX draws them. With --clean all are as mathtext draws them. Nothing of it belongs into the
repository.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image, ImageFilter

from regard.data.latex import normal_tokens
from regard.data.mathtext import DOTS, draw_formula

LISTS = {"train": "im2latex_train.lst", "val": "im2latex_validate.lst", "test": "im2latex_test.lst"}
FORMULAS, IMAGES = "im2latex_formulas.lst", "formula_images"
VALIDATIONS = 200
SCALES = (0.85, 1.15)  # of the letters
WEIGHTS = (0.9, 1.8)  # the power that the share of ground in a pixel is raised to: above one, lines are bolder
BLUR, NOISE, MARGIN = 0.6, 8.0, 8  # pixels, greys, pixels: at most


@dataclass(frozen=True)
class Asked:
    """What is drawn: the most tokens of a training formula, how many test formulas, and whether images differ."""

    longest: int = 50
    tests: int = 1000
    clean: bool = False


def unpack(packed: Path, folder: Path, asked: Asked) -> dict[str, int]:
    """Write both folders; how many images each split has."""
    written = read(packed / "formulas.tsv.gz")
    chosen = {
        "train": [each for each in written["train"] if len(normal_tokens(each)) <= asked.longest],
        "val": sample(written["val"], VALIDATIONS),
        "test": sample(written["test"], asked.tests),
    }
    counts = {}
    for name in ("drawn", "real"):  # which are added to, a split at a time
        (folder / name / FORMULAS).unlink(missing_ok=True)
    for split, formulas in chosen.items():
        jitter = split == "train" and not asked.clean
        images = {each: image_of(each, Random(each) if jitter else None) for each in formulas}
        drawn = {formula: image for formula, image in images.items() if image is not None}
        put(folder / "drawn", split, list(drawn), list(drawn.values()))
        counts |= {split: len(drawn), f"{split}, not drawn": len(formulas) - len(drawn)}
    with np.load(packed / "real_official_test.npz") as file:
        joined, offsets, formulas = file["png"], file["offsets"], [str(each) for each in file["formula"]]
    parts = [joined[begin:end].tobytes() for begin, end in pairwise(offsets)]
    images = [Image.open(BytesIO(each)) for each in parts]
    put(folder / "real", "test", formulas, images)
    return {**counts, "real": len(formulas)}


def read(path: Path) -> dict[str, list[str]]:
    """The formulas of each split, in the order of the file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {split: [row["formula"] for row in rows if row["split"] == split] for split in LISTS}


def sample(formulas: list[str], count: int) -> list[str]:
    """So many of them, in their order."""
    chosen = sorted(Random(0).sample(range(len(formulas)), min(count, len(formulas))))
    return [formulas[each] for each in chosen]


def image_of(formula: str, random: Random | None) -> Image.Image | None:
    """A formula as mathtext draws it, if it can; with `random`, not twice alike."""
    if random is None:
        plain = draw_formula(formula)
        return None if plain is None else Image.fromarray(plain)
    ink = draw_formula(formula, dots=DOTS * random.uniform(*SCALES), display=random.random() < 0.5)
    if ink is None:
        return None
    image = Image.fromarray(ink).filter(ImageFilter.GaussianBlur(random.uniform(0, BLUR)))
    left, top, right, bottom = (random.randint(0, MARGIN) for _ in range(4))
    ground = np.pad(np.array(image) / 255, ((top, bottom), (left, right)), constant_values=1.0)
    noise = np.random.default_rng(random.getrandbits(32)).normal(0, random.uniform(0, NOISE), ground.shape)
    return Image.fromarray((255 * ground ** random.uniform(*WEIGHTS) + noise).clip(0, 255).astype(np.uint8))


def put(folder: Path, split: str, formulas: list[str], images: list[Image.Image]) -> None:
    """Add a split to a folder of im2latex's layout: lines to the file of formulas, a list, and images."""
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    path = folder / FORMULAS
    first = len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0
    lines = []
    for number, image in enumerate(images, start=first):
        image.save(folder / IMAGES / f"{split}{number:06}.png")
        lines.append(f"{number} {split}{number:06} basic\n")
    (folder / LISTS[split]).write_text("".join(lines), encoding="utf-8")
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{each}\n" for each in formulas)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--longest", type=int, default=50, help="the most tokens of a training formula")
    parser.add_argument("--tests", type=int, default=1000, help="how many test formulas are drawn")
    parser.add_argument("--clean", action="store_true", help="draw training images as mathtext does")
    given = parser.parse_args()
    print(unpack(given.packed, given.folder, Asked(given.longest, given.tests, given.clean)))
