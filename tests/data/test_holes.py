"""Holes in text: people write [MASK], a tokenizer has a piece for it that no text becomes."""

import pytest

from regard.data.holes import encode_holes, mask_of, with_holes, words_of_ids
from regard.data.tokenizer import MASK, UNKNOWN, Tokenizer
from regard.errors import ModelError

LINES = ["the cat sat on the mat .", "the dogs were barking .", "a cat, a dog; two mats!"] * 7
KINDS = ("bpe", "unigram", "characters", "words")


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return Tokenizer.train(LINES, kind=request.param, mask=True)


def test_the_mask_is_the_last_piece_and_text_never_becomes_it(tokenizer):
    assert tokenizer.mask == len(tokenizer) - 1
    assert tokenizer.mask not in tokenizer.encode_ids([f"the {MASK} sat"])[0]
    assert Tokenizer.train(LINES, kind=tokenizer.kind).mask is None


def test_a_size_counts_the_mask():
    assert len(Tokenizer.train(LINES, kind="bpe", size=281, mask=True)) == 281


def test_it_is_saved_with_the_tokenizer(tokenizer, tmp_path):
    tokenizer.save(tmp_path / "t.json")
    again = Tokenizer.load(tmp_path / "t.json")
    assert (again.mask, len(again)) == (tokenizer.mask, len(tokenizer))
    assert again.begins_word == tokenizer.begins_word


@pytest.mark.parametrize("line", LINES[:3])
def test_a_hole_takes_the_place_of_any_piece(tokenizer, line):
    ids = tokenizer.encode_ids([line])[0]
    assert encode_holes(tokenizer, line) == ids
    for place, piece in enumerate(ids):
        text = with_holes(tokenizer, ids, {place})
        assert text.count(MASK) == 1
        found = encode_holes(tokenizer, text)
        assert found.count(tokenizer.mask) == 1
        filled = [piece if each == tokenizer.mask else each for each in found]
        assert tokenizer.decode(filled) == line, "with the right piece in it, it is the line again"


def test_whole_words_leave_the_other_pieces_as_they_are(tokenizer):
    for line in LINES[:3]:
        ids = tokenizer.encode_ids([line])[0]
        words, owners = words_of_ids(tokenizer, ids)
        assert words == line.split()
        for word in range(len(words)):
            hidden = {place for place, owner in enumerate(owners) if owner == word}
            found = encode_holes(tokenizer, with_holes(tokenizer, ids, hidden))
            assert found == [tokenizer.mask if place in hidden else piece for place, piece in enumerate(ids)]


def test_a_space_before_a_hole_belongs_to_it():
    tokenizer = Tokenizer.train(LINES, kind="bpe", mask=True)
    mask = tokenizer.mask
    assert encode_holes(tokenizer, f"{MASK} cat") == [mask, *tokenizer.encode_ids(["cat"])[0]]
    assert encode_holes(tokenizer, f"the {MASK}") == [*tokenizer.encode_ids(["the"])[0], mask]
    assert encode_holes(tokenizer, f"the {MASK} {MASK}") == [*tokenizer.encode_ids(["the"])[0], mask, mask]
    assert encode_holes(tokenizer, MASK) == [mask]
    assert words_of_ids(tokenizer, encode_holes(tokenizer, f"the {MASK} sat"))[0] == ["the", MASK, "sat"]


def test_without_the_piece_it_is_told():
    tokenizer = Tokenizer.train(LINES, kind="words")
    with pytest.raises(ModelError, match="has no piece"):
        mask_of(tokenizer)
    with pytest.raises(ModelError, match="hidden words"):
        encode_holes(tokenizer, f"a {MASK}")


def test_scripts_without_spaces_have_a_word_a_piece():
    tokenizer = Tokenizer.train(["私は東京へ行く。", "私は本を読む。"] * 5, kind="characters", mask=True)
    assert words_of_ids(tokenizer, tokenizer.encode_ids(["私は行"])[0])[0] == ["私", "は", "行"]


def test_a_word_that_no_piece_stands_for_stays_one_such_word():
    tokenizer = Tokenizer.train(LINES, kind="words", mask=True)
    ids = tokenizer.encode_ids(["zebras sat on yaks ."])[0]
    assert ids.count(UNKNOWN) == 2 and len(ids) == 5
    assert encode_holes(tokenizer, with_holes(tokenizer, ids, {1})) == [ids[0], tokenizer.mask, *ids[2:]]
