"""A language model as a person uses it: what it writes, how likely text is to it, what it looked at."""

import itertools
import math
from pathlib import Path

import pytest
import torch

import regard
from answering import trained
from regard.data.running import encode_running
from regard.data.tokenizer import END, Tokenizer
from regard.errors import UsageError
from regard.evaluate.likelihood import Likelihood
from regard.evaluate.metrics import GENERATED
from regard.search import Options, Sampling
from regard.search.sampling import typical_set
from regard.tasks.generation import GenerateOptions
from regard.tasks.language_model import LanguageModel
from regard.tasks.scoring import piece_nll, windows
from regard.tasks.streaming import Emitter
from regard.tasks.using import TaskModel

TEXTS = ["the key near the doors is lost .", "the singers stay close .", "a", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A GPT-2 of blocks and an LSTM, each after a few updates."""
    return tmp_path_factory.mktemp("writers")


@pytest.fixture(scope="module")
def gpt(folder):
    return regard.load(trained(folder, "agreement"))


@pytest.fixture(scope="module")
def lstm(folder):
    return regard.load(trained(folder, "repeats"))


@pytest.fixture(params=["gpt", "lstm"])
def model(request):
    return request.getfixturevalue(request.param)


def test_a_folder_is_opened_as_what_it_is(model):
    assert isinstance(model, LanguageModel) and isinstance(model, TaskModel)
    assert (model.verb, model.reads, model.wants) == ("generate", "nothing", "text")
    assert set(GENERATED) <= set(model.metrics)
    assert "generate, stream, score" in repr(model)
    assert "plain text" in (model.folder / "README.md").read_text()
    with pytest.raises(AttributeError, match="cannot translate: it was trained to generate"):
        model.translate("a")


# --- writing -----------------------------------------------------------------------------------------------


def test_one_prompt_or_many(model):
    one = model.generate("the key", seed=3, max_length=7)
    assert one.text == one.prompt + one.continuation and one.prompt == "the key"
    assert len(one.pieces) <= 7
    many = model.generate(["the key", "", "the doors near the"], seed=3, max_length=7)
    assert many[0].text == one.text, "whoever stands beside it"
    assert [each.prompt for each in many] == ["the key", "", "the doors near the"]
    drawn = model.generate("the", seed=3, draws=3, max_length=5)
    assert len(drawn) == 3 and len({each.text for each in drawn}) > 1
    assert model.generate(["a", "b"], draws=2, max_length=3)[1][0].prompt == "b"


def test_the_same_seed_draws_the_same_and_another_other_things(model):
    texts = [model.generate("the", seed=seed, max_length=17).text for seed in (5, 5, 6)]
    assert texts[0] == texts[1] != texts[2]
    longer = model.generate("the", seed=5, max_length=23).text
    assert longer.startswith(texts[0]), "a limit does not change what is drawn before it"


def test_greedy_is_the_likeliest_piece_each_time(model):
    found = model.generate("the key", greedy=True, max_length=5)
    tokenizer = model.target.tokenizer
    ids = [END, *encode_running(tokenizer, "the key").ids]
    for _ in range(5):
        data = torch.tensor([ids])
        padded = type(regard.types.nothing(1))(data, torch.ones_like(data, dtype=torch.bool))
        scores = model.model.predict.teach(padded, model.model.nothing_read(1)).logits[0, -1].detach()
        scores[[0, 1, 3]] = -math.inf
        piece = int(scores.argmax())
        if piece == END:
            break
        ids.append(piece)
    assert tokenizer.decode(ids).endswith(found.continuation)
    assert len(found.continuation.split()) == len(ids) - 3
    for asked in ({"temperature": 0.0}, {"top_k": 1}, {"temperature": 1e-6}):
        assert model.generate("the key", max_length=5, **asked).text == found.text
    assert next(each.text for each in model.answer(["the key", None])).startswith(found.text)


def test_lengths_count_what_is_written_after_the_prompt(model):
    prompt = "the key near the doors"
    long = model.generate(prompt, min_length=11, max_length=11, seed=1)
    assert len(long.pieces) == 11 and not long.ended
    assert len(model.generate("", min_length=11, max_length=11, seed=1).pieces) == 11
    short = [model.generate(prompt, max_length=1, seed=seed) for seed in range(5)]
    assert all(len(each.pieces) <= 1 for each in short)
    texts = model.generate(["", "the key near the doors behind the", "a"], min_length=3, max_length=7, seed=2)
    assert all(3 <= len(each.pieces) <= 7 for each in texts)


def stepwise(model, monkeypatch):
    """The same model, whose prompts are read a step at a time."""
    monkeypatch.setattr(model.model.predict, "read_on", lambda tokens, state: None, raising=False)
    return model


PROMPTS = ["the key near the doors behind the house", "the key", "", "the", "the doors near the key are"]


@pytest.mark.parametrize(
    "asked", [{"greedy": True}, {"seed": 3}, {"seed": 3, "draws": 2}, {"beam": 3}, {"greedy": True, "no_repeat": 2}]
)
@pytest.mark.parametrize("prompts", [PROMPTS, PROMPTS[:1], PROMPTS[:2]])
def test_prompts_read_at_once_are_prompts_read_step_by_step(gpt, prompts, asked, monkeypatch):
    """Of many lengths, as far as the shortest goes."""
    found = gpt.generate(prompts, max_length=9, **asked)
    wanted = stepwise(gpt, monkeypatch).generate(prompts, max_length=9, **asked)
    for one, other in zip(_flat(found), _flat(wanted), strict=True):
        assert (one.text, one.pieces, one.ended) == (other.text, other.pieces, other.ended)
        assert one.likelihood == pytest.approx(other.likelihood, abs=1e-4)


def _flat(found):
    return [text for each in found for text in (each if isinstance(each, list) else [each])]


def test_a_state_after_many_positions_is_that_after_as_many_steps(gpt):
    model, ids = gpt.model, torch.tensor([[2, 7, 5, 9, 4], [2, 4, 4, 8, 6]])
    state = model.start(regard.types.nothing(2))
    together = model.predict.read_on(ids, state)
    for place in range(5):
        state = model.step(ids[:, place], state).state
    assert together.step == state.step == 5
    for one, other in zip(together.past, state.past, strict=True):
        assert one.keys.shape == other.keys.shape and torch.allclose(one.keys, other.keys, atol=1e-5)
        assert torch.allclose(one.values, other.values, atol=1e-5) and one.mask.all()
    token = torch.tensor([5, 7])
    assert torch.allclose(model.step(token, together).logits, model.step(token, state).logits, atol=1e-4)
    assert model.predict.read_on(ids, state) is None, "after others it goes step by step"


def test_the_likelihood_is_that_of_what_was_written(gpt):
    for asked in ({"greedy": True}, {"beam": 4}, {"seed": 5}):
        found = gpt.generate("the key near", max_length=7, **asked)
        ids = [2, *encode_running(gpt.target.tokenizer, found.text).ids, *([2] if found.ended else [])]
        first = 1 + len(encode_running(gpt.target.tokenizer, "the key near").ids)
        nll = piece_nll(gpt.model, [ids], gpt.window)[0][first - 1 :]
        assert found.likelihood == pytest.approx(-sum(nll), abs=1e-3)


def test_a_wider_beam_finds_what_is_likelier(gpt):
    """Of texts that are not divided by their length; and of all of one piece, the likeliest."""
    found = [gpt.generate("the key", beam=beam, length_penalty=0, max_length=5) for beam in (2, 40)]
    greedy = gpt.generate("the key", greedy=True, max_length=5)
    assert found[1].likelihood >= greedy.likelihood - 1e-6
    assert gpt.generate("the key", beam=7, max_length=1).text == gpt.generate("the key", greedy=True, max_length=1).text


def test_nothing_is_repeated_if_so_asked(model):
    found = model.generate("the", greedy=True, max_length=19, no_repeat=2, min_length=12)
    ids = encode_running(model.target.tokenizer, found.text).ids
    pairs = list(itertools.pairwise(ids))
    assert len(pairs) == len(set(pairs))


def test_it_ends_before_a_text_to_stop_at(model):
    whole = model.generate("the", seed=9, max_length=19, min_length=19)
    words = whole.continuation.split()
    stop = f" {words[5]}"
    cut = model.generate("the", seed=9, max_length=19, min_length=19, stop=stop)
    assert cut.ended and whole.continuation.startswith(cut.continuation) and stop not in cut.continuation
    assert cut.continuation == whole.continuation[: whole.continuation.index(stop)]
    assert "".join(model.stream("the", seed=9, max_length=19, min_length=19, stop=[stop])) == cut.continuation


@pytest.mark.parametrize("asked", [{"seed": 4}, {"greedy": True}, {"seed": 4, "top_p": 0.5, "typical": 0.9}])
@pytest.mark.parametrize("prompt", ["", "the key", "the key\nthe"])
def test_a_stream_tells_what_is_written(model, prompt, asked):
    bits = list(model.stream(prompt, max_length=13, **asked))
    assert "".join(bits) == model.generate(prompt, max_length=13, **asked).continuation
    assert all(bits)


def test_a_stream_leaves_gradients_as_they_were(model):
    for _ in model.stream("the", max_length=3, seed=1):
        assert torch.is_grad_enabled()


def test_an_emitter_holds_back_what_is_not_certain():
    tokenizer = Tokenizer.train(["ab ab ab"], kind="characters")
    ids = tokenizer.encode("a東b--c").ids
    emitter = Emitter(tokenizer.read, (), ("--c",))
    told = ["".join(emitter.add(piece)) for piece in ids]
    assert told == ["a", "", "", "東", "b", "", "", ""]
    assert emitter.stopped and list(emitter.end()) == []
    late = Emitter(tokenizer.read, ids[:1], ("--c",))
    assert ["".join(late.add(piece)) for piece in ids[1:6]] == ["", "", "東", "b", ""]
    assert list(late.end()) == ["-"]


def test_positions_end_somewhere(gpt):
    assert gpt.context == 53
    assert len(gpt.generate("the key", min_length=200, max_length=200, seed=1).pieces) == 53 - 1 - 2
    with pytest.raises(UsageError, match="can tell 53 positions apart; the prompt has 61 pieces"):
        gpt.generate("the " * 60)
    with pytest.raises(UsageError, match="can tell 53 positions apart"):
        gpt.look("the " * 60)


def test_what_cannot_be_asked_is_told(model):
    for asked, told in (
        ({"temperatur": 1.0}, "generate has no 'temperatur'.*Did you mean 'temperature'"),
        ({"top_p": 0.0}, "expected top_p to be more than 0"),
        ({"typical": 1.5}, "expected typical to be more than 0"),
        ({"max_length": 0}, "expected max_length to be at least 1"),
        ({"min_length": 5, "max_length": 3}, "at least 5 and at most 3"),
        ({"stop": ""}, "found an empty one"),
        ({"greedy": True, "draws": 2}, "one text is the likeliest"),
        ({"beam": 3, "draws": 2}, "beam: one text is the likeliest"),
        ({"beam": 3, "greedy": True}, "greedy is a beam of 1"),
        ({"beam": 0}, "expected beam to be at least 1"),
    ):
        with pytest.raises(UsageError, match=f"(?s){told}"):
            model.generate("a", **asked)
    with pytest.raises(UsageError, match="stream: a beam of 3"):
        list(model.stream("a", beam=3))
    with pytest.raises(UsageError, match="stream: one text"):
        list(model.stream("a", draws=2))
    with pytest.raises(UsageError, match=r"prompts\[1\]: expected a text; found None"):
        model.generate(["a", None])
    with pytest.raises(UsageError, match="nothing as its source"):
        LanguageModel(model.model, model.target, model.target)


# --- sampling ----------------------------------------------------------------------------------------------


def test_the_typical_set_by_hand():
    """Entropy of (1/2, 1/4, 1/8, 1/8) is 1.75 bits: 1/4 is nearest (2 bits), then 1/2 (1), 1/8 (3) last."""
    shares = torch.tensor([[0.5, 0.25, 0.125, 0.125]], dtype=torch.float64)
    assert typical_set(shares, 0.2).tolist() == [[0.0, 0.25, 0.0, 0.0]]
    assert typical_set(shares, 0.7).tolist() == [[0.5, 0.25, 0.0, 0.0]]
    assert typical_set(shares, 0.8).tolist() == [[0.5, 0.25, 0.125, 0.0]]
    assert typical_set(3 * shares, 1.0).tolist() == shares.tolist(), "they need not sum to one"
    gone = torch.tensor([[0.5, 0.0, 0.5]], dtype=torch.float64)
    assert typical_set(gone, 0.9).tolist() == [[0.5, 0.0, 0.5]]
    even = torch.full((2, 7), 1 / 7)
    assert (typical_set(even, 0.5) > 0).sum(1).tolist() == [4, 4]


def test_limits_of_what_is_continued():
    options = Options(max_length=5, min_length=2, prefix=[[7, 8, 9], []], continues=True)
    assert options.limits([0, 0]) == [8, 5] and options.least(2) == [5, 2]
    plain = Options(max_length=5, min_length=2, prefix=[[7, 8, 9], []])
    assert plain.limits([0, 0]) == [5, 5] and plain.least(2) == [2, 2]
    assert GenerateOptions(greedy=True).search([[7]]).sampling is None
    assert GenerateOptions(typical=0.5, seed=3).search([]).sampling == Sampling(seed=3, typical=0.5)


# --- scoring -----------------------------------------------------------------------------------------------


def by_steps(model, ids):
    """-log p of each piece but the first, one step after the other."""
    state, found = model.start(regard.types.nothing(1)), []
    for place in range(len(ids) - 1):
        stepped = model.step(torch.tensor([ids[place]]), state)
        state = stepped.state
        found.append(-float(torch.log_softmax(stepped.logits.detach().double(), -1)[0, ids[place + 1]]))
    return found


def test_a_text_is_as_likely_as_its_pieces(model):
    found = model.score(TEXTS)
    for text, each in zip(TEXTS, found, strict=True):
        ids = (END, *encode_running(model.target.tokenizer, text).ids, END)
        nll = by_steps(model.model, ids)
        assert each.likelihood == pytest.approx(-sum(nll), abs=1e-3)
        assert each.words == (*text.split(), "</s>")
        assert sum(each.word_likelihoods) == pytest.approx(each.likelihood)
        assert each.word_likelihoods[-1] == pytest.approx(-nll[-1], abs=1e-3)
        assert each.piece_perplexity == pytest.approx(math.exp(sum(nll) / len(nll)), rel=1e-3)
        assert each.perplexity == pytest.approx(math.exp(sum(nll) / (len(text.split()) + 1)), rel=1e-3)
        assert each.bits_per_byte == pytest.approx(sum(nll) / math.log(2) / (len(text) + 1), rel=1e-3)
    assert model.score(TEXTS[0]) == found[0]


def test_windows_overlap_by_half_and_count_every_piece_once():
    ids = list(range(30))
    found = list(windows(3, ids, 8))
    assert all(each.text == 3 and len(each.ids) <= 9 for each in found)
    counted = [each.ids[1:][each.counted :] for each in found]
    assert [piece for some in counted for piece in some] == ids[1:]
    assert all(each.counted >= 4 for each in found[1:]), "half a window of context"
    assert [each.ids for each in windows(0, ids, 50)] == [ids]
    assert list(windows(0, [5], 8)) == []
    assert [each.ids for each in windows(0, [5, 6, 7], 1)] == [[5, 6], [6, 7]]


def test_long_text_is_read_with_context(gpt):
    ids = [END, *encode_running(gpt.target.tokenizer, "the key near the doors " * 9).ids]
    (short,) = piece_nll(gpt.model, [ids[:20]], 29)
    (long,) = piece_nll(gpt.model, [ids], 29)
    assert len(long) == len(ids) - 1
    assert long[:19] == pytest.approx(short, abs=1e-4)
    last = list(windows(0, ids, 29))[-1]
    assert long[last.counted - len(last.ids) + 1 :] == pytest.approx(
        by_steps(gpt.model, last.ids)[last.counted :], abs=1e-3
    )


def test_rows_are_read_after_one_another_where_a_model_learnt_blocks(gpt):
    rows = ["the key is lost .", "the\n", "\n", "end"]
    found = gpt.likelihoods(rows)
    ids = [gpt.target.tokenizer.encode(row).ids for row in rows]
    joined = (END, *ids[0], END, *ids[1], *ids[2], *ids[3], END)
    nll = by_steps(gpt.model, joined)
    assert sum(each.nll for each in found) == pytest.approx(sum(nll), abs=1e-3)
    assert [each.pieces for each in found] == [len(ids[0]) + 1, len(ids[1]), len(ids[2]), len(ids[3]) + 1]
    assert found[0].nll == pytest.approx(sum(nll[: len(ids[0]) + 1]), abs=1e-3)
    assert [each.words for each in found] == [6, 2, 1, 2]
    assert [each.bytes for each in found] == [18, 4, 1, 4]


def test_each_row_by_itself_where_a_model_learnt_rows(gpt):
    alone = LanguageModel(gpt.model, gpt.source, gpt.target)
    found = alone.likelihoods(TEXTS[:3])
    assert [each.nll for each in found] == pytest.approx(
        [-each.likelihood for each in alone.score(TEXTS[:3])], abs=1e-4
    )


def test_likelihoods_by_hand():
    each = Likelihood.of("ein Tor", 6.0, 5)
    assert each == Likelihood(6.0, 5, 3, 8)
    assert Likelihood.of("schön\n", 1.0, 2) == Likelihood(1.0, 2, 2, 7)
    assert each + each == Likelihood(12.0, 10, 6, 16)


def test_it_is_measured(model, folder, tmp_path):
    data = "agreement" if model.context else "repeats"
    corpus = regard.data.corpus.Corpus.open(data, size=101, reads="nothing", wants="text")
    report = model.evaluate(corpus, outputs=tmp_path / "out.txt")
    scores = report.by_metric()
    assert list(scores)[:3] == list(GENERATED)
    rows = corpus.split("test")["target"]
    found = model.likelihoods(list(rows))
    nll = sum(each.nll for each in found)
    assert scores["perplexity"].value == pytest.approx(math.exp(nll / sum(each.words for each in found)), rel=1e-5)
    assert scores["bits_per_byte"].low < scores["bits_per_byte"].value < scores["bits_per_byte"].high
    assert f"{scores['bits_per_byte'].value:.3f}" in report.as_text()
    assert len((tmp_path / "out.txt").read_text().splitlines()) == len(rows)
    assert "unit:word" in scores["perplexity"].signature
    assert "blocks" not in report.title and ("windows of" in report.title) == bool(model.blocks)


def test_a_validation_measures_it_and_shows_a_text(folder, model):
    import json

    rows = map(json.loads, (Path(model.folder).parent / "log.jsonl").read_text().splitlines())
    found = [row for row in rows if row["event"] == "validate"]
    assert not found or list(found[0]["values"])[:3] == list(GENERATED)


# --- seeing ------------------------------------------------------------------------------------------------


def test_what_was_looked_at_is_what_a_watcher_sees(gpt):
    found = gpt.generate("the key", seed=2, max_length=9)
    assert len(found.attention) == 2
    count = len(found.pieces) + 2 + 1
    assert all(each.shape == (3, count, count) for each in found.attention)
    for each in found.attention:
        back = each.roll(1, -1)  # the start stands last in a record
        assert torch.allclose(back.sum(-1), torch.ones(3, count), atol=1e-5)
        assert (back.triu(1) == 0).all(), "nobody looks ahead"
    alignment = found.alignment
    assert alignment.target[:-1] == alignment.source[:-1] == tuple(found.text.split())
    assert alignment.matrix[0, -1] == pytest.approx(1.0), "the first word has nothing but the start"
    record = gpt.look(found.text)
    assert torch.allclose(record.weights("decoder-self", 0), found.attention[0], atol=1e-5)


@pytest.mark.parametrize("ending", [".html", ".png", ".json", ".csv", ".txt"])
def test_a_text_saves_its_picture(gpt, tmp_path, ending):
    path = gpt.generate("the key", seed=2, max_length=5).save(tmp_path / f"seen{ending}")
    assert path.stat().st_size > 100
    if ending == ".txt":
        assert "decoder-self" in path.read_text() and "->" not in path.read_text()


def test_a_model_without_attention_has_nothing_to_show(lstm):
    found = lstm.generate("w1", seed=2, max_length=5)
    assert (found.record, found.alignment, found.attention) == (None, None, ())
    with pytest.raises(UsageError, match=r"(?s)does not attend.*regard score"):
        lstm.look("w1 w2")
    with pytest.raises(UsageError, match="does not attend"):
        found.save("x.html")
    assert "<strong>" in found._repr_html_()
