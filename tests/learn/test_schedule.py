"""Schedules by hand."""

import math

import pytest

from regard.registry import maker, names

RATE = 0.3


def made(name, **settings):
    return maker("schedule", name, **settings)(RATE)


def test_the_schedules_that_are_promised():
    assert set(names("schedule")) >= {"constant", "inverse_square_root", "plateau", "cosine", "halving"}


def test_constant():
    assert [made("constant").at(number, None) for number in (1, 2, 1000)] == [RATE] * 3
    warm = made("constant", warmup=5)
    assert [warm.at(number, None) for number in (1, 4, 5, 6)] == pytest.approx([0.06, 0.24, 0.3, 0.3])


def test_inverse_square_root():
    schedule = made("inverse_square_root", warmup=4)
    found = [schedule.at(number, None) for number in (1, 2, 4, 16, 100)]
    assert found == pytest.approx([0.075, 0.15, 0.3, 0.15, 0.06])


def test_cosine():
    schedule = made("cosine", floor=0.1)
    assert schedule.needs_budget
    found = [schedule.at(7, share) for share in (0.0, 1 / 3, 0.5, 1.0, 1.7)]
    expected = [RATE * (0.1 + 0.9 * each) for each in (1.0, 0.75, 0.5, 0.0, 0.0)]
    assert found == pytest.approx(expected)
    assert made("cosine", warmup=3).at(2, 0.5) == pytest.approx(RATE * 2 / 3 / 2)


def test_halving():
    """Five updates at the full rate, then half of it for every three more."""
    schedule = made("halving", after=5, every=3)
    found = [schedule.at(number, None) / RATE for number in (1, 5, 6, 8, 9, 12)]
    assert found == [1, 1, 0.5, 0.5, 0.25, 0.125]


def test_steps():
    """A quarter of it after the third update, and again after the fifth."""
    schedule = made("steps", at=(3, 5), factor=0.25)
    assert [schedule.at(number, None) / RATE for number in (1, 3, 4, 5, 6, 900)] == [1, 1, 0.25, 0.25, 1 / 16, 1 / 16]
    assert made("steps", at=(3,), warmup=8).at(4, None) == pytest.approx(RATE * 0.5 * 0.1)
    assert not schedule.needs_budget and not schedule.needs_validation


def test_plateau():
    schedule = made("plateau", factor=0.5, patience=1, least=0.2)
    assert schedule.needs_validation
    rates = []
    for score in (1.0, 3.0, 2.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0):
        schedule.judge(score)
        rates.append(schedule.at(1, None) / RATE)
    # 3.0 again is not better than 3.0: the second in vain, and one was allowed.
    assert rates == pytest.approx([1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2])


def test_plateau_goes_on_from_its_state():
    one, other = made("plateau", patience=1), made("plateau", patience=1)
    for score in (1.0, 0.5):
        one.judge(score)
    other.restore(one.state())
    one.judge(0.5)
    other.judge(0.5)
    assert one.state() == other.state() == {"share": 0.5, "waited": 0, "best": 1.0}


@pytest.mark.parametrize("name", names("schedule"))
def test_no_schedule_leaves_the_range_of_its_rate(name):
    schedule = made(name)
    for number in (1, 2, 10, 999, 1000, 1001, 10**6):
        rate = schedule.at(number, min(1.0, number / 10**6))
        assert 0 <= rate <= RATE
        assert math.isfinite(rate)
