"""Images with captions, as people have them: a folder with metadata.jsonl; what is missing or broken is told."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from regard.data.check import check
from regard.data.corpus import Corpus
from regard.data.labelled.columns import names_tell
from regard.data.labelled.detect import sides_for, sides_of
from regard.errors import BrokenData, MissingData, UnknownName

SIDES = {"reads": "image", "wants": "text"}


def put(folder, names, texts, key="text", **more):
    """Images and their captions in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for number, (name, text) in enumerate(zip(names, texts, strict=True)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (5, 7, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / name)
        rows.append({"file_name": name, key: text} | {key: each[number] for key, each in more.items()})
    (folder / "metadata.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return folder


def many(count=61):
    return [f"images/{number}.png" for number in range(count)], [f"a picture of {number}" for number in range(count)]


@pytest.mark.parametrize("key", ["text", "caption"])
def test_one_folder_is_cut_and_read(tmp_path, key):
    folder = put(tmp_path / "mine", *many(), key=key)
    corpus = Corpus.open(folder, **SIDES)
    assert set(corpus.splits) == {"train", "val", "test"}
    rows = [row for split in corpus.splits.values() for row in split]
    assert len(rows) == 61 and {row["target"] for row in rows} == set(many()[1])
    assert all(row["source"].startswith(str(folder.resolve())) for row in rows)
    assert sides_of(folder) == ("image", "text") and sides_for("caption", folder) == ("image", "text")
    report = check(folder)
    assert report.ok and (report.source, report.target) == ("image", "text")


def test_a_folder_a_split(tmp_path):
    for split in ("train", "val", "test"):
        put(tmp_path / "mine" / split, ["a.png", "b.png"], [f"{split} one", f"{split} two"])
    corpus = Corpus.open(tmp_path / "mine", **SIDES)
    assert {name: split["target"][:] for name, split in corpus.splits.items()} == {
        name: [f"{name} one", f"{name} two"] for name in ("train", "val", "test")
    }
    assert sides_of(tmp_path / "mine") == ("image", "text")


def test_several_captions_of_one_image_stay_in_one_split(tmp_path):
    names = [f"{number // 5}.png" for number in range(95)]
    folder = put(tmp_path / "mine", names, [f"caption {number}" for number in range(95)])
    corpus = Corpus.open(folder, **SIDES)
    homes = {}
    for name, split in corpus.splits.items():
        for row in split:
            homes.setdefault(row["source"], set()).add(name)
    assert len(homes) == 19 and all(len(each) == 1 for each in homes.values())


def test_a_broken_image_and_an_empty_caption_are_told_by_name(tmp_path):
    names, texts = many(31)
    folder = put(tmp_path / "mine", names, [*texts[:-1], " "])
    (folder / names[3]).write_bytes(b"no image")
    report = check(folder, **SIDES)
    assert not report.ok
    told = str(report)
    assert "images/3.png" in told and "expected a caption in every row" in told
    with pytest.raises(BrokenData, match=r"3\.png"):
        Corpus.open(folder, **SIDES)


def test_places_are_read_and_wrong_ones_told(tmp_path):
    names, texts = many(31)
    folder = put(tmp_path / "mine", names, texts, links=["0,0,0.5,1-1"] * 31)
    assert Corpus.open(folder, **SIDES).split("train")[0]["links"] == "0,0,0.5,1-1"
    bad = put(tmp_path / "bad", names, texts, links=["0-1"] * 31)
    report = check(bad, **SIDES)
    assert not report.ok and "places of words" in str(report) and "no place such as" in str(report)


def test_what_is_not_there_is_told(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingData, match=r"metadata\.jsonl"):
        Corpus.open(tmp_path / "empty", **SIDES)
    folder = put(tmp_path / "mine", ["a.png"], ["x"], key="answer")
    (folder / "metadata.jsonl").write_text('{"file_name": "a.png", "id": "7", "size": "3"}\n')
    with pytest.raises(MissingData, match="none of them called like a text"):
        Corpus.open(folder, **SIDES)
    with pytest.raises(UnknownName):
        Corpus.open(folder, reads="image", wants="captions")


def test_names_that_tell_captions_from_labels():
    assert names_tell(["file_name", "text"]) == names_tell(["image", "caption"]) == ("image", "text")
    assert names_tell(["file_name", "label"]) == ("image", "label")
    assert names_tell(["file_name", "text", "label"]) == names_tell(["text", "label"]) == ("text", "label")
