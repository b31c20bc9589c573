"""Which engine a folder is for, and what is said where it is not."""

import sys

import pytest

from exports import LINES, built, saved, tokenizers
from regard.engine import ENGINES, MANIFEST, Engine, engine_of, open_engine
from regard.engine.ctranslate2 import library
from regard.engine.pytorch import Torch
from regard.errors import ModelError, UnknownName, UsageError
from regard.search import Options, beam_search
from regard.translate.translator import Translator


def test_a_model_folder_is_for_torch(tmp_path):
    folder = saved(tmp_path / "model")
    assert engine_of(folder) == "torch"
    assert isinstance(open_engine(folder), Torch)
    assert isinstance(open_engine(folder, "torch"), Engine)


def test_an_exported_folder_names_its_engine(tmp_path):
    (tmp_path / MANIFEST).write_text('{"engine": "ctranslate2"}')
    assert engine_of(tmp_path) == "ctranslate2"
    with pytest.raises(UsageError, match="Give the model folder"):
        open_engine(tmp_path, "torch")


@pytest.mark.parametrize("told", ['{"engine": "steam"}', "{}", "[1]", "{"])
def test_a_manifest_that_says_nothing_known(tmp_path, told):
    (tmp_path / MANIFEST).write_text(told)
    with pytest.raises(ModelError, match=MANIFEST):
        engine_of(tmp_path)


def test_asked_for_an_engine_it_is_not_for(tmp_path):
    folder = saved(tmp_path / "model")
    with pytest.raises(UsageError, match="Export it first.*--to ctranslate2"):
        Translator.load(folder, "ctranslate2")
    with pytest.raises(UnknownName, match="Did you mean 'torch'"):
        Translator.load(folder, "torhc")


def test_every_engine_has_a_module_that_opens_folders():
    from importlib import import_module

    assert all(callable(import_module(module).open_folder) for module in ENGINES.values())


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ModelError, match=r"pip install 'regard\[export\]'"):
        library()


def test_torch_is_beam_search(tmp_path):
    made = built()
    translator = Translator(made, *tokenizers())
    assert translator.model is made
    source = translator.source.encode_batch(LINES)
    from regard.data.padding import pad

    ids = [[*each.ids, 2] for each in source]
    ours = translator.engine.search(ids, Options(beam=2), record=False)
    theirs = beam_search(made, pad(ids), Options(beam=2), start=1, end=2)
    assert [each[0].ids for each in ours] == [each[0].ids for each in theirs]


def test_threads_reach_torch(tmp_path):
    import torch

    before = torch.get_num_threads()
    try:
        Translator.load(saved(tmp_path / "model"), threads=2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
