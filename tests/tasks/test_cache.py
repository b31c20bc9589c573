"""The continuous cache: exact without a past, by hand, a distribution, blind to the future, chosen on held-out text."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data.examples.blocks import Blocks
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Text
from regard.data.tokenizer import Tokenizer
from regard.errors import UsageError
from regard.recipe import resolve
from regard.recipe.resolve import Recipe
from regard.tasks import cache as caches
from regard.tasks.cache import Cache, Reading, tuned
from regard.tasks.language_model import LanguageModel
from regard.tasks.scoring import read_texts
from small import smaller

TEXT = " ".join(["the key is near a door and the key of a house is lost"] * 3)


@pytest.fixture(scope="module")
def model():
    """An LSTM that has learnt nothing, on whose states a cache can stand all the same."""
    torch.manual_seed(0)
    asked, tokenizer = resolve("awd-lstm"), Tokenizer.train([TEXT], kind="spaced")
    small = Recipe(asked.about, smaller(asked.model, {"width": 13, "hidden": 17}), asked.train, asked.task)
    return LanguageModel(small.build(0, len(tokenizer)), Nothing("source"), Text.of(tokenizer, "target"), "lost")


def reading(count=29, width=7, kinds=5):
    torch.manual_seed(1)
    nll = 1 + torch.rand(count, dtype=torch.float64)
    return Reading(torch.randn(count, width), torch.randint(kinds, (count,)), nll)


def test_by_hand():
    features = torch.tensor([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])
    text = Reading(features, torch.tensor([4, 6, 4]), torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64))
    first = math.exp(0.5 * 3) / (math.exp(0.5 * 3) + math.exp(0.5 * 2))  # of h2.h0 = 3 and h2.h1 = 2
    found = Cache(5, theta=0.5, share=0.2)
    assert found.weights(features).tolist() == [
        [0, 0, 0],
        [1, 0, 0],
        [pytest.approx(first), pytest.approx(1 - first), 0],
    ]
    assert found.chances(text).tolist() == [0, 0, pytest.approx(first)]
    wanted = [0.5, -math.log(0.8 * math.exp(-1)), -math.log(0.8 * math.exp(-2) + 0.2 * first)]
    assert found.nll(text).tolist() == pytest.approx(wanted)


def test_without_a_past_or_a_share_it_is_the_plain_model(model):
    plain = model.score(TEXT)
    for nothing in (Cache(0, share=0.3), Cache(11, share=0.0)):
        assert model.score(TEXT, nothing).word_likelihoods == plain.word_likelihoods
    found = model.score(TEXT, Cache(31, theta=5000.0, share=0.3))
    assert found.likelihood > plain.likelihood + 5, "what is repeated is found"
    assert model.score("key", Cache(11, share=0.3)).word_likelihoods[0] == model.score("key").word_likelihoods[0]


def test_the_whole_vocabulary_sums_to_one():
    text, kinds = reading(), 5
    own = torch.rand(29, kinds, dtype=torch.float64)
    own /= own.sum(1, keepdim=True)
    total = torch.zeros(29, dtype=torch.float64)
    for kind in range(kinds):
        # Each kind of piece in turn as if it had been right at the last step, and the past as it was.
        for last in range(29):
            wanted = text.wanted[: last + 1].clone()
            wanted[last] = kind
            some = Reading(text.features[: last + 1], wanted, -own[: last + 1, kind].log())
            total[last] += torch.exp(-Cache(11, theta=0.7, share=0.3).nll(some)[last])
    assert torch.allclose(total, torch.ones_like(total), atol=1e-6)


def test_neither_the_future_nor_what_is_too_far_back_counts():
    text, asked = reading(), Cache(7, theta=0.5, share=0.3)
    before, weights = asked.nll(text), asked.weights(text.features)
    seen = weights > 0
    place = torch.arange(29)
    back = place.unsqueeze(1) - place
    assert torch.equal(seen, (back > 0) & (back <= 7))
    assert torch.allclose(weights[1:].sum(1), torch.ones(28)) and not weights[0].any()
    for changed in (11, 20):
        features, wanted = text.features.clone(), text.wanted.clone()
        features[changed], wanted[changed] = 9.0, 77
        after = asked.nll(Reading(features, wanted, text.nll))
        assert torch.equal(after[:changed], before[:changed])
        assert torch.equal(after[changed + 8 :], before[changed + 8 :])


@pytest.mark.parametrize("size", [3, 11, 100])
def test_some_at_a_time_are_all(size, monkeypatch):
    text, asked = reading(), Cache(size, theta=0.5)
    whole = asked.chances(text), asked.weights(text.features)
    monkeypatch.setattr(caches, "STEPS", 5)
    assert torch.allclose(asked.chances(text), whole[0], atol=1e-6)
    assert torch.allclose(asked.weights(text.features), whole[1], atol=1e-6)


def test_what_is_likeliest_is_chosen():
    text = reading()
    best = tuned(Cache(11), [text, text])
    assert (best.size, best.theta in caches.THETAS, best.share in caches.SHARES) == (11, True, True)
    tried = {(t, s): float(Cache(11, t, s).nll(text).sum()) for t in caches.THETAS for s in caches.SHARES}
    assert (best.theta, best.share) == min(tried, key=tried.__getitem__)


def test_what_cannot_be_is_told():
    for asked in ({"size": -1}, {"theta": -0.1}, {"share": 1.0}):
        with pytest.raises(UsageError, match="expected a size and a theta of 0 or more"):
            Cache(**asked)


# --- in a language model ------------------------------------------------------------------------------------


def test_a_stream_of_rows_is_one_past(model):
    rows = ["the key is near a door\n", "and the key of a house\n", "is lost"]
    model.parts = SimpleNamespace(examples=Blocks(length=7))
    try:
        whole = model.likelihoods(rows, Cache(100, 0.5, 0.3), window=50)
        assert [each.pieces for each in whole] == [7, 7, 3]
        (found,) = read_texts(model.model, model._flow(rows)[1], 50)
        nll = Cache(100, 0.5, 0.3).nll(found)
        assert [each.nll for each in whole] == pytest.approx([float(some.sum()) for some in nll.split([7, 7, 3])])
        assert model.longest(None) == 7 and model.longest(50) == 50
        assert sum(each.nll for each in model.likelihoods(rows)) != sum(
            each.nll for each in model.likelihoods(rows, None, 3)
        )
        assert model.tuned(Cache(9), rows, 50) == tuned(Cache(9), [found])
        with pytest.raises(UsageError, match="window: expected 1 piece or more"):
            model.likelihoods(rows, window=0)
    finally:
        model.parts = None


def test_what_was_looked_at_comes_with_the_score(model):
    asked = Cache(11, theta=0.4, share=0.2)
    found = model.score(TEXT, asked)
    record = found.record
    assert model.score(TEXT).record is None
    assert record.target.words == (*TEXT.split(), "</s>")
    weights = record.weights("decoder-self")
    assert weights.shape == (1, 43, 43) and torch.equal(weights, model.look(TEXT, asked).weights("decoder-self"))
    assert not weights[0, 0].any() and torch.allclose(weights[0, 1:].sum(1), torch.ones(42))
    assert str(record.alignment())


def test_a_readout_that_hides_its_features_is_refused(model):
    hidden = LanguageModel(model.model, model.source, model.target)
    readout = model.model.predict.readout
    try:
        model.model.predict.readout = torch.nn.Linear(3, 5)
        with pytest.raises(UsageError, match="this model's decoder hides it"):
            hidden.score("a key", Cache())
    finally:
        model.model.predict.readout = readout
