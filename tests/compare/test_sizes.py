"""What size brings: scores over numbers of weights."""

from dataclasses import replace

import pytest

from compare.made import arm_result
from regard.compare import Measures, Pairs
from regard.compare.figure import apart, differ_in_size, draw_sizes, told_size

PAIRS = Pairs(["a b c d e", "f g h i j k l m"], ["a b c d e", "f g h"])


def sized(label, count):
    arm = arm_result(label)
    return replace(arm, trials=tuple(replace(each, parameters=count) for each in arm.trials))


def test_a_curve_needs_arms_of_different_sizes():
    assert not differ_in_size([])
    assert not differ_in_size([sized("a", 1009)])
    assert not differ_in_size([sized("a", 1009), sized("b", 1109)]), "less than a tenth"
    assert differ_in_size([sized("a", 1009), sized("b", 1013), sized("c", 1201)])


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_it_is_drawn_and_names_every_arm(tmp_path, ending):
    measures = Measures([sized("small $1", 1009), sized("large", 104729)], PAIRS)
    path = draw_sizes(measures, tmp_path / f"sizes{ending}", measures.main)
    first = path.read_bytes()
    assert len(first) > 1000
    assert draw_sizes(measures, path, measures.main).read_bytes() == first, "the same file each time"


@pytest.mark.parametrize(
    ("count", "told"), [(7, "7"), (1009, "1.01 k"), (124_439_808, "124 M"), (1_558_000_000, "1.56 G")]
)
def test_sizes_as_people_say_them(count, told):
    assert told_size(count) == told


def test_numbers_do_not_stand_on_one_another():
    assert apart([1009, 1013, 104729]) == [1009, 104729]
    assert apart([1009, 10007, 104729]) == [1009, 10007, 104729]
