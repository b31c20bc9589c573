"""Running text: cut line by line as a corpus has it, and put together again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.running import encode_running, lines_of, read_running
from regard.data.tokenizer import Tokenizer

LINES = ["the cat sat", "  on a mat", "ünïcode and 東京", "a\tb", "the end"] * 7


@pytest.fixture(scope="module", params=["bpe", "unigram", "characters", "words"])
def tokenizer(request):
    size = 400 if request.param in ("bpe", "unigram") else "auto"
    return Tokenizer.train([*LINES, "the cat\n", "\n", "\n", "a mat\n", "a mat\n"], kind=request.param, size=size)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("a\nb", ["a\n", "b"]),
        ("\n\na", ["\n", "\n", "a"]),
        ("a\r\nb", ["a\r\n", "b"]),
    ],
)
def test_the_lines_of_a_text(text, lines):
    assert lines_of(text) == lines


@pytest.mark.parametrize("text", ["the cat sat", "the cat\na mat\n", "\n\nthe end", "the cat\n  on a mat\n\nthe end"])
def test_what_is_cut_is_read_again(tokenizer, text):
    pieces = encode_running(tokenizer, text)
    assert pieces.text == text
    again = read_running(tokenizer, pieces.ids)
    if tokenizer.kind != "words":  # which has no piece for what it never saw
        assert again.text == text
    assert [start for start, _ in pieces.spans] == [0, *(end for _, end in pieces.spans[:-1])]


def test_a_text_is_cut_as_its_rows_are(tokenizer):
    rows = ["the cat\n", "\n", "a mat\n", "the end"]
    wanted = [piece for row in tokenizer.encode_ids(rows) for piece in row]
    assert list(encode_running(tokenizer, "".join(rows)).ids) == wanted


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(blacklist_categories=("Cs",)), max_size=30))
def test_any_text_comes_back(text):
    tokenizer = CHARACTERS
    assert read_running(tokenizer, encode_running(tokenizer, text).ids).text == text
    assert read_running(SUBWORDS, encode_running(SUBWORDS, text).ids).text == text


CHARACTERS = Tokenizer.train(LINES, kind="characters")
SUBWORDS = Tokenizer.train(LINES, kind="bpe", size=400)
