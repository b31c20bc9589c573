"""Several right answers to one image: asked once, and any of them is right."""

from regard.data.sides.image import Image
from regard.data.sides.text import Text
from regard.evaluate import count_bleu
from regard.tasks.references import best_and_worst, nearest, once_each, texts_in

IMAGES, TEXTS = Image("source"), Text("source")


def test_an_image_is_asked_once_in_the_order_of_the_corpus():
    found = once_each(IMAGES, ["b", "a", "b", "c"], ["1", "2", "3", "4"])
    assert found == (["b", "a", "c"], [("1", "3"), "2", "4"])
    alone = ["a", "b"], ["1", "2"]
    assert once_each(IMAGES, *alone) == alone
    twice = ["a", "a"], ["1", "2"]
    assert once_each(TEXTS, *twice) == once_each(None, *twice) == twice, "lines that are alike are two lines"


def test_all_references_count():
    one = count_bleu(["a red dog on grass"], ["a red cat on grass"]).value()
    several = count_bleu(["a red dog on grass"], [("a red cat on grass", "a red dog on sand")]).value()
    assert several > one
    assert texts_in(["a", ("b", "c"), None]) == ["a", "b", "c", ""]
    assert nearest("b", ("a", "b")) == "b" and nearest("x", ("a", "b")) == "a" and nearest("x", "a") == "a"


def test_the_nearest_to_their_references_and_the_farthest():
    answers = ["a dog runs", "two men", "a Red car", "nothing", "the dog ran"]
    references = [["a dog runs", "x"], "two women", ["a red car"], "quite another", ["y", "a dog runs"]]
    assert best_and_worst(answers, references, 2) == [0, 3], "letters may be large or small"
    assert best_and_worst(answers, references, 3) == [0, 2, 3]
    assert sorted(best_and_worst(answers, references, 9)) == [0, 1, 2, 3, 4]
