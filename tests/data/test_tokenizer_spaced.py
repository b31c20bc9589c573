"""Text that is cut into words already: each word a piece, the line feed another, and <unk> the unknown one."""

import pytest

from regard.data.running import encode_running, read_running
from regard.data.sides.text import Text
from regard.data.tokenizer import END, UNKNOWN, Tokenizer
from regard.errors import UsageError

LINES = [" = A Title = \n", "\n", " the don't @-@ H1N1 the <unk> . \n", "the . </s> <pad>\n"]


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(LINES, kind="spaced")


def test_words_are_what_stands_between_spaces(tokenizer):
    words = [[tokenizer.said(piece) for piece in ids] for ids in tokenizer.encode_ids(LINES[:3])]
    assert words[0] == [" =", " A", " Title", " =", "\n"]
    assert words[1] == ["\n"]
    assert words[2] == [" the", " don't", " @-@", " H1N1", " the", " <unk>", " .", "\n"]
    for line in LINES[:3]:
        assert len(tokenizer.encode_ids([line])[0]) == len(line.split()) + 1, "and the end of the line"


def test_the_most_frequent_come_first_and_unknown_words_are_one(tokenizer):
    assert tokenizer.kind == "spaced" and len(tokenizer) == 4 + len({*" ".join(LINES[:3]).split(), "\n"} - {"<unk>"})
    assert [tokenizer.said(piece) for piece in (4, 5)] == ["\n", " the"]
    assert tokenizer.encode_ids(["<unk> never the"]) == [[UNKNOWN, UNKNOWN, 5]]


def test_special_pieces_cannot_be_written(tokenizer):
    (ids,) = tokenizer.encode_ids(["</s> <s> <pad>"])
    assert set(ids) == {UNKNOWN}


def test_spans_cover_the_text(tokenizer):
    pieces = tokenizer.encode("  the  H1N1 \n")
    assert pieces.pieces == ("  the", "  H1N1", " \n")
    assert tokenizer.decode(pieces.ids) == "the H1N1\n"
    text = "the H1N1 .\n\nthe <unk>\n"
    running = encode_running(tokenizer, text)
    assert "".join(running.pieces) == text
    assert read_running(tokenizer, running.ids).text == text
    assert tokenizer.piece_to_word("the  H1N1") == [0, 1]


def test_a_size_keeps_the_commonest_and_a_file_keeps_all(tokenizer, tmp_path):
    assert len(Tokenizer.train(LINES, kind="spaced", size=7)) == 7
    with pytest.raises(UsageError, match="has 5 pieces or more"):
        Tokenizer.train(LINES, kind="spaced", size=4)
    tokenizer.save(tmp_path / "words.json")
    again = Tokenizer.load(tmp_path / "words.json")
    assert again.kind == "spaced" and again.encode_ids(LINES) == tokenizer.encode_ids(LINES)


def test_a_side_has_it():
    side = Text("target", pieces="spaced")
    side.fit(LINES)
    side.framed = True
    (first,) = side.encode(LINES[:1])
    assert first.ids[0] == END and len(first) == 6
