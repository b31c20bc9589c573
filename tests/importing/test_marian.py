"""Marian, imported: the same pieces, states, looks, scores and outputs as `transformers` and SentencePiece have."""

import json
import math
import random
import shutil
import unicodedata

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

from imports import LINES, SEEN, drawn, learnt, marian
from regard.cli import app
from regard.data.languages import read_languages
from regard.data.padding import pad
from regard.data.tokenizer import END, PAD, START, UNKNOWN, Tokenizer
from regard.embed.position import sinusoid
from regard.errors import ModelError, UsageError
from regard.hooks import Looked, hook
from regard.importing import import_model
from regard.importing.cutting import tokenizer_text
from regard.importing.spiece import read_spiece
from regard.search import Options
from regard.translate.translator import SILENT, Translator
from regard.types import Padded

transformers = pytest.importorskip("transformers", reason="parity is measured where transformers is installed")
sentencepiece = pytest.importorskip("sentencepiece", reason="it writes the vocabularies, and is what they are held to")
pytestmark = pytest.mark.filterwarnings("default")
OPUS = {
    "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_ffn_dim": 40, "decoder_ffn_dim": 28,
    "encoder_attention_heads": 4, "decoder_attention_heads": 3, "activation_function": "swish", "scale_embedding": True,
}  # fmt: skip
OTHER = {
    **OPUS, "d_model": 15, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 5,
    "activation_function": "relu", "scale_embedding": False, "tie_word_embeddings": False,
    "share_encoder_decoder_embeddings": False,
}  # fmt: skip
# Added to the end's score: outputs end by themselves then. Where a limit ends them, transformers asks for no end.
ENDS = {OPUS["d_model"]: 5.0, OTHER["d_model"]: 2.0}
STRANGE = [
    "  two   spaces and\ttabs ", "ﬁne ① ½ \uff12\uff13 ", "日本語 foo", "日", "a\u00a0b\u3000c", ">>fra<< The fox",
    "€ 1,234.50",
    "ـعـربيـة، ٣ أشياء؟", "がぎぐ は", "", " ", *(unicodedata.normalize("NFD", line) for line in LINES[:5]),
]  # fmt: skip


def made(folder, settings, kind="unigram"):
    """A folder as Hugging Face writes it, and the model in it."""
    folder.mkdir()
    sizes = marian(folder, sentencepiece, kind, separate=settings.get("share_encoder_decoder_embeddings") is False)
    last = min(sizes) - 1  # the number of the padding must be there on both sides
    config = transformers.MarianConfig(
        vocab_size=sizes[0], decoder_vocab_size=sizes[-1], pad_token_id=last, decoder_start_token_id=last,
        attn_implementation="eager", max_position_embeddings=64, **settings,
    )  # fmt: skip
    model = drawn(transformers.MarianMTModel(config))
    for stack in (model.model.encoder, model.model.decoder):
        stack.embed_positions.weight.data = stack.embed_positions.create_weight()
    model.final_logits_bias.normal_(0, 0.5)
    model.final_logits_bias[0, 0] += ENDS[settings["d_model"]]
    model.save_pretrained(folder)
    return model


@pytest.fixture(scope="module", params=["opus", "other"])
def imported(request, tmp_path_factory):
    """Their model, ours, and for source and target the number that each of our pieces had."""
    home = tmp_path_factory.mktemp(request.param)
    theirs = made(home / "theirs", OPUS if request.param == "opus" else OTHER)
    import_model(home / "theirs", home / "ours")
    ours = Translator.load(home / "ours")
    return theirs, ours, [numbers(home / "theirs", theirs.config, side) for side in ("source", "target")]


def numbers(folder, config, side):
    name = "target_vocab.json" if side == "target" and not config.share_encoder_decoder_embeddings else "vocab.json"
    known = json.loads((folder / name).read_text())
    tokenizer = Tokenizer.load(folder.parent / "ours" / f"{side}.tokenizer.json")
    special = {PAD: config.pad_token_id, START: config.decoder_start_token_id, END: 0, UNKNOWN: known["<unk>"]}
    pieces = [tokenizer.backend.id_to_token(place).removeprefix(" ") for place in range(len(tokenizer))]
    found = [special.get(place, known.get(piece)) for place, piece in enumerate(pieces)]
    size = config.vocab_size if side == "source" else config.decoder_vocab_size
    unnamed = set(range(size)) - set(found)  # such as a padding that is not the last
    return [unnamed.pop() if number is None else number for number in found]


def both(ids, order):
    return torch.tensor(order)[ids]


def states_of(stack, run):
    """What comes out of each layer."""
    found = []
    taken = lambda *call: found.append(call[2][0] if isinstance(call[2], tuple) else call[2])  # noqa: E731
    handles = [layer.register_forward_hook(taken) for layer in stack.layers]
    with torch.no_grad():
        result = run()
    for each in handles:
        each.remove()
    return found, result


@pytest.mark.parametrize("left", [False, True])
def test_every_state_look_and_score_is_that_of_transformers(imported, left):
    theirs, ours, (source_order, target_order) = imported
    read = pad([[*ids, END] for ids in ours.source.encode_ids(SEEN)])
    if left:
        read = Padded(read.data.flip(1), read.mask.flip(1))
    written = pad([[START, *ids][:23] for ids in ours.target.encode_ids(SEEN)])
    with torch.no_grad():
        wanted = theirs(
            input_ids=both(read.data, source_order), attention_mask=read.mask.long(),
            decoder_input_ids=both(written.data, target_order), decoder_attention_mask=written.mask.long(),
            output_hidden_states=True, output_attentions=True,
        )  # fmt: skip
    seen = []
    with hook(Looked, lambda event: seen.append(event.weights)):
        encoded, memory = states_of(ours.model.encode, lambda: ours.model.read(read))
        decoded, taught = states_of(ours.model.predict, lambda: ours.model.predict.teach(written, memory))
    for one, other in zip(encoded, wanted.encoder_hidden_states[1:], strict=True):
        assert torch.allclose(one[read.mask], other[read.mask], atol=1e-4)
    for one, other in zip(decoded, wanted.decoder_hidden_states[1:], strict=True):
        assert torch.allclose(one[written.mask], other[written.mask], atol=1e-4)
    looks = [*wanted.encoder_attentions]
    for pair in zip(wanted.decoder_attentions, wanted.cross_attentions, strict=True):
        looks += pair
    for place, (one, other) in enumerate(zip(seen, looks, strict=True)):
        rows = (read if place < len(encoded) else written).mask[:, None, :, None].expand_as(one)
        assert torch.allclose(one[rows], other[rows], atol=1e-4), place
    real = [place for place in range(len(target_order)) if place != START]
    scores = wanted.logits[..., [target_order[place] for place in real]]
    assert torch.allclose(taught.logits[..., real][written.mask], scores[written.mask], atol=1e-4)
    assert bool((taught.logits[..., START] < -1e8).all())


@pytest.mark.parametrize("beam", [1, 3])
def test_generation_is_that_of_transformers(imported, beam):
    theirs, ours, (source_order, target_order) = imported
    lines = LINES[:6]
    read = pad([[*ids, END] for ids in ours.source.encode_ids(lines)])
    never = [[target_order[piece]] for piece in (PAD, UNKNOWN)]
    told = theirs.generate(
        both(read.data, source_order), attention_mask=read.mask.long(), num_beams=beam, do_sample=False,
        length_penalty=0.0, max_new_tokens=40, min_new_tokens=3, bad_words_ids=never,
    )  # fmt: skip
    options = Options(beam=beam, alpha=0.0, max_length=39, stretch=math.inf, avoid=SILENT, min_length=3)
    for row, ids in enumerate(told[:, 1:].tolist()):
        source = read.data[row][read.mask[row]].tolist()
        found = ours.engine.search([source], options, record=False)[0][0].ids
        assert [target_order[each] for each in found] == ids[: ids.index(0)], lines[row]


def cut_alike(spm, names, known, lines, folder):
    """Are these lines cut as SentencePiece cuts them, and numbered as the vocabulary does?"""
    (folder / "made.json").write_text(tokenizer_text(read_spiece(spm), names, "here"), encoding="utf-8")
    ours = Tokenizer.load(folder / "made.json")
    assert len(ours) == len(names)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(spm))
    for line in lines:
        found = [names[each] for each in ours.encode_ids([line])[0]]
        wanted = [piece if piece in known else "<unk>" for piece in theirs.encode(line, out_type=str)]
        assert found == wanted, line
        pieces = ours.encode(line)
        assert [names[each] for each in pieces.ids] == found
        assert not pieces.ids or "".join(pieces.pieces) == line
        if "<unk>" not in found:
            assert ours.decode(pieces.ids) == theirs.decode(found)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_pieces_are_those_of_sentencepiece_and_transformers(kind, tmp_path):
    made(tmp_path / "theirs", OPUS, kind)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, theirs = Translator.load(tmp_path / "ours"), transformers.MarianTokenizer.from_pretrained(tmp_path / "theirs")
    known = json.loads((tmp_path / "theirs" / "vocab.json").read_text())
    config = transformers.MarianConfig.from_pretrained(tmp_path / "theirs")
    order = numbers(tmp_path / "theirs", config, "source")
    draw, letters = random.Random(1), "".join(LINES[:6]) + "  \t\u3000ﬁ①½\uff21\uff42٣،؟\u200b\u00ad…€日中é"
    lines = [*SEEN, *STRANGE, *("".join(draw.choices(letters, k=19)) for _ in range(200))]
    for side, given in (("source", "text"), ("target", "text_target")):
        for line in lines:
            found = [order[each] for each in getattr(ours, side).encode_ids([line])[0]]
            assert [*found, 0] == theirs(**{given: line})["input_ids"], line
        names = [getattr(ours, side).backend.id_to_token(place).removeprefix(" ") for place in range(len(ours.source))]
        plain = [line for line in lines if ">>" not in line]
        cut_alike(tmp_path / "theirs" / f"{side}.spm", names, known, plain, tmp_path)
    # A piece of the other language keeps its number; one that the vocabulary lacks is unknown.
    other = next(piece for piece in known if "\u3040" < piece < "\ua000" and len(piece) == 1)
    assert order[ours.source.encode_ids([other])[0][-1]] == known[other]
    assert ours.source.encode_ids(["ж"])[0][-1] == UNKNOWN
    assert not {PAD, START, END} & {*ours.source.encode_ids(["<s> a </s> <pad> b"])[0]}


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize(
    "settings",
    [
        {"byte_fallback": True, "vocab_size": 400},
        {"add_dummy_prefix": False, "remove_extra_whitespaces": False, "normalization_rule_name": "identity"},
        {"normalization_rule_name": "nmt_nfkc_cf", "user_defined_symbols": ["fox"]},
    ],
)
def test_other_models_of_sentencepiece_are_cut_alike(kind, settings, tmp_path):
    made = learnt(tmp_path / "some.spm", sentencepiece, LINES, model_type=kind, **settings)
    names = ["<pad>", "<s>", "</s>", "<unk>"]
    pieces = [made.id_to_piece(place) for place in range(len(made))]
    names += sorted({*pieces} - {*names}, key=lambda piece: (piece.startswith("<0x"), piece))
    if kind == "bpe" and "user_defined_symbols" in settings:
        with pytest.raises(UsageError, match="symbols of somebody's own"):
            tokenizer_text(read_spiece(tmp_path / "some.spm"), names, "here")
        return
    lines = [*SEEN, "a  b ", "x\ty"] if "add_dummy_prefix" in settings else [*SEEN, *STRANGE[:5]]
    cut_alike(tmp_path / "some.spm", names, {*pieces}, lines, tmp_path)


def call(*words, text=None):
    done = CliRunner().invoke(app, [str(word) for word in words], input=text)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_can_be_done_with_our_own_models_can_be_done_with_it(tmp_path):
    made(tmp_path / "theirs", OPUS)
    assert "regard translate" in call("import", tmp_path / "theirs", "--out", tmp_path / "ours")
    assert read_languages(tmp_path / "ours") == ("en", "fr")
    assert "layer 2, mean of all heads, read one step later" in str(Translator.load(tmp_path / "ours").aligner)
    model, text = tmp_path / "ours", "\n".join(LINES[:3])
    lines = call("translate", model, "--alignments", "hard", "--max-length", 7, text=text)
    assert lines.count("\n") == 3
    (tmp_path / "data").mkdir()
    files = [tmp_path / "data" / name for name in ("test.en", "test.fr")]
    for path, rows in zip(files, (LINES[:3], LINES[2:5]), strict=True):
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert call("align", model, *files).count("\n") == 3
    for suffix in ("html", "png"):
        call("show", model, LINES[0], "--target", LINES[2], "--out", tmp_path / f"x.{suffix}")
    told = call("evaluate", model, "--data", tmp_path / "data", "--json")
    assert json.loads(told)
    for engine in ("ctranslate2", "torch"):
        call("export", model, "--to", engine, "--out", tmp_path / engine)
        assert call("translate", tmp_path / engine, "--max-length", 7, text=text).count("\n") == 3


def test_a_bin_with_positions_gives_the_same(tmp_path):
    theirs = made(tmp_path / "theirs", OPUS)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    (tmp_path / "theirs" / "model.safetensors").unlink()
    torch.save(theirs.state_dict(), tmp_path / "theirs" / "pytorch_model.bin")
    import_model(tmp_path / "theirs", tmp_path / "again")
    one, other = (load_file(tmp_path / each / "weights.safetensors") for each in ("ours", "again"))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_positions_in_halves_by_hand():
    table = sinusoid(0, 3, 4, "halves")
    assert torch.allclose(table[2], torch.tensor([math.sin(2), math.sin(0.02), math.cos(2), math.cos(0.02)]))
    assert sinusoid(0, 3, 5, "halves").shape == (3, 5)


def change(**settings):
    def changed(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **settings}))

    return changed


def own_positions(folder):
    weights = load_file(folder / "model.safetensors")
    save_file({**weights, "model.encoder.embed_positions.weight": torch.ones(64, 24)}, folder / "model.safetensors")


BAD = [
    (lambda folder: (folder / "target.spm").unlink(), ModelError, "target.spm"),
    (lambda folder: (folder / "vocab.json").unlink(), ModelError, "vocab.json"),
    (lambda folder: (folder / "vocab.json").write_text('{"a": "b"}'), ModelError, "vocab.json"),
    (lambda folder: (folder / "source.spm").write_bytes(b"\x0a\xff"), ModelError, "SentencePiece"),
    (change(normalize_before=True), UsageError, "normalize_before"),
    (change(activation_function="tanh"), UsageError, "tanh"),
    (change(architectures=["MarianForCausalLM"]), UsageError, "MarianForCausalLM"),
    (change(share_encoder_decoder_embeddings=False), UsageError, "separate_vocabs"),
    (change(pad_token_id=1000), ModelError, "1000"),
    (change(decoder_layers="three"), ModelError, "decoder_layers"),
    (change(eos_token_id=[0, 1]), UsageError, "eos_token_id"),
    (own_positions, UsageError, "positions"),
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "theirs"
    made(folder, OPUS)
    return folder


@pytest.mark.parametrize(("spoil", "error", "told"), BAD)
def test_what_cannot_be_imported_is_told_and_leaves_nothing(sound, spoil, error, told, tmp_path):
    shutil.copytree(sound, tmp_path / "theirs")
    spoil(tmp_path / "theirs")
    with pytest.raises(error, match=told):
        import_model(tmp_path / "theirs", tmp_path / "ours")
    assert [each.name for each in tmp_path.iterdir()] == ["theirs"]
