"""The model and its folder: the flow by hand, save and load, crashes at every stage, damaged files."""

import contextlib
import json
import re
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file, save_model

import regard
from regard.data.tokenizer import Tokenizer
from regard.errors import ModelError, RegardError, ShapeError
from regard.model import Model, load, save
from regard.model import folder as home
from regard.recipe import resolve
from regard.registry import maker
from small import SOURCE, TARGET, batch
from small import model as small


@pytest.fixture(scope="module")
def one():
    torch.manual_seed(3)
    return small()


@pytest.fixture(scope="module")
def other():
    torch.manual_seed(5)
    return small()


def same(left, right):
    """Do two models hold the same numbers?"""
    mine, theirs = left.state_dict(), right.state_dict()
    return list(mine) == list(theirs) and all(torch.equal(mine[key], theirs[key]) for key in mine)


def beside(folder):
    """What stands in the folder's own folder."""
    return sorted(each.name for each in folder.parent.iterdir())


# --- the flow ----------------------------------------------------------------------------------------------


def test_position_t_is_predicted_from_the_pieces_before_it(one):
    """The last piece of the longest target is only ever an answer, never shown."""
    pair = batch(target=(6, 6, 6))
    changed = pair.target.data.clone()
    changed[:, -1] = (changed[:, -1] + 1 - 4) % (TARGET - 4) + 4
    before = one.teach(pair).logits
    pair.target.data.copy_(changed)
    assert torch.equal(one.teach(pair).logits, before)


def test_share_is_one_table():
    model = small(["share=true", "predict.readout=tied"], source=TARGET)
    assert model.embed.table.weight is model.predict.embed.table.weight
    assert model.predict.readout.table.weight is model.embed.table.weight
    with torch.no_grad():
        model.embed.table.weight[7] = 3.0
    assert (model.predict.embed.vectors(torch.tensor([[7]])) == 3.0).all()


@pytest.mark.parametrize("settings", [["share=true"], ["share=true", "predict.embed.width=6"]])
def test_share_needs_one_shape(settings):
    with pytest.raises(ShapeError, match=rf"share = true.*\({SOURCE}, 8\).*\({TARGET}, [86]\).*\n.*joint tokenizer"):
        small(settings)


# --- save and load -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        [],
        ["predict.readout=tied"],
        ["predict.readout=tied", "predict.hidden=6", "predict.bridge=project"],
        ["embed.position=learned", "attend.choice=gated"],
        ["attend.choice=hard"],
        [
            "predict.part=transformer",
            "predict.self_attend.heads=2",
            "predict.embed.width=8",
            "predict.feed=13",
            "attend.part=heads",
            "attend.heads=2",
        ],
        ["predict.part=plain", "predict.hidden=8", "predict.embed.width=8", "attend=none", "predict.bridge=project"],
    ],
)
def test_a_loaded_model_is_the_same_model(tmp_path, settings):
    model, pair = small(settings).train(), batch()
    save(model, tmp_path / "m")
    loaded = load(tmp_path / "m")
    assert isinstance(loaded, Model)
    assert not loaded.training
    assert loaded.sizes == (SOURCE, TARGET)
    assert loaded.recipe == model.recipe
    assert same(loaded, model)
    assert torch.equal(loaded.teach(pair).logits, model.eval().teach(pair).logits)


@pytest.mark.parametrize("settings", [["predict.readout=tied"], ["share=true"], ["share=true", "predict.readout=tied"]])
def test_tied_tables_are_stored_once_and_stay_tied(tmp_path, settings):
    model = small(settings, source=TARGET)
    save(model, tmp_path / "m")
    stored = load_file(tmp_path / "m" / "weights.safetensors")
    tables = [key for key, value in stored.items() if value.shape == (TARGET, 8) and "table" in key]
    assert len(tables) == (1 if "share=true" in settings else 2)
    loaded = load(tmp_path / "m")
    assert same(loaded, model)
    with torch.no_grad():
        loaded.predict.embed.table.weight[7] = 3.0
    tied = loaded.embed.table if "share=true" in settings else loaded.predict.readout.table
    assert (tied.weight[7] == 3.0).all()


def test_the_public_name_loads(tmp_path):
    tokenizer = Tokenizer.train(["a b c"], kind="words")
    one, files = small(source=len(tokenizer), target=len(tokenizer)), ("source.tokenizer.json", "target.tokenizer.json")
    save(one, tmp_path / "m", dict.fromkeys(files, tokenizer.backend.to_str()))
    assert same(regard.load(str(tmp_path / "m")).model, one)
    with pytest.raises(ModelError, match="no model folder"):
        regard.load(tmp_path / "nothing")


def test_what_is_in_the_folder(tmp_path, one):
    save(one, tmp_path / "runs" / "deep" / "m", {"scores.json": '{"bleu": 7}', "README.md": "# Ünser"})
    folder = tmp_path / "runs" / "deep" / "m"
    assert sorted(each.name for each in folder.iterdir()) == [
        "README.md",
        "recipe.toml",
        "scores.json",
        "weights.safetensors",
    ]
    assert beside(folder) == ["m"], "nothing may be left beside the folder"
    assert json.loads((folder / "scores.json").read_text()) == {"bleu": 7}
    assert (folder / "README.md").read_text(encoding="utf-8") == "# Ünser"
    assert resolve(folder) == one.recipe
    assert folder.stat().st_mode & 0o777 == 0o755


def test_saving_again_replaces_the_whole_folder(tmp_path, one, other):
    save(one, tmp_path / "m", {"old.txt": "x"})
    save(other, tmp_path / "m", {"new.txt": "x"})
    assert same(load(tmp_path / "m"), other)
    assert sorted(each.name for each in (tmp_path / "m").iterdir()) == ["new.txt", "recipe.toml", "weights.safetensors"]
    assert beside(tmp_path / "m") == ["m"]


def test_a_model_folder_moves_as_one(tmp_path, one):
    save(one, tmp_path / "here")
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert same(load(tmp_path / "there"), one)


def test_a_model_without_a_recipe_cannot_be_saved(tmp_path):
    built = Model(
        SOURCE,
        TARGET,
        embed=maker("embed", "tokens", width=8),
        encode=maker("encode", "recurrent", hidden=8, cell="lstm"),
        predict=maker("predict", "plain", hidden=8),
    )
    with pytest.raises(ModelError, match="built from a recipe"):
        save(built, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "make",
    [lambda path: path.write_text("dear diary"), lambda path: (path.mkdir(), (path / "diary.txt").write_text("dear"))],
)
def test_saving_never_takes_the_place_of_something_else(tmp_path, one, make):
    make(tmp_path / "mine")
    with pytest.raises(RegardError, match=r"mine"):
        save(one, tmp_path / "mine")
    assert beside(tmp_path / "mine") == ["mine"]
    kept = tmp_path / "mine" / "diary.txt" if (tmp_path / "mine").is_dir() else tmp_path / "mine"
    assert kept.read_text().startswith("dear")


def test_an_empty_folder_may_be_saved_to(tmp_path, one):
    (tmp_path / "m").mkdir()
    save(one, tmp_path / "m")
    assert same(load(tmp_path / "m"), one)


@pytest.mark.parametrize("name", ["../escape.txt", "deep/file.txt", "recipe.toml", "weights.safetensors", "", "."])
def test_further_files_have_plain_names_of_their_own(tmp_path, one, name):
    with pytest.raises(RegardError):
        save(one, tmp_path / "inner" / "m", {name: "x"})
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


# --- crashes -----------------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process dies here: no `except Exception` sees it."""


def stages():
    """Every call on the file system that a save makes, by number; the last number finishes the save."""
    return range(14)


def die_at(monkeypatch, number, *, clean):
    """Let the process die before the file system's call `number`; without `clean` it dies at once, tidying nothing."""
    calls = []

    def dying(real):
        def call(*arguments, **options):
            if calls and calls[-1] == "dead":
                if clean:
                    return real(*arguments, **options)
                raise Killed
            if len(calls) == number:
                calls.append("dead")
                raise Killed
            calls.append(real.__name__)
            return real(*arguments, **options)

        return call

    for owner, name in (
        (Path, "rename"),
        (Path, "write_text"),
        (Path, "chmod"),
        (home, "save_model"),
        (home.shutil, "rmtree"),
        (home.tempfile, "mkdtemp"),
    ):
        monkeypatch.setattr(owner, name, dying(getattr(owner, name)))
    return calls


@pytest.mark.parametrize("clean", [True, False], ids=["an error", "a kill"])
@pytest.mark.parametrize("number", stages())
def test_a_crash_leaves_the_old_model_or_the_new_one(tmp_path, one, other, number, clean):
    folder = tmp_path / "m"
    save(one, folder, {"card.txt": "old"})
    with pytest.MonkeyPatch.context() as patch:
        calls = die_at(patch, number, clean=clean)
        try:
            save(other, folder, {"card.txt": "new"})
            died = False
        except Killed:
            died = True
    assert died == ("dead" in calls)
    loaded = load(folder)
    card = (folder / "card.txt").read_text()
    assert (same(loaded, one), card) == (True, "old") or (same(loaded, other), card) == (True, "new")
    if not died:
        assert card == "new"
    if died and clean:
        assert [each for each in beside(folder) if each.startswith(".m-")] == [], (
            "an error must not leave a half-made folder"
        )
    save(other, folder)  # and the next save is not in the way of anything
    assert same(load(folder), other)
    assert ".m.old" not in beside(folder)


def test_the_stages_reach_the_end(tmp_path, one, other):
    """The crash test is only as good as its last number: there, a save must come through."""
    save(one, tmp_path / "m", {"card.txt": "old"})
    with pytest.MonkeyPatch.context() as patch:
        calls = die_at(patch, max(stages()), clean=True)
        save(other, tmp_path / "m", {"card.txt": "new"})
    assert {"mkdtemp", "write_text", "save_model", "chmod", "rename", "rmtree"} <= set(calls)
    assert len(calls) <= max(stages())


@pytest.mark.parametrize("number", stages())
def test_a_crash_in_a_first_save_leaves_nothing_or_the_model(tmp_path, one, number):
    folder = tmp_path / "m"
    with pytest.MonkeyPatch.context() as patch:
        die_at(patch, number, clean=True)
        with contextlib.suppress(Killed):
            save(one, folder)
    if folder.exists():
        assert same(load(folder), one)
    else:
        with pytest.raises(ModelError, match="no model folder"):
            load(folder)
        assert beside(folder) == []


def test_a_save_that_died_between_its_two_renames_is_undone(tmp_path, one):
    save(one, tmp_path / "m")
    (tmp_path / "m").rename(tmp_path / ".m.old")
    assert same(load(tmp_path / "m"), one)
    assert beside(tmp_path / "m") == ["m"]


def test_a_newer_model_is_never_undone(tmp_path, one, other):
    """Killed after the second rename: both are there, and the new one counts."""
    save(one, tmp_path / "m")
    (tmp_path / "m").rename(tmp_path / ".m.old")
    shutil.copytree(tmp_path / ".m.old", tmp_path / "kept")
    save(other, tmp_path / "m")
    shutil.move(tmp_path / "kept", tmp_path / ".m.old")
    assert same(load(tmp_path / "m"), other)


# --- damage ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, one):
    save(one, tmp_path / "m")
    return tmp_path / "m"


@pytest.mark.parametrize("name", ["recipe.toml", "weights.safetensors"])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(ModelError, match=rf"m is no model folder: it has no {re.escape(name)}.*\n.*best/"):
        load(folder)


@pytest.mark.parametrize("name", ["nowhere", "file", "empty"])
def test_no_folder_at_all(tmp_path, name):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=rf"{name} is no model folder"):
        load(tmp_path / name)


def damaged(stored, path, settings):
    """Write the tensors again, with the sizes as metadata."""
    save_file(stored, path, metadata={"source": str(SOURCE), "target": str(TARGET)} | settings)


def test_weights_cut_short(folder):
    path = folder / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(ModelError, match=r"weights\.safetensors does not hold the weights.*\n.*Copy the folder again"):
        load(folder)


@pytest.mark.parametrize("content", [b"", b"not weights at all", b"\x80\x04\x95 a pickle?"])
def test_weights_that_are_none(folder, content):
    (folder / "weights.safetensors").write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.safetensors does not hold the weights"):
        load(folder)


def test_weights_of_another_recipe(folder):
    text = (folder / "recipe.toml").read_text().replace("hidden = 8 ", "hidden = 6 ")
    (folder / "recipe.toml").write_text(text)
    with pytest.raises(ModelError, match=r"does not hold the weights of .*recipe\.toml"):
        load(folder)


def test_a_tensor_too_few_and_one_too_many(folder):
    path = folder / "weights.safetensors"
    stored = load_file(path)
    damaged(stored | {"predict.stray": torch.ones(3)}, path, {})
    with pytest.raises(ModelError, match=r"predict\.stray"):
        load(folder)
    gone = next(key for key in stored if key.startswith("predict.readout"))
    damaged({key: value for key, value in stored.items() if key != gone}, path, {})
    with pytest.raises(ModelError, match=re.escape(gone)):
        load(folder)


@pytest.mark.parametrize(
    ("sizes", "message"), [({"source": "many"}, "many"), ({"source": "29"}, "size|shape"), ({"target": "-3"}, "")]
)
def test_wrong_sizes(folder, sizes, message):
    path = folder / "weights.safetensors"
    damaged(load_file(path), path, sizes)
    with pytest.raises(ModelError, match=f"(?s)does not hold the weights.*{message}"):
        load(folder)


def test_weights_that_do_not_say_their_sizes(folder, one):
    save_model(one, str(folder / "weights.safetensors"))
    with pytest.raises(ModelError, match=r"size"):
        load(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[embed\n", r"recipe\.toml:1"),
        ("", r"recipe\.toml: embed: missing"),
        ('[embed]\npart = "glyphs"\n', "needs parts that are not registered: the embed 'glyphs'"),
    ],
)
def test_a_damaged_recipe_is_told_with_its_file(folder, text, message):
    (folder / "recipe.toml").write_text(text)
    with pytest.raises(RegardError, match=message):
        load(folder)
