"""What auto-encoders are said to do, on the characters of Omniglot: `make proof-autoencoder`, or one arm at a time.

    python benchmarks/autoencoder_proof.py --data ../shared/data/omniglot --out runs/autoencoder --seeds 3

Characters of the test are of classes that nobody trained on (the split of Vinyals et al. 2016). Principal components
are those of the training images, centred. Settings were chosen on the validation classes.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import regard
from regard.evaluate.images import squared_error
from regard.tasks.codes import nearest_others

SPLITS = {"train": "train", "val": "val", "test": "test"}
# Arm: its recipe, how many updates, and what is changed.
ARMS = {
    "linear-8": ("autoencoder-linear", 4000, ("encode.code=8",)),
    "linear-32": ("autoencoder-linear", 4000, ("encode.code=32",)),
    "deep-2": ("autoencoder", 6000, ("encode.code=2",)),
    "deep-8": ("autoencoder", 6000, ("encode.code=8",)),
    "deep-32": ("autoencoder", 6000, ("encode.code=32",)),
    "convolutional-32": ("autoencoder-convolutional", 3000, ("encode.code=32",)),
    "denoising-gaussian": ("autoencoder-denoising", 4000, ()),
    "denoising-salt": ("autoencoder-denoising", 4000, ("task.goal.noise=salt", "task.goal.strength=0.2")),
    "denoising-patches": ("autoencoder-denoising", 4000, ("task.goal.noise=patches", "task.goal.strength=0.2")),
}
QUIET = ("train.validate_steps=0", "train.tensorboard=false")


def convert(data: Path, out: Path) -> Path:
    """The images as files, a folder a class, in folders named by split."""
    folder = out / "images"
    if (folder / "done").exists():
        return folder
    found = np.load(data / "omniglot28.npz")
    for split, name in SPLITS.items():
        wanted = found["class_split_vinyals"][found["label"]] == name
        for image, label, drawer in zip(*(found[key][wanted] for key in ("images", "label", "drawer")), strict=True):
            path = folder / split / f"{label:04}" / f"{drawer:02}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(image).save(path)
    (folder / "done").touch()
    return folder


def images_of(folder: Path, split: str) -> tuple[list[str], np.ndarray, list[str]]:
    """The files of a split, their pixels as rows, and their classes."""
    files = sorted((folder / split).rglob("*.png"))
    rows = np.stack([np.asarray(Image.open(path)).reshape(-1) for path in files]).astype(np.float64) / 255
    return list(map(str, files)), rows, [path.parent.name for path in files]


def components(rows: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean, and the first principal components as columns."""
    mean = rows.mean(0)
    values, vectors = np.linalg.eigh(np.cov(rows - mean, rowvar=False))
    return mean, vectors[:, np.argsort(-values)[:rank]]


def angles(one: np.ndarray, other: np.ndarray) -> list[float]:
    """The principal angles between the spaces of two matrices' columns, in degrees, smallest first."""
    first, second = (np.linalg.qr(each)[0] for each in (one, other))
    cosines = np.linalg.svd(first.T @ second, compute_uv=False).clip(-1, 1)
    return [math.degrees(math.acos(each)) for each in cosines]


def neighbours(codes: np.ndarray, labels: list[str]) -> float:
    """How often the nearest other code is of the same class, in percent."""
    near = nearest_others(codes)
    return 100 * sum(labels[place] == label for place, label in zip(near, labels, strict=True)) / len(labels)


def measure(run: Path, arm: str, folder: Path) -> dict[str, object]:
    """All that is claimed of an arm."""
    model = regard.load(run)
    files, test, labels = images_of(folder, "test")
    _, train, _ = images_of(folder, "train")
    rank = model.width
    mean, basis = components(train, rank)
    codes = (test - mean) @ basis
    pca = float(np.square(test - mean - codes @ basis.T).mean())
    sources, right = model.questions(files, labels)
    found = model.answer(sources)
    error = sum(squared_error(a.values, b) for a, b in zip(found, right, strict=True)) / test.size
    given = sum(squared_error(a.read / 255, b) for a, b in zip(found, right, strict=True)) / test.size
    told: dict[str, object] = {
        "arm": arm,
        "rank": rank,
        "error": error,
        "pca": pca,
        "below_pca": 100 * (1 - error / pca),
    }
    if given:
        return told | {"noisy": given, "noise_left": 100 * error / given}
    projections = [test @ np.random.default_rng(seed).normal(size=(test.shape[1], rank)) for seed in range(3)]
    told |= {"neighbours": neighbours(np.stack([each.code for each in found]), labels)}
    told |= {"neighbours_pca": neighbours(codes, labels), "neighbours_pixels": neighbours(test, labels)}
    told |= {"neighbours_random": float(np.mean([neighbours(each, labels) for each in projections]))}
    if arm.startswith("linear"):
        weights = model.model.predict.layers[0].weight.detach().double().numpy()
        told["angles"] = [round(each, 2) for each in angles(weights, basis)]
    return told


def main() -> None:
    """Train what is not there yet, measure, and print a line of JSON for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--arms", nargs="*", default=list(ARMS), choices=list(ARMS))
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folder = convert(asked.data, asked.out)
    for arm in asked.arms:
        recipe, steps, settings = ARMS[arm]
        for seed in range(asked.seeds):
            run, result = asked.out / f"{arm}-s{seed}", asked.out / f"{arm}-s{seed}.json"
            if not result.exists():
                resume = (run / "state.safetensors").is_file()
                changes = (*QUIET, *settings)
                regard.train(recipe, data=folder, out=run, steps=steps, seed=seed, settings=changes, resume=resume)
                result.write_text(json.dumps({"seed": seed, **measure(run, arm, folder)}) + "\n")
            print(result.read_text().strip(), flush=True)


if __name__ == "__main__":
    main()
