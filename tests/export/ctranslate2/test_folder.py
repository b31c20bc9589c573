"""Exported models write, score and look as the models do, or are not there."""

import json

import pytest
import torch

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

from exports import KINDS, LINES, OTHERS, built, saved, tokenizers
from regard.align.record import Aligner
from regard.engine import MANIFEST
from regard.engine.ctranslate2 import Manifest
from regard.errors import ModelError, UnknownName, UsageError
from regard.export.ctranslate2 import export
from regard.export.ctranslate2 import spec as spec_module
from regard.export.ctranslate2.spec import piece_names, transformer
from regard.export.request import Wish
from regard.search import Options
from regard.translate.translator import Translator

FLOAT = Wish("float32", LINES)
TWO = Aligner("cross", 1, (2, 0), "AER", 0.25, 7, "gold links", shift=True)


def both(tmp_path, settings=(), aligner=None, wish=FLOAT):
    """A model and its export, as translators."""
    model = saved(tmp_path / "model", settings, aligner)
    found = export(model, tmp_path / "out", wish)
    return Translator.load(model), Translator.load(tmp_path / "out"), found


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_outputs_scores_and_links(tmp_path, kind):
    ours, theirs, found = both(tmp_path, KINDS[kind], TWO)
    assert found.converted.exact
    assert found.converted == found.quantized
    for one, two in zip(ours.search(LINES, Options(beam=1)), theirs.search(LINES, Options(beam=1)), strict=True):
        assert one[0].text == two[0].text
        assert one[0].pieces == two[0].pieces
        assert one[0].alignment.links() == two[0].alignment.links()
        assert torch.allclose(one[0].alignment.matrix, two[0].alignment.matrix, atol=1e-4)
    assert theirs.score(LINES, OTHERS) == pytest.approx(ours.score(LINES, OTHERS), abs=1e-3)


@pytest.mark.parametrize("heads", [(), (3,), (1, 3, 0), (3, 2, 1, 0)])
@pytest.mark.parametrize("layer", [0, 1])
def test_the_heads_that_align_are_carried_over(tmp_path, layer, heads):
    aligner = Aligner("cross", layer, heads)
    ours, theirs, _ = both(tmp_path, KINDS["sinusoids, scaled"], aligner)
    for one, two in zip(ours.force(LINES, OTHERS), theirs.force(LINES, OTHERS), strict=True):
        chosen = one.attention[layer][list(heads)] if heads else one.attention[layer]
        assert two.attention[0].shape == (1, *chosen.shape[1:])
        assert torch.allclose(two.attention[0][0], chosen.mean(0), atol=1e-4)
        assert one.alignment.note == two.alignment.note


def test_what_is_said_of_the_heads_stays_true(tmp_path):
    ours, theirs, _ = both(tmp_path, aligner=TWO)
    note = theirs.align(LINES[0], OTHERS[0]).note
    assert (
        note
        == "layer 2, mean of heads 3 and 1, read one step later of 2 x 4 (AER 25.0 % on 7 pairs, against gold links)"
    )
    assert note == ours.align(LINES[0], OTHERS[0]).note


def test_without_an_aligner_the_last_layer_is_read(tmp_path):
    ours, theirs, _ = both(tmp_path)
    one, two = (each.align(LINES[0], OTHERS[0]) for each in (ours, theirs))
    assert one.note == two.note == "layer 2, mean of all heads of 2 x 4 (not measured)"
    assert torch.allclose(one.matrix, two.matrix, atol=1e-4)


def test_int8_is_smaller_and_runs(tmp_path):
    _, theirs, found = both(tmp_path, wish=Wish("int8", LINES))
    full = export(tmp_path / "model", tmp_path / "full", FLOAT)
    assert found.size < full.size
    assert found.converted.exact
    assert not found.quantized.exact
    assert len(theirs.translate(LINES)) == len(LINES)
    assert theirs.translate(LINES[0]).alignment.source == (*LINES[0].split(), "</s>")


def test_quantising_leaves_the_model_alone():
    made = built()
    before = {name: weight.clone() for name, weight in made.state_dict().items()}
    spec = transformer(made, Aligner("cross", 1, (2,)))
    spec_module.register_vocabularies(spec, *tokenizers())
    spec.validate()
    spec.optimize(quantization="int8")
    assert all(torch.equal(before[name], weight) for name, weight in made.state_dict().items())


def test_what_a_folder_holds(tmp_path):
    saved(tmp_path / "model", aligner=TWO)
    export(tmp_path / "model", tmp_path / "out", Wish("int8", LINES))
    files = {"model.bin", "config.json", "source_vocabulary.json", "target_vocabulary.json", MANIFEST}
    files |= {"source.tokenizer.json", "target.tokenizer.json", "alignment.json"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == files
    told = json.loads((tmp_path / "out" / MANIFEST).read_text())
    assert (told["engine"], told["quantization"], told["layers"], told["heads"]) == ("ctranslate2", "int8", 2, 4)
    assert told["agreement"]["sentences"] == len(LINES)
    assert Manifest.read(tmp_path / "out").positions == (1024, 1024)


def test_a_conversion_that_changes_the_model_fails_and_leaves_nothing(tmp_path, monkeypatch):
    model = saved(tmp_path / "model", aligner=Aligner("cross", 1, (3,)))
    monkeypatch.setattr(spec_module, "heads_first", lambda attend, first: attend)  # the wrong head in front
    with pytest.raises(ModelError, match="not the same model, so nothing was written"):
        export(model, tmp_path / "out", FLOAT)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_cannot_be_exported_is_refused(tmp_path):
    model = saved(tmp_path / "model")
    export(model, tmp_path / "out", FLOAT)
    with pytest.raises(UsageError, match="is itself an export"):
        export(tmp_path / "out", tmp_path / "again", FLOAT)
    with pytest.raises(UnknownName, match="Did you mean 'int8'"):
        Wish("int9")
    with pytest.raises(UsageError, match="learnt from a corpus"):
        Wish(shortlist=5)
    with pytest.raises(UsageError, match="no sentence in it"):
        export(model, tmp_path / "empty", Wish(lines=["", "  "]))
    assert not (tmp_path / "empty").exists()


def test_tokenizers_of_another_model(tmp_path):
    model = saved(tmp_path / "model")
    source, target = model / "source.tokenizer.json", model / "target.tokenizer.json"
    source.write_text(target.read_text())
    with pytest.raises(ModelError, match="source.tokenizer.json does not fit the weights: expected 293.*found 307"):
        export(model, tmp_path / "out", FLOAT)


def test_pieces_have_names_without_space_and_no_two_the_same():
    for tokenizer in tokenizers():
        names = piece_names(tokenizer)
        assert len(set(names)) == len(names) == len(tokenizer)
        assert names[:4] == ["<pad>", "<s>", "</s>", "<unk>"]
        assert not any(letter.isspace() for name in names for letter in name)
    assert "\\u0020ein" in piece_names(tokenizers()[0])
