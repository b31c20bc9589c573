"""Labels, tags, texts and nothing as sides of a task."""

from random import Random

import pytest

from regard.data.sides.label import Label
from regard.data.sides.nothing import Nothing
from regard.data.sides.tags import NONE, Tags
from regard.data.sides.text import Text, fit_texts
from regard.data.tokenizer import END, START
from regard.errors import BrokenData, ModelError, UsageError


def fitted(side, cells):
    side.fit(cells)
    return side


def test_labels_by_hand():
    side = fitted(Label("target"), ["b", "a", "b", "c"])
    assert side.names == ("a", "b", "c")
    assert side.encode(["c", "a"]) == [2, 0]
    assert side.collate([2, 0]).data.tolist() == [2, 0]
    assert (side.positions(2), side.predictions(2), side.spec().size) == (0, 1, 3)


def test_numbers_stand_by_their_size_before_names():
    assert fitted(Label("target"), ["10", "x", "2", "-1", "2.5"]).names == ("-1", "2", "2.5", "10", "x")
    assert fitted(Label("target"), [10, 9, 2]).names == ("2", "9", "10")


@pytest.mark.parametrize(("cells", "found"), [(["a", "a"], "only 'a'"), ([], "none")])
def test_one_class_is_none(cells, found):
    with pytest.raises(BrokenData, match=f"at least two classes; found {found}"):
        Label("target").fit(cells)


def test_a_class_that_training_does_not_have():
    side = fitted(Label("target"), ["positive", "negative"])
    with pytest.raises(
        BrokenData, match=r"no class is called 'positiv'; the training data has negative, positive"
    ) as told:
        side.encode(["positive", "positiv"])
    assert "positive" in told.value.hint
    with pytest.raises(BrokenData, match=r"class0, class1, .* and 3 more"):
        fitted(Label("target"), [f"class{number}" for number in range(13)]).encode(["other"])


def test_new_names_are_new_numbers():
    side = fitted(Label("target"), ["a", "b"])
    assert side.encode(["b"]) == [1]
    side.names = ("b", "a")
    assert side.encode(["b"]) == [0]


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1, 2]", "no JSON"])
def test_classes_that_are_none(tmp_path, text):
    (tmp_path / "target.classes.json").write_text(text)
    with pytest.raises(ModelError, match=r"target\.classes\.json does not hold the classes"):
        Label.load(tmp_path, "target")


def test_tags_by_hand():
    side = fitted(Tags("target"), ["N V", "D N V"])
    assert side.names == ("D", "N", "V")
    assert side.encode(["N  V D", ""]) == [[1, 2, 0], []]
    batch = side.collate([[1, NONE, 2], [0]])
    assert batch.data.tolist() == [[1, NONE, 2], [0, NONE, NONE]]
    assert batch.mask.tolist() == [[True] * 3, [True, False, False]]
    assert (side.predictions([1, NONE, 2]), side.predictions([])) == (2, 0)
    with pytest.raises(BrokenData, match="at least two different tags; found N"):
        Tags("target").fit(["N N"])


def test_texts_by_hand():
    source, target = (fitted(Text(role, pieces="words", longest=3), ["a b c d"]) for role in ("source", "target"))
    ids = source.encode(["a b"])[0]
    assert source.collate([ids]).data.tolist() == [[*ids, END]]
    assert target.collate([ids]).data.tolist() == [[START, *ids, END]]
    assert (source.positions(ids), target.positions(ids), target.predictions(ids)) == (3, 4, 3)
    long = source.encode(["a b c d"])[0]
    assert [source.fits(each) for each in (ids, source.encode(["a b c"])[0], long)] == [True, True, False]
    assert Text("source").fits(long)


@pytest.mark.parametrize("places", [False, True])
def test_pieces_are_drawn_only_with_dice(places):
    lines = ["the whole world is watching the whales"] * 5
    side = Text("source", pieces="bpe", vocabulary=280, sample=0.5)
    side.fit(lines)
    side.places = places
    read = (lambda items: [each.ids for each in items]) if places else list
    plain = read(side.encode(lines))
    assert len({tuple(each) for each in plain}) == 1
    assert plain == read(side.encode(lines))
    drawn = read(side.encode(lines, Random(3)))
    assert drawn != plain
    assert drawn == read(side.encode(lines, Random(3)))


def test_a_target_is_cut_as_its_source_unless_it_says_otherwise():
    lines = ["ab cd ab", "cd ab"], ["x y x", "y y x"]
    for pieces, joint, same in (("auto", "no", False), ("auto", "yes", True), ("words", "no", False)):
        source, target = Text("source", pieces="words", longest=7), Text("target", pieces=pieces)
        fit_texts(source, target, lines, joint)
        assert (source.files()["source.tokenizer.json"] == target.files()["target.tokenizer.json"]) == same
        assert target.longest == 7
        assert [len(each) for each in target.encode(lines[1])] == [3, 3]
    source, target = Text("source", pieces="words"), Text("target", pieces="characters", longest=5)
    fit_texts(source, target, lines, "auto")
    assert ([len(each) for each in source.encode(["ab cd"])], [len(each) for each in target.encode(["x y"])]) == (
        [2],
        [3],
    )
    assert (source.longest, target.longest) == (0, 5)
    with pytest.raises(UsageError, match=r'task\.joint = "yes" needs pieces of one kind; found words and characters'):
        fit_texts(source, target, lines, "yes")


def test_nothing_takes_what_a_goal_puts_there():
    side = Nothing("target")
    assert side.encode(["a", "b"]) == [None, None]
    assert side.collate([None, None]) is None
    assert side.collate([[5, 7], [3]]).data.tolist() == [[5, 7], [3, 0]]
    assert (side.positions(None), side.positions([5, 7]), side.predictions(None), side.fits(None)) == (0, 2, 1, True)
