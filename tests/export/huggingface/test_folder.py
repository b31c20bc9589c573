"""Export for transformers: it loads what was written, cuts text as we do, and computes what we do."""

import json

import pytest
import torch

import regard
from imports import BASE, LINES, SEEN, made, theirs_tokenizer
from regard.data.running import encode_running
from regard.data.sides.segments import Segments
from regard.data.sides.text import Text
from regard.data.tokenizer import END
from regard.errors import MissingData, ModelError, UnknownName, UsageError
from regard.export.huggingface import export
from regard.export.request import Wish
from regard.importing import import_model
from regard.model import load, save
from regard.recipe import resolve

transformers = pytest.importorskip("transformers", reason="parity is measured where transformers is installed")
pytestmark = pytest.mark.filterwarnings("default")

IMPORTED = [
    *("BertForMaskedLM", "BertForPreTraining", "BertModel", "BertForTokenClassification"),
    *("RobertaForMaskedLM", "RobertaModel", "RobertaForSequenceClassification"),
    *("AlbertForPreTraining", "AlbertForSequenceClassification", "GPT2LMHeadModel"),
]


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def loaded(folder):
    """As anyone would open it."""
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    model = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager")
    return model.eval(), theirs_tokenizer(folder)


@pytest.mark.parametrize("architecture", IMPORTED)
def test_what_was_imported_goes_back_as_it_came(architecture, tmp_path):
    shape = {"n_embd": 24, "n_layer": 2, "n_head": 4} if architecture.startswith("GPT") else BASE
    theirs = made(tmp_path / "theirs", architecture, **shape)
    import_model(tmp_path / "theirs", tmp_path / "ours")
    found = export(tmp_path / "ours", tmp_path / "back")
    assert found.architecture == architecture and "bit for bit" in found.told()
    import_model(tmp_path / "back", tmp_path / "again")
    one, other = (load(tmp_path / each).state_dict() for each in ("ours", "again"))
    assert one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
    before, after = theirs_tokenizer(tmp_path / "theirs"), theirs_tokenizer(tmp_path / "back")
    hole = before.mask_token or "it"
    for line in [*SEEN, f"The {hole} fox, été {hole}."]:
        assert after(line)["input_ids"] == before(line)["input_ids"], line
        assert after(line, "two")["input_ids"] == before(line, "two")["input_ids"], line
    assert (after.pad_token_id, len(after)) == (before.pad_token_id, len(before))
    again, _ = loaded(tmp_path / "back")
    given = {name: torch.tensor([ids]) for name, ids in after(LINES[0]).items()}
    with torch.no_grad():
        for right, wrong in zip(theirs(**given).to_tuple(), again(**given).to_tuple(), strict=True):
            if torch.is_tensor(right):
                assert torch.allclose(right, wrong, atol=1e-5)


SMALL = ("embed.width=12", "encode.layers=2", "encode.feed=17", "encode.attend.heads=3", "embed.position.longest=97")
GPT = (
    *("predict.embed.width=12", "predict.layers=2", "predict.feed=17", "predict.self_attend.heads=3"),
    "predict.embed.position.longest=97",
)
TAGS = ["DET", "NOUN", "VERB"]
ENCODE = ("task.verb=encode", "task.target=nothing", "task.goal=encode", "predict.part=vector")


def trained(folder, recipe, pieces, *settings):
    """A model of ours with weights drawn at random, and its tokenizer, in a folder."""
    goal, decoder = resolve(recipe, settings).task.settings["goal"].name, recipe == "gpt2"
    side = Text("target", pieces=pieces) if decoder else Segments("source", pieces=pieces)
    side.masked = goal == "fill"
    side.fit(LINES)
    size = len(side.tokenizer)
    classes = {"classify": 3, "tag": 3, "encode": 0}.get(goal, size)
    torch.manual_seed(7)
    narrow = ("embed.inner=8", "predict.inner=8") if recipe == "albert" else ()
    model = resolve(recipe, [*(GPT if decoder else SMALL), *narrow, *settings]).build(0 if decoder else size, classes)
    for weight in model.parameters():
        weight.data.add_(torch.randn_like(weight) * 0.2)
    files = side.files() | ({"target.classes.json": json.dumps(TAGS)} if classes == 3 else {})
    save(model, folder, files)
    return regard.load(folder)


OWN = [
    ("bert", "words", ()),
    ("bert", "bpe", ("predict.pair=false", "task.examples.pairs=none")),
    ("roberta", "unigram", ()),
    ("albert", "characters", ()),
    ("bert-classify", "unigram", ()),
    ("bert-classify", "bpe", ("embed.segments=0",)),
    ("bert-tag", "words", ()),
    ("bert-classify", "bpe", ENCODE),
]
HOLES = ["The [MASK] fox", "[MASK] brown [MASK].", "play[MASK]ing [MASK], [MASK] [MASK]", "[MASK]", " two [MASK]"]


@pytest.mark.parametrize(("recipe", "pieces", "settings"), OWN)
def test_an_encoder_that_was_trained_here_loads_there(recipe, pieces, settings, tmp_path):
    ours = trained(tmp_path / "ours", recipe, pieces, *settings)
    export(tmp_path / "ours", tmp_path / "out")
    theirs, tokenizer = loaded(tmp_path / "out")
    lines = [*SEEN, "</s> <s> is text", "", *(HOLES if ours.verb == "fill" else ["[MASK] is text"])]
    if ours.verb == "fill":
        lines.remove("</s> <s> is text")  # there the names of special pieces are these, so that holes can be written
    pairs = ["one text\tand another"] if ours.model.embed.segment is not None else []
    for line in [*lines, *pairs]:
        batch = ours.source.collate(ours.source.encode([line]))
        given = tokenizer(*line.split("\t"), return_tensors="pt")
        assert given["input_ids"].tolist() == batch.data.tolist(), line
        with torch.no_grad():
            wanted, memory = theirs(**given), ours.model.read(batch)
            if ours.verb == "encode":
                assert torch.allclose(wanted.last_hidden_state, memory.values, atol=1e-4)
                continue
            found = ours.model.predict(memory)
        logits = wanted.prediction_logits if "prediction_logits" in wanted else wanted.logits
        assert torch.allclose(logits, found.logits, atol=1e-4), line
        if getattr(found, "follows", None) is not None:
            told = wanted.get("seq_relationship_logits", wanted.get("sop_logits"))
            assert torch.allclose(told.flip(-1), found.follows, atol=1e-4)
    if ours.verb in ("classify", "tag"):
        assert theirs.config.id2label == dict(enumerate(TAGS))
    import_model(tmp_path / "out", tmp_path / "again")
    again = regard.load(tmp_path / "again")
    assert again.source.tokenizer.encode_ids(SEEN) == ours.source.tokenizer.encode_ids(SEEN)


@pytest.mark.parametrize("pieces", ["bpe", "words", "characters"])
def test_a_language_model_that_was_trained_here_loads_there(pieces, tmp_path):
    ours = trained(tmp_path / "ours", "gpt2", pieces)
    export(tmp_path / "ours", tmp_path / "out")
    theirs, tokenizer = loaded(tmp_path / "out")
    for text in [*SEEN[:4], "two\nlines\n\nand  more\n", "", "</s>"]:
        ids = [END, *encode_running(ours.target.tokenizer, text).ids]
        assert tokenizer(text)["input_ids"] == ids, text
        given = torch.tensor([ids])
        with torch.no_grad():
            taught = ours.model.predict.teach(ours.target.collate([_framed(ids)]), ours.model.nothing_read(1))
            assert torch.allclose(theirs(given).logits, taught.logits, atol=1e-4)
        if pieces != "words":
            assert tokenizer.decode(ids, skip_special_tokens=True) == text
    given = tokenizer("The quick", return_tensors="pt")
    told = theirs.generate(**given, max_new_tokens=7, do_sample=False)[0, given["input_ids"].shape[1] :]
    wanted = ours.generate("The quick", greedy=True, max_length=7)
    assert [ours.target.tokenizer.said(piece) for piece in told.tolist()][: len(wanted.pieces)] == list(wanted.pieces)
    import_model(tmp_path / "out", tmp_path / "again")
    assert load(tmp_path / "again").state_dict().keys() == ours.model.state_dict().keys()


def _framed(ids):
    from regard.data.sides.text import Framed

    return Framed(tuple(ids))


def test_an_encoder_keeps_what_sentence_transformers_reads(tmp_path):
    trained(tmp_path / "ours", "bert-classify", "bpe", *ENCODE, "predict.pool=max", "predict.normalise=true")
    export(tmp_path / "ours", tmp_path / "out")
    modules = json.loads((tmp_path / "out" / "modules.json").read_text())
    assert [each["path"] for each in modules] == ["", "1_Pooling", "2_Normalize"]
    import_model(tmp_path / "out", tmp_path / "again")
    again = regard.load(tmp_path / "again").model.predict
    assert (again.pool, again.normalise) == ("max", True)


REFUSED = [
    ("gnmt", (), UsageError, "GNMT has no counterpart in transformers; bert, roberta, albert, gpt2 have .*translate"),
    ("classify", (), UsageError, "no counterpart.*encode: expected transformer; found recurrent"),
    ("lstm-lm", (), UsageError, "no counterpart.*predict: expected transformer; found"),
    ("bert", ("embed.position=sinusoid",), ModelError, "embed.position: expected learned; found sinusoid"),
    ("bert", ("encode.norm=before",), ModelError, 'encode.norm: expected "after"'),
    ("bert", ("embed.scale=true",), ModelError, "embed.scale: expected false"),
    ("bert", ("encode.attend.attend.score=additive",), ModelError, "score: expected scaled_dot; found additive"),
    ("bert", ("encode.activation=relu",), ModelError, "a head with relu; found gelu"),
    ("bert", ("embed.epsilon=1e-5",), ModelError, "epsilon: expected one for all norms; found 1e-12, 1e-05"),
    ("bert", ("embed.segments=0",), ModelError, "RoBERTa has no head for two texts"),
    ("bert", ("encode.attend.bias=false",), ModelError, "encode.attend.bias: expected true"),
    ("albert", ("encode.share_layers=false",), ModelError, "embed.inner: expected 0; found"),
    ("bert-classify", ("encode.summary=first",), ModelError, "a linear layer and tanh before the classes"),
    ("bert-classify", ("predict.pool=mean",), ModelError, 'predict.pool: expected "summary"; found "mean"'),
    ("gpt2", ("predict.norm=after",), ModelError, 'predict.norm: expected "before"'),
    ("gpt2", ("predict.embed.position=sinusoid",), ModelError, "expected learned; found sinusoid"),
    ("gpt2", ("predict.readout=linear",), ModelError, "predict.readout: expected tied"),
]


@pytest.mark.parametrize(("recipe", "settings", "error", "told"), REFUSED)
def test_what_has_no_counterpart_is_told_and_leaves_nothing(recipe, settings, error, told, tmp_path):
    from regard.export.huggingface.fitting import fitted

    made = resolve(recipe, settings)
    reads = made.task.settings["source"].name
    with pytest.raises(error, match=told):
        fitted(made.build(0 if reads == "nothing" else 37, 37), made, None)


def test_what_is_asked_wrongly_is_told(tmp_path):
    trained(tmp_path / "ours", "bert-tag", "words")
    with pytest.raises(UnknownName, match="int8"):
        export(tmp_path / "ours", tmp_path / "out", Wish("int8"))
    with pytest.raises(UsageError, match="for engines that translate"):
        export(tmp_path / "ours", tmp_path / "out", Wish("float32", ["a"]))
    with pytest.raises(MissingData, match="expected a model folder"):
        export(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(UsageError, match="holds the model"):
        export(tmp_path / "ours", tmp_path / "ours")
    (tmp_path / "ours" / "huggingface.json").write_text("{}")
    with pytest.raises(ModelError, match=r"huggingface.json cannot be read"):
        export(tmp_path / "ours", tmp_path / "out")
    assert [each.name for each in tmp_path.iterdir()] == ["ours"]
