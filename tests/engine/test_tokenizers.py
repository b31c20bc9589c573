"""Tokenizers must be those that the weights were trained with, and cannot bring the program down."""

import json
import shutil
from importlib import import_module

import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from exports import LINES, saved
from regard.data.tokenizer import SOURCE_FILE, TARGET_FILE, Tokenizer
from regard.engine.tokenizers import WEIGHTS, open_tokenizers
from regard.errors import ModelError
from regard.export.request import Wish
from regard.translate.translator import Translator


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("fit") / "model")


@pytest.fixture(scope="module", params=["ctranslate2", "onnx", "torch"])
def exported(request, model, tmp_path_factory):
    if request.param == "onnx":
        pytest.importorskip("onnxruntime", reason="onnxruntime is one of the dev dependencies")
        from onnx_exports import exported

        return exported("plain", tmp_path_factory).folder
    pytest.importorskip(request.param, reason="ctranslate2 is one of the dev dependencies")
    folder = tmp_path_factory.mktemp("fit") / request.param
    import_module(f"regard.export.{request.param}").export(model, folder, Wish("float32", LINES))
    return folder


def copied(model, tmp_path):
    return shutil.copytree(model, tmp_path / "copy")


def renumbered(text):
    """The same pieces under other numbers: the last two change places."""
    told = json.loads(text)
    places = told["model"]["vocab"]
    one, other = sorted(places, key=places.get)[-2:]
    places[one], places[other] = places[other], places[one]
    return json.dumps(told)


def test_the_right_ones_are_opened(model, exported):
    for folder in (model, exported):
        opened = Translator.load(folder)
        assert (len(opened.source), len(opened.target)) == (293, 307)


@pytest.mark.parametrize(("name", "other"), [(SOURCE_FILE, TARGET_FILE), (TARGET_FILE, SOURCE_FILE)])
def test_another_number_of_pieces(model, tmp_path, name, other):
    folder = copied(model, tmp_path)
    shutil.copy(model / other, folder / name)
    with pytest.raises(
        ModelError, match=rf"copy/{name} does not fit the weights: expected \d+ pieces(.|\n)*copy the model folder"
    ):
        Translator.load(folder)


@pytest.mark.parametrize("name", [SOURCE_FILE, TARGET_FILE])
def test_as_many_pieces_by_other_numbers(model, exported, tmp_path, name):
    for kind, home in (("model", model), ("exported", exported)):
        folder = shutil.copytree(home, tmp_path / kind)
        (folder / name).write_text(renumbered((folder / name).read_text()))
        with pytest.raises(ModelError, match=f"{kind}/{name} does not fit the weights: expected the file that they"):
            Translator.load(folder)


def test_a_folder_of_before_checksums_is_opened_all_the_same(model, tmp_path):
    folder = copied(model, tmp_path)
    with safe_open(model / WEIGHTS, framework="pt") as file:
        kept = file.metadata()
    assert {kept.pop(name) for name in (SOURCE_FILE, TARGET_FILE)}, "each has a checksum"
    save_file(load_file(model / WEIGHTS), folder / WEIGHTS, kept)
    (folder / SOURCE_FILE).write_text(renumbered((folder / SOURCE_FILE).read_text()))
    assert Translator.load(folder).translate(LINES[0]).text is not None
    shutil.copy(model / TARGET_FILE, folder / SOURCE_FILE)
    with pytest.raises(ModelError, match="expected 293 pieces, as the model has; found 307"):
        Translator.load(folder)


# --- hostile ones ------------------------------------------------------------------------------------------


def changed(home, path, **parts):
    """The tokenizer of a model with some parts of its file changed."""
    path.write_text(json.dumps(json.loads((home / SOURCE_FILE).read_text()) | parts))
    return path


def test_a_broken_table_is_no_panic(model, tmp_path):
    table = {"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    with pytest.raises(ModelError, match=r"a\.json cannot be used: its patterns or tables"):
        Tokenizer.load(changed(model, tmp_path / "a.json", normalizer=table))


def test_a_pattern_that_tries_too_much_is_no_panic(model, tmp_path):
    split = {"type": "Split", "pattern": {"Regex": "(a+)+b"}, "behavior": "Isolated", "invert": False}
    opened = Tokenizer.load(changed(model, tmp_path / "b.json", pre_tokenizer=split))
    assert opened.encode("ja").ids
    for cut in (opened.encode, opened._chunks):
        with pytest.raises(ModelError, match=r"b\.json cannot be used(.|\n)*retry-limit"):
            cut("a" * 40)


def test_other_errors_go_their_way(model):
    with pytest.raises(KeyboardInterrupt):
        from regard.data.tokenizer import no_panic

        with no_panic("it"):
            raise KeyboardInterrupt


@pytest.mark.parametrize("number", [400, 4_000_000_000])
def test_numbers_that_are_left_out(model, tmp_path, number):
    told = json.loads((model / SOURCE_FILE).read_text())["model"]
    told["vocab"] |= {"zz": number}
    with pytest.raises(ModelError, match="numbered from 0 up"):
        Tokenizer.load(changed(model, tmp_path / "c.json", model=told))


def test_a_joint_tokenizer_is_opened_once(tmp_path):
    """Equal files are one object; a file that the weights do not know is refused all the same."""
    (tmp_path / SOURCE_FILE).write_text(Tokenizer.train(["a b c d"] * 9, kind="words").backend.to_str())
    shutil.copy(tmp_path / SOURCE_FILE, tmp_path / TARGET_FILE)
    size = len(Tokenizer.load(tmp_path / SOURCE_FILE))
    one, other = open_tokenizers(tmp_path, (size, size))
    assert one is other
    save_file({}, tmp_path / WEIGHTS, metadata={TARGET_FILE: "0" * 64})
    with pytest.raises(ModelError, match=f"{TARGET_FILE} does not fit the weights"):
        open_tokenizers(tmp_path, (size, size))
    (tmp_path / WEIGHTS).unlink()
    with pytest.raises(ModelError, match="expected 3 pieces"):
        open_tokenizers(tmp_path, (size, 3))
