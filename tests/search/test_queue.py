"""Sentences that enter a search while others are at it come out as if they had been searched for alone."""

import pytest
import torch

from regard.search import Options, beam_search, greedy_search
from regard.search.greedy import Greedy
from regard.search.loop import Running, search
from regard.search.queue import Queue
from regard.show.watch import watch
from regard.types import Padded
from search.tables import END, FEW, START, alone, sharp, some, table_model
from small import DECODERS, model, overrides, pictures

pytestmark = pytest.mark.usefixtures("unchecked")

LENGTHS = (3, 9, 1, 7, 5, 2, 6, 4)
PLACES = 27  # positions at a time: three of the longest sentences, all of the shortest

MINDED = {  # where a query or its past stands matters, so that nobody may enter before all have left
    "local-m": overrides("scope", "local_m"),
    "self local-m": [
        *overrides("predict", "transformer"),
        "predict.self_attend.attend.scope.part=local_m",
        "predict.self_attend.attend.scope.reach=2",
    ],
    "self location": [*overrides("predict", "transformer"), "predict.self_attend.attend.score.part=location"],
}
UNMINDED = {
    "heads": overrides("attend", "heads"),
    "additive heads": [
        *overrides("predict", "transformer"),
        "attend.part=heads",
        "attend.heads=2",
        "attend.attend.score.part=additive",
    ],
    "learned positions": [*overrides("predict", "transformer"), "predict.embed.position=learned"],
    "location": overrides("score", "location"),
    "local-p": overrides("scope", "local_p"),
    "hard": overrides("choice", "hard"),
}


@pytest.fixture
def entries(monkeypatch):
    """How many sentences entered each time, and how many rows went on beside them."""
    found, plain = [], Running.enter_more

    def enter_more(self, count):
        found.append((count, len(self.rows)))
        plain(self, count)

    monkeypatch.setattr(Running, "enter_more", enter_more)
    return found


def exact(changes, seed):
    """A model in double precision, with opinions: no two outputs are equally good by chance."""
    torch.manual_seed(seed)
    built = model(changes, target=FEW)
    with torch.no_grad():
        for weight in built.parameters():
            weight.mul_(2.0)
    return built.double()


def alike(found, expected):
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.ids for each in ours] == [each.ids for each in theirs]
        for one, two in zip(ours, theirs, strict=True):
            assert (one.score, one.likelihood) == pytest.approx((two.score, two.likelihood), rel=1e-9)
            assert len(one.weights) == len(two.weights)
            for layer, other in zip(one.weights, two.weights, strict=True):
                assert layer.shape == other.shape
                assert torch.allclose(layer, other, atol=1e-6)


def continuous_as_alone(changes, options=None, seed=5):
    """A model whose outputs have all kinds of lengths: continuously, and all sentences at once."""
    given = {"start": START, "end": END, "record": True}
    built, source = exact(changes, seed), some(LENGTHS, seed)
    found = beam_search(built, source, options, **given, tokens=PLACES)
    alike(found, beam_search(built, source, options, **given))


@pytest.mark.parametrize("decoder", [name for name in DECODERS if name != "lstmn"])  # whose tape has one length
def test_who_enters_later_is_searched_for_as_if_alone(decoder, entries):
    for seed in (2, 5):
        continuous_as_alone(overrides("predict", decoder), seed=seed)
    assert len(entries) > 1, "they entered more than once"
    assert all(rows for _, rows in entries), "others were at it"


@pytest.mark.parametrize("decoder", ["bahdanau", "transformer"])
@pytest.mark.parametrize(
    "options", [Options(beam=1), Options(beam=3, nbest=3, alpha=1.0)], ids=("beam 1", "three best")
)
def test_any_beam_is_batched_continuously(decoder, options, entries):
    continuous_as_alone(overrides("predict", decoder), options, seed=2)
    assert entries, "they entered later"
    assert all(rows for _, rows in entries), "others were at it"


@pytest.mark.parametrize("changes", UNMINDED.values(), ids=UNMINDED)
def test_any_attention_that_does_not_mind_where_a_query_stands(changes, entries):
    continuous_as_alone(changes)
    assert entries


@pytest.mark.parametrize("changes", MINDED.values(), ids=MINDED)
def test_nobody_enters_where_it_matters_where_a_query_stands(changes, entries):
    continuous_as_alone(changes)
    assert not entries


@pytest.mark.parametrize(
    ("options", "enter"),
    [
        (Options(min_length=4), True),
        (Options(stretch=0.5), True),
        (Options(avoid=(4, 5)), True),
        (Options(beta=0.2), False),
        (Options(no_repeat=2), False),
    ],
    ids=str,
)
def test_rules_hold_for_each_sentence_from_its_own_first_step(options, enter, entries):
    continuous_as_alone(overrides("predict", "transformer"), options)
    assert bool(entries) is enter


def test_prefixes_stay_with_their_sentences(entries):
    built, source = exact(overrides("predict", "transformer"), 5), some(LENGTHS)
    prefix = [[4 + row % 7] * (row % 4) for row in range(len(LENGTHS))]
    found = beam_search(built, source, Options(prefix=prefix), start=START, end=END, tokens=PLACES)
    for row, (best, *_) in enumerate(found):
        expected = beam_search(built, alone(source, row), Options(prefix=[prefix[row]]), start=START, end=END)
        assert best.ids == expected[0][0].ids
        assert list(best.ids[: row % 4]) == prefix[row]
    assert entries


def test_a_greedy_search_is_batched_continuously(entries):
    built, source = exact(overrides("predict", "bahdanau"), 2), some(LENGTHS, 2)
    given = {"start": START, "end": END, "record": True}
    found = search(built, source, Options(), Greedy(), **given, tokens=PLACES)
    alike(found, [[each] for each in greedy_search(built, source, **given)])
    assert entries


def test_who_watches_sees_one_batch_after_another(entries):
    built, source = exact(overrides("predict", "transformer"), 5), some(LENGTHS)
    plain = beam_search(built, source, start=START, end=END)
    with watch(built):
        found = beam_search(built, source, start=START, end=END, tokens=PLACES)
    assert [best[0].ids for best in found] == [best[0].ids for best in plain]
    assert not entries


def test_a_decoder_that_does_not_say_so_is_not_batched_continuously(entries):
    built, source = table_model(7), some((3, 5, 2, 4))
    plain = beam_search(built, source, Options(max_length=9), start=START, end=END, record=True)
    alike(beam_search(built, source, Options(max_length=9), start=START, end=END, record=True, tokens=5), plain)
    assert not entries


def test_a_place_is_a_position_of_the_longest():
    queue = Queue(some((2, 9, 4, 3)), Options(), tokens=20)
    assert queue.order.tolist() == [1, 2, 3, 0]
    assert queue.places() == 2
    source, _ = queue.take(2)
    assert source.lengths.tolist() == [9, 4]
    assert source.data.shape == (2, 9)
    assert queue.wanted(longest=0, inside=2) == 0
    assert queue.wanted(longest=0, inside=1) == 1
    assert queue.wanted(longest=1, inside=1) == 2, "with the longest gone there is room for five, and two wait"
    source, _ = queue.take(2)
    assert source.data.shape == (2, 3)
    assert len(queue) == 0


def test_a_sentence_too_long_for_the_room_enters_by_itself():
    queue = Queue(some((30, 2)), Options(), tokens=20)
    assert queue.places() == 1
    assert queue.take(1)[0].lengths.tolist() == [30]


def test_without_a_limit_all_enter_as_they_stand():
    source = some((2, 9, 4))
    queue = Queue(source, Options())
    assert queue.take(queue.places())[0] is source


def test_no_sentences_no_outputs():
    nothing = Padded(torch.zeros(0, 4, dtype=torch.long), torch.zeros(0, 4, dtype=torch.bool))
    assert beam_search(sharp("luong"), nothing, start=START, end=END, tokens=10) == []
    assert beam_search(sharp("luong"), nothing, start=START, end=END) == []


def test_images_enter_at_once(entries):
    built = model(overrides("embed", "pixels"), source=3, target=FEW)
    given, options = pictures([(12, 9), (7, 12), (5, 5)]), Options(max_length=6)
    plain = beam_search(built, given, options, start=START, end=END)
    found = beam_search(built, given, options, start=START, end=END, tokens=1)
    assert [best[0].ids for best in found] == [best[0].ids for best in plain]
    assert not entries
