"""Models of Hugging Face, imported: the same pieces, states, looks and scores as `transformers` has of the files."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from imports import LINES, SEEN, byte_level, drawn, spiece, wordpiece
from regard.data.tokenizer import END, START
from regard.errors import DownloadError, MissingData, ModelError, RegardError, UsageError
from regard.hooks import Looked, hook
from regard.importing import import_model

transformers = pytest.importorskip("transformers", reason="parity is measured where transformers is installed")
pytestmark = pytest.mark.filterwarnings("default")
BASE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
SHAPES = [BASE, {**BASE, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 1, "hidden_act": "relu"}]


def vocabulary(folder, family):
    if family == "bert":
        return wordpiece(folder)
    if family == "albert":
        return spiece(folder, pytest.importorskip("sentencepiece", reason="writes the vocabulary of ALBERT"))
    if family == "roberta":
        return byte_level(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "RobertaTokenizer")
    return byte_level(folder, ["<|endoftext|>"], "GPT2Tokenizer")


def made(folder, architecture, **settings):
    """A folder as Hugging Face writes it, and the model in it."""
    folder.mkdir(exist_ok=True)
    family = next(each for each in ("roberta", "albert", "bert", "gpt2") if architecture.lower().startswith(each))
    size = vocabulary(folder, family)
    named = {"bert": "Bert", "roberta": "Roberta", "albert": "Albert", "gpt2": "GPT2"}[family]
    if family == "roberta":
        settings = {"max_position_embeddings": 50, "type_vocab_size": 1, "pad_token_id": 1, **settings}
    config = getattr(transformers, f"{named}Config")(
        vocab_size=size, attn_implementation="eager", **{"max_position_embeddings": 48, **settings}
    )
    model = drawn(getattr(transformers, architecture)(config))
    model.save_pretrained(folder)
    return model


def theirs_tokenizer(folder):
    return transformers.AutoTokenizer.from_pretrained(folder)


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def looked(model, batch):
    """The memory, and what every layer looked at."""
    seen = []
    with torch.no_grad(), hook(Looked, lambda event: seen.append(event.weights)):
        memory = model.read(batch)
    return memory, seen


def states_of(model, batch):
    """What comes out of each layer, in order, also of one that is gone through again and again."""
    found = []
    handles = [each.register_forward_hook(lambda *call: found.append(call[2])) for each in model.encode.layers]
    with torch.no_grad():
        model.read(batch)
    for each in handles:
        each.remove()
    return found


ENCODERS = [
    "BertForMaskedLM", "BertForPreTraining", "RobertaForMaskedLM", "AlbertForMaskedLM", "AlbertForPreTraining",
]  # fmt: skip


def asked(tokenizer, lines):
    return tokenizer(lines, return_tensors="pt", padding=True)


@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.parametrize("architecture", ENCODERS)
def test_a_filler_computes_what_transformers_does(architecture, shape, tmp_path):
    settings = dict(SHAPES[shape])
    if settings.get("hidden_act") == "relu" and not architecture.startswith("Roberta"):
        settings["hidden_act"] = "gelu_new"
    theirs = made(tmp_path / "theirs", architecture, **settings)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    batch = ours.source.collate(ours.source.encode(SEEN))
    given = asked(tokenizer, SEEN)
    mask = batch.mask
    assert torch.equal(given["attention_mask"].bool(), mask)  # as many pieces; which ones is another test
    with torch.no_grad():
        wanted = theirs(**given, output_hidden_states=True, output_attentions=True)
        found = ours.model.predict(ours.model.read(batch))
    memory, seen = looked(ours.model, batch)
    assert torch.allclose(memory.values[mask], wanted.hidden_states[-1][mask], atol=1e-4)
    for one, other in zip(states_of(ours.model, batch), wanted.hidden_states[1:], strict=True):
        assert torch.allclose(one[mask], other[mask], atol=1e-4)
    for one, other in zip(seen, wanted.attentions, strict=True):
        rows = mask[:, None, :, None].expand_as(one)
        assert torch.allclose(one[rows], other[rows], atol=1e-4)
    logits = wanted.logits if hasattr(wanted, "logits") else wanted.prediction_logits
    places = ours_order(tmp_path / "ours", tokenizer)
    assert torch.allclose(found.logits[mask], logits[mask][:, places], atol=1e-4)
    if architecture.endswith("ForPreTraining"):
        pair = wanted.get("seq_relationship_logits", wanted.get("sop_logits"))
        assert torch.allclose(found.follows, pair.flip(-1), atol=1e-4)


def ours_order(folder, tokenizer):
    """The number that each of our pieces has in their vocabulary."""
    ours = regard.load(folder).source.tokenizer.backend
    names = {"<pad>": tokenizer.pad_token, "<s>": tokenizer.cls_token, "</s>": tokenizer.sep_token}
    names |= {"<unk>": tokenizer.unk_token, "[MASK]": tokenizer.mask_token}
    pieces = [ours.id_to_token(place) for place in range(ours.get_vocab_size())]
    return [tokenizer.convert_tokens_to_ids(names.get(each, each)) for each in pieces]


@pytest.mark.parametrize("architecture", ["BertForMaskedLM", "RobertaForMaskedLM", "AlbertForMaskedLM"])
def test_an_encoders_pieces_are_those_of_transformers(architecture, tmp_path):
    made(tmp_path / "theirs", architecture, **BASE)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    order = ours_order(tmp_path / "ours", tokenizer)
    assert len(set(order)) == len(order) == len(tokenizer)
    hole = f"The {tokenizer.mask_token} fox été {tokenizer.mask_token}."
    for line, wanted in [*((line, line) for line in SEEN), ("The [MASK] fox été [MASK].", hole)]:
        ids = ours.source.collate(ours.source.encode([line])).data[0].tolist()
        assert [order[each] for each in ids] == tokenizer(wanted)["input_ids"], line
        assert ids[0] == START and ids[-1] == END
        pieces = ours.source.tokenizer.encode(line)
        assert "".join(pieces.pieces) == line


@pytest.mark.parametrize("shape", [{}, {"n_layer": 3, "n_inner": 20, "activation_function": "relu"}])
def test_gpt2_computes_and_writes_what_transformers_does(shape, tmp_path):
    theirs = made(tmp_path / "theirs", "GPT2LMHeadModel", **{"n_embd": 24, "n_layer": 2, "n_head": 4, **shape})
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    backend = ours.target.tokenizer.backend
    pieces = [backend.id_to_token(place) for place in range(backend.get_vocab_size())]
    order = [tokenizer.get_vocab().get("<|endoftext|>" if each == "</s>" else each, -1) for each in pieces]
    assert [order[place] for place in range(4)] == [-1, -1, 0, -1]
    for line in [*SEEN, "two\n\nlines\n"]:
        if line:
            ids = ours.target.tokenizer.encode(line).ids
            assert [order[each] for each in ids] == tokenizer(line)["input_ids"], line
            assert ours.target.tokenizer.decode(ids) == line
    ids = [END, *ours.target.tokenizer.encode(LINES[0]).ids][:40]
    given = torch.tensor([[order[each] for each in ids]])
    seen, states = [], []
    for layer in ours.model.predict.layers:
        layer.register_forward_hook(lambda *call: states.append(call[2][0]))
    with torch.no_grad(), hook(Looked, lambda event: seen.append(event.weights)):
        wanted = theirs(given, output_attentions=True, output_hidden_states=True)
        from regard.data.padding import pad

        taught = ours.model.predict.teach(pad([ids]), ours.model.nothing_read(1))
    real = [place for place, old in enumerate(order) if old >= 0]
    assert torch.allclose(taught.logits[..., real], wanted.logits[..., [order[each] for each in real]], atol=1e-4)
    assert len(seen) == len(wanted.attentions)
    for one, other in zip(seen, wanted.attentions, strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    for one, other in zip(states[:-1], wanted.hidden_states[1:-1], strict=True):
        assert torch.allclose(one, other, atol=1e-4)
    for prompt in ("The quick", "日本", "Où est"):
        start = torch.tensor([[0, *tokenizer(prompt)["input_ids"]]])
        all_seen = torch.ones_like(start)
        told = theirs.generate(start, attention_mask=all_seen, max_new_tokens=12, do_sample=False, pad_token_id=0)
        found = ours.generate(prompt, greedy=True, max_length=12)
        assert found.continuation == tokenizer.decode(told[0, start.shape[1] :], skip_special_tokens=True)


@pytest.mark.parametrize("architecture", ["Bert", "Roberta", "Albert"])
def test_a_classifier_gives_the_probabilities_of_transformers(architecture, tmp_path):
    labels = {"id2label": {0: "bad", 1: "good", 2: "neither"}, "label2id": {"bad": 0, "good": 1, "neither": 2}}
    theirs = made(tmp_path / "theirs", f"{architecture}ForSequenceClassification", **BASE, **labels)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    with torch.no_grad():
        wanted = theirs(**asked(tokenizer, SEEN)).logits
        found = ours.model.label(ours.source.collate(ours.source.encode(SEEN))).logits
    assert torch.allclose(found, wanted, atol=1e-4)
    assert [each.text for each in ours.answer(SEEN)] == [
        labels["id2label"][each] for each in wanted.argmax(-1).tolist()
    ]


def test_a_bin_gives_what_safetensors_give(tmp_path):
    theirs = made(tmp_path / "one", "BertForMaskedLM", **BASE)
    import_model(tmp_path / "one", tmp_path / "ours")
    torch.save(theirs.state_dict(), tmp_path / "one" / "pytorch_model.bin")
    (tmp_path / "one" / "model.safetensors").unlink()
    import_model(tmp_path / "one", tmp_path / "again")
    assert_same_models(tmp_path / "ours", tmp_path / "again")


def assert_same_models(one, other):
    """Bit for bit."""
    ours, again = (load_file(each / "weights.safetensors") for each in (one, other))
    assert ours.keys() == again.keys() and all(torch.equal(ours[name], again[name]) for name in ours)
    for path in one.glob("*.json"):
        assert json.loads(path.read_text()) == json.loads((other / path.name).read_text())


class Code:
    def __reduce__(self):
        return print, ("a file ran code",)


def test_a_bin_runs_no_code(tmp_path, capsys):
    made(tmp_path / "one", "BertForMaskedLM", **BASE)
    (tmp_path / "one" / "model.safetensors").unlink()
    torch.save({"x": Code()}, tmp_path / "one" / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be read"):
        import_model(tmp_path / "one", tmp_path / "ours")
    assert "a file ran code" not in capsys.readouterr().out


def cut(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def without_weight(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["bert.encoder.layer.1.output.dense.bias"]
    save_file(weights, folder / "model.safetensors")


def renamed(**changes):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    return change


def gone(name):
    return lambda folder: (folder / name).unlink()


BAD = [
    (gone("config.json"), ModelError, "config.json"),
    (renamed(model_type="xlnet", architectures=["XLNetModel"]), UsageError, "xlnet.*XLNetModel"),
    (renamed(architectures=["BertForQuestionAnswering"]), UsageError, "BertForQuestionAnswering"),
    (renamed(architectures=["BertModel"]), UsageError, "BertModel"),
    (renamed(hidden_act="swish"), UsageError, "swish"),
    (renamed(intermediate_size=41), ModelError, "feed"),
    (gone("model.safetensors"), ModelError, "holds no weights"),
    (without_weight, ModelError, "encoder.layer.1.output.dense.bias"),
    (cut, ModelError, "cannot be read"),
    (gone("vocab.txt"), ModelError, "holds no tokenizer"),
    (lambda folder: (folder / "config.json").write_text("{"), ModelError, "JSON"),
]


@pytest.mark.parametrize(("spoil", "error", "told"), BAD)
def test_what_cannot_be_imported_is_told_and_leaves_nothing(spoil, error, told, tmp_path):
    made(tmp_path / "theirs", "BertForMaskedLM", **BASE)
    spoil(tmp_path / "theirs")
    with pytest.raises(error, match=told):
        import_model(tmp_path / "theirs", tmp_path / "ours")
    assert [each.name for each in tmp_path.iterdir()] == ["theirs"]


def test_a_path_or_name_that_is_none_is_told(tmp_path):
    with pytest.raises(MissingData, match="expected a folder"):
        import_model(tmp_path / "nowhere", tmp_path / "ours")
    with pytest.raises(DownloadError, match="nobody/nothing"):
        import_model("nobody/nothing", tmp_path / "ours")
    with pytest.raises(RegardError):
        import_model(tmp_path, tmp_path)
