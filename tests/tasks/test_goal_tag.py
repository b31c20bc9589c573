"""A tag belongs to what stands between spaces, however a tokenizer cuts it."""

from regard.data.sides.text import Text
from regard.data.tokenizer import Tokenizer
from regard.tasks.goals.tag import first_pieces

LINE = "don't 我喜欢书 , walk well-known 私は"


def test_words_are_what_stands_between_spaces():
    text = Text.of(Tokenizer.train([LINE] * 5, kind="characters"), "source")
    pieces = text.tokenizer.encode(LINE)
    firsts = first_pieces(text, pieces)
    assert [firsts.index(place) for place in sorted(firsts)] == list(range(len(LINE.split()))) == [0, 1, 2, 3, 4, 5]
