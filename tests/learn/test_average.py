"""Averages by hand."""

import pytest
import torch

from regard.registry import maker, names


def weights(value, count=0):
    """Two weights and a counter, which is no number to average."""
    return {"a": torch.full((2,), float(value)), "b": torch.tensor([[3.0 * value]]), "seen": torch.tensor(count)}


def followed(average, values, start=1):
    """The average after it has heard of these weights; it must not hold on to the tensors it was shown."""
    for number, value in enumerate(values, start):
        shown = weights(value, number)
        average.follow(number, shown)
        for each in shown.values():
            each.zero_()
    return average


def test_the_averages_that_are_promised():
    assert set(names("average")) >= {"ema", "last"}


def test_ema_by_hand():
    average = followed(maker("average", "ema", decay=0.2)(), [1.0])
    assert average.weights(weights(9))["a"].tolist() == [1.0, 1.0]  # the first as they are
    followed(average, [2.0], start=2)  # keep min(0.2, 3 / 12)
    assert average.weights(weights(9))["a"].tolist() == pytest.approx([0.2 * 1 + 0.8 * 2] * 2)
    followed(average, [5.0], start=3)
    assert average.weights(weights(9))["b"].item() == pytest.approx(3 * (0.2 * 1.8 + 0.8 * 5))
    assert average.weights(weights(9))["seen"].item() == 3


def test_ema_forgets_its_first_weights_soon():
    average = followed(maker("average", "ema", decay=0.999)(), [1.0, 2.0])
    assert average.weights(weights(9))["a"][0].item() == pytest.approx(0.25 * 1 + 0.75 * 2)


def test_last_by_hand():
    average = followed(maker("average", "last", count=2, every=3)(), [1.0, 2.0])
    assert average.weights(weights(9))["a"].tolist() == [9.0, 9.0]  # nothing was taken yet
    followed(average, [3.0, 4.0, 5.0, 7.0], start=3)  # takes the third and the sixth
    found = average.weights(weights(9))
    assert (found["a"].tolist(), found["b"].item(), found["seen"].item()) == ([5.0, 5.0], 15.0, 6)
    followed(average, [8.0, 8.0, 13.0], start=7)  # takes the ninth, and lets the third go
    assert average.weights(weights(9))["a"].tolist() == [10.0, 10.0]
    assert len(average.tensors()) == average.copies * 3


@pytest.mark.parametrize("name", names("average"))
def test_an_average_goes_on_from_what_it_kept(name):
    settings = {"every": 2, "count": 3} if name == "last" else {}
    one, other = (maker("average", name, **settings)() for _ in range(2))
    followed(one, [1.0, 2.0, 4.0, 8.0, 1.5])
    other.restore({key: each.clone() for key, each in one.tensors().items()})
    for average in (one, other):
        followed(average, [3.0, 7.0, 5.0], start=6)
    mine, theirs = (average.weights(weights(9)) for average in (one, other))
    assert all(torch.equal(mine[key], theirs[key]) for key in theirs)
