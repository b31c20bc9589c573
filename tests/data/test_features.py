"""The cache of features: computed once by content, found again by another run, whole after a crash."""

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

from regard.data.features import FeatureCache
from regard.data.sides.image import Image
from regard.errors import BrokenData, DataError
from regard.types import Features

WIDTH = 3


class Sums:
    """The mean of every 4 x 4 pixels, and how often it was asked for how many images."""

    def __init__(self, name="sums"):
        self.name, self.asked = name, []

    def features(self, source):
        self.asked.append(len(source.data))
        cells = torch.nn.functional.avg_pool2d(source.data * source.mask.unsqueeze(1), 4, ceil_mode=True)
        return Features(cells, source.mask[:, ::4, ::4])

    def digest(self):
        return self.name

    def parameters(self):
        return iter([torch.zeros(1)])


def put(folder, names, seed=0):
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        pixels = np.random.default_rng((seed, number)).integers(0, 256, (8, 12, 3), dtype=np.uint8)
        Pillow.fromarray(pixels).save(folder / name)
    return [str(folder / name) for name in names]


def made(tmp_path, network=None, **settings):
    side = Image("source", **{"size": (8, 12), **settings})
    told = []
    side.features = FeatureCache(network or Sums(), side, tmp_path / "cache", told.append)
    return side, side.features, told


def test_features_are_computed_once_for_each_content(tmp_path):
    paths = put(tmp_path / "images", ["a.png", "b.png", "c.png"])
    (tmp_path / "images" / "copy.png").write_bytes((tmp_path / "images" / "a.png").read_bytes())
    side, cache, told = made(tmp_path)
    items = side.encode([*paths, paths[0], str(tmp_path / "images" / "copy.png")])
    assert cache.network.asked == [3] and "features of 3 images" in told[0]
    assert [tuple(item.shape) for item in items] == [(WIDTH, 2, 3)] * 5
    assert torch.equal(items[0].read(), items[3].read()) and torch.equal(items[0].read(), items[4].read())
    side.encode(paths)
    assert cache.network.asked == [3] and len(told) == 1
    batch = side.collate(items[:2])
    assert isinstance(batch, Features) and batch.mask.all() and batch.data.dtype == torch.float32
    expected = torch.nn.functional.avg_pool2d(Image("source", size=(8, 12)).encode(paths)[0].float() / 255, 4)
    torch.testing.assert_close(batch.data[0], expected, atol=1e-3, rtol=0)


def test_another_run_finds_them_and_another_network_or_size_does_not(tmp_path):
    paths = put(tmp_path / "images", ["a.png", "b.png"])
    made(tmp_path)[0].encode(paths)
    side, cache, told = made(tmp_path)
    side.encode(paths)
    assert cache.network.asked == [] and told == []
    for network, settings in ((Sums("other"), {}), (Sums(), {"size": (16, 12)}), (Sums(), {"proportion": True})):
        side, cache, _ = made(tmp_path, network, **settings)
        side.encode(paths)
        assert cache.network.asked == [2]


def test_a_file_that_changes_is_computed_anew(tmp_path):
    (path,) = put(tmp_path / "images", ["a.png"])
    side, cache, _ = made(tmp_path)
    (before,) = side.encode([path])
    put(tmp_path / "images", ["a.png"], seed=7)
    (after,) = side.encode([path])
    assert cache.network.asked == [1, 1] and not torch.equal(before.read(), after.read())


def test_many_images_fill_several_files(tmp_path, monkeypatch):
    monkeypatch.setattr("regard.data.features.KEPT", 5)
    monkeypatch.setattr("regard.data.features.TOGETHER", 2)
    paths = put(tmp_path / "images", [f"{number}.png" for number in range(13)])
    side, cache, _ = made(tmp_path)
    first = side.encode(paths)
    assert cache.network.asked == [2, 2, 1, 2, 2, 1, 2, 1]
    assert len(list(cache.folder.glob("*.safetensors"))) == 3 and not list(cache.folder.glob(".*"))
    again = made(tmp_path)[0].encode(paths[::-1])
    assert all(torch.equal(one.read(), other.read()) for one, other in zip(first[::-1], again, strict=True))


def test_a_broken_file_of_the_cache_is_passed_over(tmp_path):
    paths = put(tmp_path / "images", ["a.png"])
    side, cache, _ = made(tmp_path)
    side.encode(paths)
    for file in cache.folder.glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:20])
    side, cache, _ = made(tmp_path)
    side.encode(paths)
    assert cache.network.asked == [1]


def test_images_in_proportion_keep_their_own_cells(tmp_path):
    pixels = [np.zeros((8, 12, 3), np.uint8), np.full((8, 4, 3), 255, np.uint8)]
    side, cache, _ = made(tmp_path, proportion=True)
    items = side.encode(pixels)
    assert [tuple(each.shape) for each in items] == [(WIDTH, 2, 3), (WIDTH, 2, 1)]
    assert cache.cells == (2, 3) and [side.positions(each) for each in items] == [96, 32]
    batch = side.collate(items)
    assert batch.mask.tolist() == [[[True] * 3] * 2, [[True, False, False]] * 2]


def test_what_is_drawn_anew_is_not_kept(tmp_path):
    from random import Random

    paths = put(tmp_path / "images", ["a.png"])
    side, _, _ = made(tmp_path, flip=True)
    assert side.encode(paths, Random(3))[0].dtype == torch.uint8, "pixels, for the encoder"
    assert side.encode(paths)[0].read().dtype == torch.float16 and side.pool < 2**28
    assert made(tmp_path)[0].pool == 2**28, "what lies on the disk takes no memory"


def test_faults_name_the_file(tmp_path):
    side, _, _ = made(tmp_path)
    with pytest.raises(BrokenData, match=r"none\.png: the image cannot be read: there is no such file"):
        side.encode([str(tmp_path / "none.png")])
    (tmp_path / "bad.png").write_bytes(b"no image")
    with pytest.raises(BrokenData, match=r"bad\.png: the image cannot be read"):
        side.encode([str(tmp_path / "bad.png")])
    (tmp_path / "cache").rmdir() if (tmp_path / "cache").is_dir() else None
    (tmp_path / "cache").write_text("no folder")
    paths = put(tmp_path / "images", ["a.png"])
    with pytest.raises(DataError, match="features cannot be written there"):
        side.encode(paths)
