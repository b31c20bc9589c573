"""CTranslate2 folders and Argos packages, imported: they write and look as the models they were made of."""

import json
import shutil
import zipfile

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from imports import LINES, drawn, marian
from regard.align.record import Aligner
from regard.cli import app
from regard.data.tokenizer import END
from regard.errors import ModelError, RegardError, UsageError
from regard.importing import argos, import_model
from regard.importing.ctranslate2 import binary as files
from regard.importing.ctranslate2.heads import as_translator, read_from
from regard.translate.translator import Translator

ctranslate2 = pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")
transformers = pytest.importorskip("transformers", reason="a small Marian is made with it, and converted")
sentencepiece = pytest.importorskip("sentencepiece", reason="it writes the vocabularies")
pytestmark = pytest.mark.filterwarnings("default")
SHAPE = {
    "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 40, "decoder_ffn_dim": 28,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "activation_function": "swish", "scale_embedding": True,
}  # fmt: skip
SOURCES, TARGETS = LINES[:4], [LINES[2], LINES[0], LINES[4], LINES[5]]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A Marian, the same converted for CTranslate2 (with its SentencePiece models), and both imported."""
    home = tmp_path_factory.mktemp("home")
    (home / "marian").mkdir()
    (size,) = marian(home / "marian", sentencepiece)
    config = transformers.MarianConfig(
        vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, max_position_embeddings=211, **SHAPE
    )
    model = drawn(transformers.MarianMTModel(config))
    for stack in (model.model.encoder, model.model.decoder):
        stack.embed_positions.weight.data = stack.embed_positions.create_weight()
    with torch.no_grad():
        model.final_logits_bias.normal_(0, 0.5)[0, 0] += 4.0
        model.final_logits_bias[0, size - 1] = -1e4  # CTranslate2 leaves the padding out
        model.model.shared.weight[size - 1] = 0  # as all of OPUS-MT have it, and as CTranslate2 begins
    model.save_pretrained(home / "marian")
    ctranslate2.converters.TransformersConverter(str(home / "marian")).convert(str(home / "theirs"))
    for name in ("source.spm", "target.spm"):
        shutil.copy(home / "marian" / name, home / "theirs" / name)
    import_model(home / "marian", home / "whole")
    import_model(home / "theirs", home / "ours")
    return home


@pytest.fixture
def theirs(home, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(home / "theirs", tmp_path / "theirs")


def same(one, other, layer, heads):
    """Do two translators write the same, and does the second look as these heads of the first?"""
    for line in SOURCES:
        assert one.translate(line, beam=1).text == other.translate(line, beam=1).text
    for mine, found in zip(one.force(SOURCES, TARGETS), other.force(SOURCES, TARGETS), strict=True):
        assert found.likelihood == pytest.approx(mine.likelihood, abs=1e-2)
        wanted = mine.record.weights("cross", layer)[heads].mean(0)
        assert torch.allclose(wanted, found.record.weights("cross")[0], atol=1e-4)


def test_it_writes_and_looks_as_the_model_it_was_made_of(home):
    ours = Translator.load(home / "ours")
    same(Translator.load(home / "whole"), ours, -1, [0])
    assert "layer 3, head 1 of 3 x 4 (not measured)" in str(ours.aligner)
    assert json.loads((home / "ours" / "export.json").read_text())["positions"] == [211, 211]
    with pytest.raises(UsageError, match="cannot be looked into"):
        ours.look(SOURCES[0])


def test_its_numbers_make_a_model_of_ours(home):
    same(Translator.load(home / "whole"), as_translator(home / "ours"), -1, [0])


def test_other_heads_can_be_read(home, tmp_path):
    folder = shutil.copytree(home / "ours", tmp_path / "ours")
    read_from(folder, Aligner("cross", 1, (1, 3), "AER", 0.25, 7, "gold links"))
    same(Translator.load(home / "whole"), Translator.load(folder), 1, [1, 3])
    assert "layer 2, mean of heads 2 and 4 of 3 x 4 (AER 25.0 %" in str(Translator.load(folder).aligner)
    read_from(folder, Aligner("cross", 0))  # heads were moved before, in another layer
    same(Translator.load(home / "whole"), Translator.load(folder), 0, [0, 1, 2, 3])


@pytest.mark.parametrize("kind", ["int8", "int16", "float16"])
def test_fewer_bits_are_read_and_moved(home, kind, tmp_path):
    ctranslate2.converters.TransformersConverter(str(home / "marian")).convert(str(tmp_path / kind), quantization=kind)
    found, whole = (files.read_binary(each / "model.bin") for each in (tmp_path / kind, home / "theirs"))
    assert found.quantization == kind
    for name in ("decoder/layer_1/attention/linear_1/weight", "encoder/embeddings_0/weight"):
        assert np.abs(found.weights(name) - whole.weights(name)).max() < 0.02
    files.write_binary(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / kind / "model.bin").read_bytes()
    shutil.copy(home / "marian" / "source.spm", tmp_path / kind / "sentencepiece.model")
    import_model(tmp_path / kind, tmp_path / "ours")  # one model of SentencePiece, the source's
    ours = Translator.load(tmp_path / "ours")
    before = [ours.force(SOURCES[0], TARGETS[0])[0].likelihood, ours.translate(SOURCES[0], beam=1).text]
    read_from(tmp_path / "ours", Aligner("cross", 0, (2,)))
    again = Translator.load(tmp_path / "ours")
    assert again.force(SOURCES[0], TARGETS[0])[0].likelihood == pytest.approx(before[0], abs=0.05)
    assert ours.target.decode(ours.target.encode("The quick fox").ids) == "The quick fox"


def test_a_model_whose_sources_have_no_end(theirs, tmp_path):
    config = json.loads((theirs / "config.json").read_text())
    (theirs / "config.json").write_text(json.dumps({**config, "bos_token": config["decoder_start_token"]}))
    import_model(theirs, tmp_path / "ours")
    ours, backend = Translator.load(tmp_path / "ours"), ctranslate2.Translator(str(theirs))
    names = json.loads((tmp_path / "ours" / "pieces.json").read_text())["source"]
    for line in (*SOURCES, "x"):
        found, ids = ours.translate(line, beam=1), ours.source.encode(line).ids
        (told,) = backend.translate_batch([[names[each] for each in ids]], beam_size=1, return_attention=True)
        weights = found.record.weights("cross")[0]
        assert torch.allclose(weights[:-1, :-1], torch.tensor(told.attention[0]), atol=1e-4)
        assert weights.shape[1] == len(ids) + 1 and not weights[:, -1].any()


def packed(path, home, names=(), told=None, top="translate-en_fr"):
    """An Argos package."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        told = {"from_code": "en", "to_code": "fr", **(told or {})}
        archive.writestr(f"{top}/metadata.json", json.dumps(told))
        archive.writestr(f"{top}/README.md", "# A package\n")
        for each in (home / "theirs").iterdir():
            if each.suffix != ".spm":
                archive.write(each, f"{top}/model/{each.name}")
        for name, content in names:
            archive.writestr(name, content)
    return path


def spm(home, name="sentencepiece.model"):
    return (f"translate-en_fr/{name}", (home / "theirs" / "source.spm").read_bytes())


def call(*words, text=None):
    done = CliRunner().invoke(app, [str(word) for word in words], input=text)
    assert done.exit_code == 0, done.output
    return done


def test_an_argos_package_is_used_as_any_model(home, tmp_path):
    packed(tmp_path / "a.argosmodel", home, [spm(home)])
    data = tmp_path / "data"
    data.mkdir()
    for split in ("val", "test"):
        for language, lines in (("en", SOURCES), ("fr", TARGETS)):
            (data / f"{split}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (data / "val.en-fr.links").write_text("0-0\n0-0 1-1\n0-0\n1-0\n")
    model = tmp_path / "ours"
    told = call("import", tmp_path / "a.argosmodel", "--out", model, "--data", data)
    assert "cuts the source alone" in told.stderr and "alignments are read from layer" in told.stderr
    assert json.loads((model / "alignment.json").read_text())["measure"] == "AER"
    assert (model / "README.md").read_text().startswith("# Imported from an Argos package: en to fr\n")
    out = call("translate", model, "--alignments", "hard", "--max-length", 7, text="\n".join(SOURCES)).stdout
    assert out.count("\n") == 4
    assert call("align", model, data / "test.en", data / "test.fr").stdout.count("\n") == 4
    call("show", model, SOURCES[0], "--out", tmp_path / "x.html")
    assert json.loads(call("evaluate", model, "--data", data, "--json").stdout)


def test_an_unpacked_package_is_one_too(home, tmp_path):
    argos.unpack(packed(tmp_path / "a.argosmodel", home, [spm(home)]), _made(tmp_path / "room"))
    import_model(tmp_path / "room", tmp_path / "ours")
    assert Translator.load(tmp_path / "ours").source.encode_ids(["x"])[0][-1] != END


def _made(folder):
    folder.mkdir()
    return folder


def test_nothing_is_written_outside_of_its_place(home, tmp_path):
    evil = [("../../evil.txt", "x"), ("/tmp/evil-of-regard", "x"), ("translate-en_fr/../../evil.bin", "x")]
    evil += [("translate-en_fr/model/../../../evil.json", "x"), ("translate-en_fr/model/other.so", "x")]
    packed(tmp_path / "a.argosmodel", home, [spm(home), *evil])
    room = _made(tmp_path / "deep") / "room"
    argos.unpack(tmp_path / "a.argosmodel", _made(room))
    assert {each.name for each in room.rglob("*") if each.is_file()} == {
        "metadata.json", "README.md", "sentencepiece.model", "model.bin", "config.json", "shared_vocabulary.json",
    }  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["a.argosmodel", "deep"] or len([*tmp_path.iterdir()]) == 2


BAD = [
    ([("translate-en_fr/bpe.model", "x")], {}, UsageError, "bpe.model"),
    ([], {}, ModelError, "holds no tokenizer"),
    ([], {"type": "sbd"}, UsageError, "sbd"),
    ([], {"target_prefix": "__fr__"}, UsageError, "begin with a given piece"),
    ([("translate-en_fr/sentencepiece.model", bytes(9 << 20))], {}, ModelError, "too many"),
    ([("translate-en_fr/sentencepiece.model", b"abc")], {}, ModelError, "SentencePiece"),
    ([("b/metadata.json", "{}"), ("b/model/model.bin", "x")], {}, ModelError, "found 2"),
]


@pytest.mark.parametrize(("names", "told", "error", "words"), BAD)
def test_packages_that_cannot_be_imported_are_told(home, names, told, error, words, tmp_path):
    packed(tmp_path / "a.argosmodel", home, names, told)
    with pytest.raises(error, match=words):
        import_model(tmp_path / "a.argosmodel", tmp_path / "ours")
    assert [each.name for each in tmp_path.iterdir()] == ["a.argosmodel"]


def test_what_is_no_package_is_told(tmp_path, monkeypatch, home):
    (tmp_path / "a.argosmodel").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(ModelError, match="no Argos package"):
        import_model(tmp_path / "a.argosmodel", tmp_path / "ours")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ModelError, match="config.json"):
        import_model(tmp_path / "a.txt", tmp_path / "ours")
    monkeypatch.setattr(argos, "LARGEST", 10_000)
    with pytest.raises(ModelError, match="too many"):
        import_model(packed(tmp_path / "b.argosmodel", home, [spm(home)]), tmp_path / "ours")


def change(**settings):
    def changed(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **settings}))

    return changed


def cut(folder):
    (folder / "model.bin").write_bytes((folder / "model.bin").read_bytes()[:-5000])


def whisper(folder):
    found = files.read_binary(folder / "model.bin")
    files.write_binary(files.Binary(6, "WhisperSpec", 3, found.variables, found.aliases), folder / "other")
    (folder / "other").replace(folder / "model.bin")


FOLDERS = [
    (cut, ModelError, "ends in the middle"),
    (whisper, UsageError, "WhisperSpec"),
    (lambda folder: (folder / "model.bin").write_bytes(b"\x63\0\0\0"), ModelError, "its version is 99"),
    (lambda folder: (folder / "source.spm").unlink(), ModelError, "holds no tokenizer"),
    (lambda folder: (folder / "shared_vocabulary.json").unlink(), ModelError, "no vocabulary"),
    (lambda folder: (folder / "shared_vocabulary.json").write_text("{}"), ModelError, "list of pieces"),
    (lambda folder: (folder / "shared_vocabulary.json").write_text('["</s>", "<unk>"]'), ModelError, "found 2"),
    (lambda folder: (folder / "export.json").write_text("{}"), UsageError, "ours already"),
    (change(add_source_bos=True), UsageError, "begin with a piece"),
    (change(decoder_start_token=None), UsageError, "first piece"),
    (change(eos_token="<end>"), ModelError, "<end>"),
]


@pytest.mark.parametrize(("spoil", "error", "words"), FOLDERS)
def test_folders_that_cannot_be_imported_are_told(theirs, spoil, error, words, tmp_path):
    spoil(theirs)
    with pytest.raises(error, match=words):
        import_model(theirs, tmp_path / "ours")
    assert [each.name for each in tmp_path.iterdir()] == ["theirs"]


def test_a_text_file_of_pieces_is_read_too(home, theirs, tmp_path):
    names = json.loads((theirs / "shared_vocabulary.json").read_text())
    (theirs / "shared_vocabulary.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (theirs / "shared_vocabulary.json").unlink()
    import_model(theirs, tmp_path / "ours")
    for name in ("pieces.json", "source.tokenizer.json"):
        assert (tmp_path / "ours" / name).read_text() == (home / "ours" / name).read_text()


def test_it_is_not_written_over_something_else(theirs, tmp_path):
    (_made(tmp_path / "ours") / "mine.txt").write_text("mine")
    with pytest.raises(RegardError, match="not empty"):
        import_model(theirs, tmp_path / "ours")
    assert [each.name for each in (tmp_path / "ours").iterdir()] == ["mine.txt"]
