"""A translator's looks while it learns: two pairs, the right outputs forced, a file at each validation."""

import json

import numpy as np
import pytest

import regard
from browser.documents import values
from regard.show.page import check_page
from regard.tasks.looked import chosen_pairs

TINY = ("train.tokens=256", "train.tensorboard=false", "train.validate_steps=2", "train.precision=fp32")


def test_pairs_from_short_to_middling():
    sources = ["w" * (1 + place) for place in range(11)] + ["x" * 500, " "]
    rights = ["r"] * 10 + [["one", "two"]] + ["r", "r"]
    assert chosen_pairs(sources, rights, 2) == [("ww", "r"), ("w" * 6, "r")]
    assert chosen_pairs(sources, rights, 1) == [("w" * 6, "r")]
    assert [len(source) for source, _ in chosen_pairs(sources, rights, 3)] == [2, 4, 6]
    assert chosen_pairs(["x" * 11], [["one", "two"]], 2) == [("x" * 11, "one")]
    assert chosen_pairs([], [], 2) == []


def train(folder, *settings, recipe="transformer-tiny", **more):
    data = folder.parent / "data"
    if not data.exists():
        data.mkdir()
        words = ["a", "b", "c", "d", "e", "f", "g"]
        lines = [" ".join(words[place % 5 :][: 1 + place % 3]) for place in range(97)]
        for split, some in (("train", lines), ("val", lines[:7]), ("test", lines[:5])):
            for side in ("de", "en"):
                (data / f"{split}.{side}").write_text("".join(f"{line}\n" for line in some))
    settings = [*TINY, *settings]
    regard.train(recipe, data=data, source="de", target="en", out=folder, settings=settings, **more)
    return sorted(each.name for each in (folder / "looks").glob("*")) if (folder / "looks").exists() else []


def test_a_file_at_each_validation(tmp_path):
    assert train(tmp_path / "run", steps=5) == ["000002.json", "000004.json", "000005.json"]
    told = [json.loads(each.read_text()) for each in sorted((tmp_path / "run" / "looks").iterdir())]
    for each in told:
        check_page({"format": "regard-page-1", "title": "", "figures": each["figures"]})
        assert {layer["kind"] for figure in each["figures"] for layer in figure["attention"]} == {"cross"}
    first, last = told[0]["figures"], told[-1]["figures"]
    assert len(first) == 2
    assert [each["target"] for each in first] == [each["target"] for each in last]  # rows stay the same
    np.testing.assert_allclose(values(first[0])[0].sum(-1), 1, atol=1e-3)
    model = regard.load(tmp_path / "run" / "last")
    source, target = (last[0][side]["text"] for side in ("source", "target"))
    again = model.look(source, target).attention
    own = next(each.weights for each in again if each.kind == "cross")
    np.testing.assert_allclose(values(last[0]), own.numpy(), atol=1e-3)


@pytest.mark.parametrize(("recipe", "settings"), [("transformer-tiny", ["train.looks=0"]), ("seq2seq", [])])
def test_nothing_is_kept_where_nothing_is_to_be_seen(tmp_path, recipe, settings):
    small = ["embed.width=8", "encode.hidden=8", "predict.hidden=8", "predict.embed.width=8"]
    assert train(tmp_path / "run", *settings, *(small if recipe == "seq2seq" else []), recipe=recipe, steps=2) == []


def test_a_run_that_goes_on_makes_them_again(tmp_path):
    train(tmp_path / "run", "train.save_steps=3", steps=3)
    (tmp_path / "run" / "looks" / "000099.json").write_text("{}")  # as of a run that was killed later
    names = train(tmp_path / "run", "train.save_steps=3", steps=6, resume=True)
    assert names == ["000002.json", "000003.json", "000005.json", "000006.json"]
