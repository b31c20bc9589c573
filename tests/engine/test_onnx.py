"""The engine of an ONNX folder: what it refuses, and that our own search runs on it with every option."""

import json
import shutil
import sys

import pytest
import torch

pytest.importorskip("onnxruntime", reason="onnxruntime is one of the dev dependencies")
pytest.importorskip("onnxscript", reason="onnxscript is one of the dev dependencies")

from exports import LINES
from onnx_exports import exported
from regard.data.padding import pad
from regard.data.tokenizer import END, START
from regard.engine import MANIFEST, Engine, engine_of, open_engine
from regard.engine.onnx import Onnx, library
from regard.errors import ModelError, ShapeError, UsageError
from regard.search import Options, Sampling, sample
from regard.translate.translator import Translator
from small import pictures, words


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return exported("transformer", tmp_path_factory)


@pytest.fixture
def copy(made, tmp_path):
    """A folder that may be spoiled."""
    return shutil.copytree(made.folder, tmp_path / "copy")


def test_the_folder_names_its_engine(made):
    assert engine_of(made.folder) == "onnx"
    engine = open_engine(made.folder, "onnx", threads=1)
    assert isinstance(engine, Onnx)
    assert isinstance(engine, Engine)


def test_prefixes_and_penalties(made):
    ours, theirs = Translator.load(made.home), Translator.load(made.folder)
    options = Options(
        beam=4, nbest=2, alpha=0.3, beta=0.4, no_repeat=2, min_length=2, max_length=11, prefix=[(17,), (), (23, 29), ()]
    )
    for one, two in zip(ours.search(LINES, options), theirs.search(LINES, options), strict=True):
        assert [each.text for each in two] == [each.text for each in one]
        assert [each.score for each in two] == pytest.approx([each.score for each in one], abs=1e-4)


def test_sampling_draws_the_same(made):
    ours, theirs = Translator.load(made.home), Translator.load(made.folder)
    source = pad([[*each.ids, END] for each in ours.source.encode_batch(LINES)])
    one, two = (
        sample(model, source, Sampling(draws=3), start=START, end=END, generator=torch.Generator().manual_seed(3))
        for model in (ours.model, theirs.engine.model)
    )
    assert [[each.ids for each in some] for some in one] == [[each.ids for each in some] for some in two]


def test_a_source_that_is_too_long(made):
    theirs = Translator.load(made.folder)
    with pytest.raises(ShapeError, match="knows 61 positions of a source; one has [0-9]+ or more"):
        theirs.translate("ja " * 62)


def test_a_target_that_is_too_long(copy):
    told = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps(told | {"positions": [61, 3]}))
    theirs = Translator.load(copy)
    with pytest.raises(ShapeError, match=r"knows 3 positions of a target(.|\n)*max_length = 2"):
        theirs.search(LINES, Options(min_length=5))
    assert theirs.search(LINES, Options(max_length=2))


def test_images_are_refused(made):
    with pytest.raises(UsageError, match="reads text"):
        open_engine(made.folder).model.start(pictures([(3, 5)]))


def test_it_cannot_be_looked_into(made):
    with pytest.raises(UsageError, match="exported model"):
        Translator.load(made.folder).look(LINES[0])


def test_a_state_of_another_model(made):
    theirs, source = open_engine(made.folder).model, words(31, (3,))
    with pytest.raises(TypeError, match="steps from its own state"):
        theirs.step(torch.tensor([START]), made.model.start(source))
    with pytest.raises(TypeError, match="starts from its own encoder"):
        theirs.predict.start(made.model.read(source))


@pytest.mark.parametrize(
    ("change", "told"),
    [({"format": 7}, "expected format 1; found 7"), ({"encoder": {}}, "KeyError"), ({"sizes": 5}, "TypeError")],
)
def test_a_manifest_that_is_not_ours(copy, change, told):
    known = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps(known | change))
    with pytest.raises(ModelError, match=told):
        Translator.load(copy)


def test_a_graph_that_is_missing_or_broken(copy):
    (copy / "step.onnx").write_bytes(b"no graph")
    with pytest.raises(ModelError, match=r"step.onnx: ONNX Runtime cannot read it(.|\n)*Export the model again"):
        Translator.load(copy)
    (copy / "step.onnx").unlink()
    with pytest.raises(ModelError, match="step.onnx"):
        Translator.load(copy)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match=r"pip install 'regard\[export\]'"):
        library()
