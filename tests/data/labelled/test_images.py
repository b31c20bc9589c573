"""Images with labels: a folder a class, a table of files, and files that cannot be read."""

from __future__ import annotations

import json
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.labelled import images
from regard.data.labelled.images import fault_of_image
from regard.data.sources import plan_for_labels
from regard.errors import BrokenData, MissingData

SHARED = Path(__file__).resolve().parents[3].parent / "shared" / "data"


def draw(path: Path, seed: int = 0, size: tuple[int, int] = (31, 17)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def found(path: Path) -> list[tuple[str, str, str]]:
    plan = plan_for_labels(path, source="image")
    rows = [(row.split, str(Path(row.source).relative_to(path.resolve())), row.target) for row in plan.rows()]
    assert plan.findings() == []
    return rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split, names in {"train": "abc", "val": "a", "test": "ab"}.items():
        for label in ("cat", "hot dog"):
            for name in names:
                draw(tmp_path / "set" / split / label / f"{name}.{'jpg' if name == 'b' else 'png'}")
    return tmp_path / "set"


def test_a_folder_a_class_under_splits(folder):
    corpus = Corpus.open(folder, reads="image", wants="label")
    assert (corpus.source, corpus.target) == ("image", "label")
    assert {name: len(split) for name, split in corpus.splits.items()} == {"train": 6, "val": 2, "test": 4}
    assert corpus.split("val")[1] == {"source": str(folder / "val" / "hot dog" / "a.png"), "target": "hot dog"}
    assert Path(corpus.split("test")[0]["source"]).is_absolute()


@pytest.mark.parametrize("ending", ["jpg", "jpeg", "PNG", "webp", "gif"])
def test_formats(tmp_path, ending):
    for label in ("cat", "dog"):
        draw(tmp_path / label / f"one.{ending}")
    assert len(found(tmp_path)) == 2


def test_without_splits_the_place_of_the_folder_does_not_matter(tmp_path):
    """What is cut off is decided by the name inside the folder."""
    for number in range(67):
        draw(tmp_path / "here" / f"class {number % 2}" / f"{number}.png", size=(2, 3))
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    here, there = (found(tmp_path / name) for name in ("here", "there"))
    assert here == there and {split for split, _, _ in here} == {"train", "val", "test"}
    one, other = (Corpus.open(tmp_path / name, reads="image", wants="label") for name in ("here", "there"))
    assert one.key != other.key and Path(other.split("train")[0]["source"]).is_relative_to(tmp_path / "there")


def test_a_new_image_is_seen(folder):
    before = Corpus.open(folder, reads="image", wants="label")
    draw(folder / "train" / "cat" / "d.png")
    after = Corpus.open(folder, reads="image", wants="label")
    assert len(after.split("train")) == len(before.split("train")) + 1


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("split", ["", "train"])
def test_metadata(tmp_path, kind, split):
    folder = tmp_path / split
    rows = [{"file_name": f"images/{name}.png", "label": number} for number, name in enumerate("ab")]
    for row in rows:
        draw(folder / row["file_name"])
    body = "file_name,label\n" + "".join(f"{row['file_name']},{row['label']}\n" for row in rows)
    text = body if kind == "csv" else "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"metadata.{kind}").write_text(text, encoding="utf-8")
    inside = f"{split}/images" if split else "images"
    assert sorted(row[1:] for row in found(tmp_path)) == [(f"{inside}/a.png", "0"), (f"{inside}/b.png", "1")]


def test_a_table_without_a_header(tmp_path):
    for name in "ab":
        draw(tmp_path / f"{name}.png")
    (tmp_path / "list.csv").write_text("cat,a.png\ndog,b.png\n", encoding="utf-8")
    assert sorted(row[1:] for row in found(tmp_path)) == [("a.png", "cat"), ("b.png", "dog")]


def test_a_table_beside_a_folder_of_images(tmp_path):
    for name in "ab":
        draw(tmp_path / "images" / f"{name}.png")
    (tmp_path / "labels.csv").write_text("image,label\nimages/a.png,cat\nimages/b.png,dog\n", encoding="utf-8")
    assert sorted(row[1:] for row in found(tmp_path)) == [("images/a.png", "cat"), ("images/b.png", "dog")]


def test_folders_come_before_a_stray_table(folder):
    (folder / "scores.csv").write_text("epoch,loss\n1,2\n", encoding="utf-8")
    assert len(found(folder)) == 12


class TestBroken:
    def test_truncated(self, tmp_path):
        for ending in ("png", "jpg", "webp"):
            path = draw(tmp_path / f"a.{ending}", size=(101, 97))
            assert fault_of_image(path) is None
            path.write_bytes(path.read_bytes()[:-1000])
            assert fault_of_image(path), ending

    def test_no_image_and_no_file(self, tmp_path):
        path = tmp_path / "a.png"
        assert fault_of_image(path) == "there is no such file"
        assert fault_of_image(tmp_path) == "there is no such file"  # a folder
        assert fault_of_image(tmp_path / "a\0.png") == "there is no such file"
        assert fault_of_image(tmp_path / f"{'a' * 3_001}.png")  # longer than names can be
        path.write_bytes(b"")
        assert "it is none" in fault_of_image(path)
        path.write_bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>")
        assert "expected one of JPEG, PNG" in fault_of_image(path)

    def test_more_pixels_than_anybody_needs(self, tmp_path, monkeypatch):
        path = tmp_path / "a.png"
        Image.new("1", (7_001, 7_151)).save(path)
        assert path.stat().st_size < 100_000
        assert fault_of_image(path) == "7001 x 7151 pixels; at most 50 million are read"
        small = draw(tmp_path / "b.png", size=(31, 17))
        monkeypatch.setattr(images, "MOST_PIXELS", 31 * 17)
        assert fault_of_image(small) is None
        monkeypatch.setattr(images, "MOST_PIXELS", 31 * 17 - 1)
        assert "31 x 17 pixels" in fault_of_image(small)

    def test_a_header_that_promises_gigabytes(self, tmp_path):
        path = draw(tmp_path / "a.png")
        data = bytearray(path.read_bytes())
        data[16:24] = (60_013).to_bytes(4, "big") * 2
        data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
        path.write_bytes(data)
        assert fault_of_image(path) == "more than 50 million pixels"
        data[16:24] = (9_001).to_bytes(4, "big") * 2  # Pillow itself would let these pass with a warning
        data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
        path.write_bytes(data)
        assert fault_of_image(path) == "9001 x 9001 pixels; at most 50 million are read"

    def test_the_file_is_named(self, folder):
        bad = folder / "train" / "cat" / "b.jpg"
        bad.write_bytes(bad.read_bytes()[:200])
        with pytest.raises(BrokenData, match=r"one image cannot be read.\n.*train/cat/b.jpg: "):
            Corpus.open(folder, reads="image", wants="label")
        report = check(folder)
        assert (report.source, report.target) == ("image", "label")
        assert [finding.code for finding in report.errors] == ["broken-images"]

    def test_a_missing_file_of_a_table(self, tmp_path):
        draw(tmp_path / "a.png")
        (tmp_path / "metadata.csv").write_text("file_name,label\na.png,1\nb.png,0\n", encoding="utf-8")
        with pytest.raises(BrokenData, match=r"b.png: there is no such file"):
            Corpus.open(tmp_path, reads="image", wants="label")

    def test_no_images_at_all(self, tmp_path):
        (tmp_path / "cat").mkdir()
        with pytest.raises(MissingData, match=r"expected image -> label: a folder a class .*; found cat\."):
            plan_for_labels(tmp_path, source="image")


@pytest.mark.skipif(not (SHARED / "cifar10").is_dir(), reason="the shared CIFAR-10 sample is not here")
def test_real_photographs(tmp_path):
    """A few of the sample's files as an imagefolder."""
    kept = np.load(SHARED / "cifar10" / "cifar10_jpeg_16k_4k.npz")
    pixels, offsets, names, labels, is_train = (
        kept[name] for name in ("jpeg", "offsets", "class_name", "label", "is_train")
    )
    for place in range(0, 20_000, 199):
        label = str(names[labels[place]])
        split = "train" if is_train[place] else "test"
        path = tmp_path / split / label / f"{place}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pixels[offsets[place] : offsets[place + 1]].tobytes())
    corpus = Corpus.open(tmp_path, reads="image", wants="label")
    assert sum(map(len, corpus.splits.values())) == 101 and set(corpus.cut) == {"val"}
    assert set(corpus.split("train")["target"]) <= set(names)
