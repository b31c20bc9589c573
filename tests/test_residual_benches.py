"""The benches of residual attention: CIFAR-10 unpacked from a packed form that is made up, and equal networks."""

import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data.corpus import Corpus
from regard.model import parameters
from regard.recipe import resolve

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import cifar
import residual

NAMES = ("cat", "dog", "eel")


@pytest.fixture
def packed(tmp_path):
    """Eleven training and four test images of each class, in turns, each of a colour of its own."""
    files, labels, training = [], [], []
    for number in range(45):
        made = BytesIO()
        Image.new("RGB", (8, 8), (5 * number, 0, 0)).save(made, "JPEG")
        files.append(made.getvalue())
        labels.append(number % 3)
        training.append(number < 33)
    path, ends = tmp_path / "packed.npz", np.cumsum([0, *map(len, files)])
    joined = np.frombuffer(b"".join(files), np.uint8)
    np.savez(path, jpeg=joined, offsets=ends, label=labels, is_train=training, class_name=np.array(NAMES))
    return path, files


def test_cifar_becomes_a_folder_a_class(packed, tmp_path):
    path, files = packed
    home = tmp_path / "cifar"
    assert cifar.unpack(path, home, validation=6) == {"train": 27, "val": 6, "test": 12}
    kept = sorted(home.rglob("*.jpg"))
    assert len(kept) == 45
    for each in kept:
        number = int(each.stem)
        assert each.read_bytes() == files[number] and each.parent.name == NAMES[number % 3]
        assert (each.parents[1].name == "test") == (number >= 33)
    assert [len(list((home / "val" / name).iterdir())) for name in NAMES] == [2, 2, 2]
    cifar.unpack(path, tmp_path / "again", validation=6)
    again = [each.relative_to(tmp_path / "again") for each in sorted((tmp_path / "again").rglob("*.jpg"))]
    assert again == [each.relative_to(home) for each in kept], "the same are held out every time"
    corpus = Corpus.open(home, reads="image", wants="label", cache=tmp_path / "cache")
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 27, "val": 6, "test": 12}


@pytest.mark.parametrize("modules", [1, 2])
def test_both_sides_of_the_bench_are_one_network(modules):
    """As many weights, of the same shapes, and as many products."""
    with torch.device("meta"):
        ours = resolve("residual-attention", [f"encode.modules=[0,{modules},{modules}]"]).build(3, 10)
        theirs = residual.plain(modules)
    assert parameters(ours) == sum(each.numel() for each in theirs.parameters())
    shapes = [sorted(tuple(each.shape) for each in side.parameters()) for side in (ours, theirs)]
    assert shapes[0] == shapes[1]
