"""Tokenizers: nothing is lost, every piece has its place, and every piece belongs to one word."""

import gzip
import os
import subprocess
import sys
from math import exp
from pathlib import Path
from random import Random

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st

from regard.data.tokenizer import END, PAD, START, UNKNOWN, Tokenizer, train_pair
from regard.data.tokenizer_sample import LatticeSampler
from regard.data.tokenizer_train import SPECIAL, Survey
from regard.data.words import split_words
from regard.errors import BrokenData, ModelError, UnknownName, UsageError

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
LINES = [
    "The baker's wife sells fresh bread, and the miller's wife buys it.",
    "Die Bäckerin verkauft frisches Brot; der Müller kauft es nicht.",
    "l'été dernier, qu'a-t-il vu ? 1992, 1993 et 1994 !",
    "私は東京に住んでいます。彼は大阪に住んでいます。",
    "a < b and </s> or <unk> is <0x41> markup",
    "tabs\tand  two spaces   and three",
] * 5
LOSSLESS = ("bpe", "unigram", "characters")


@pytest.fixture(scope="module", params=LOSSLESS)
def lossless(request) -> Tokenizer:
    return Tokenizer.train(LINES, kind=request.param, size="auto")


@pytest.fixture(scope="module", params=(*LOSSLESS, "words"))
def any_kind(request) -> Tokenizer:
    return Tokenizer.train(LINES, kind=request.param)


# Any Unicode text, and text made of what tokenizers stumble over.
MARKS = ["<", "</s>", "<unk>", "<pad>", "<0x41>", "<0xC3>", "▁", "Ġ", "�", "e\u0301", "\u200d", "\ufeff", "ﬁ"]
SCRIPTS = ["🏳️‍🌈", "نص", "हिन्दी", "東京に", "です。", "ไทย", "Tシャツ", "don't", "12.5", "İ"]
SPACES = [" ", "  ", "\t", "\xa0", "\u3000", "\x00", "\x1f"]
awkward = st.sampled_from(MARKS + SCRIPTS + SPACES)
lines = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n")),
    st.lists(st.one_of(awkward, st.sampled_from(["the", " baker", "Brot", ", "])), max_size=12).map("".join),
)


@given(lines)
@example("")
@example(" ")
@example("   leading and trailing   ")
@example("</s><unk><pad><s>")
@example("\t</s>")
@example("▁▁the▁")
@example("<0x41><0xE3><0x81>")
@settings(deadline=None, max_examples=200)
def test_any_line_comes_back_byte_for_byte(lossless: Tokenizer, line: str):
    ids = lossless.encode(line).ids
    assert lossless.decode(ids).encode() == line.encode()
    assert not {PAD, START, END, UNKNOWN} & set(ids)


@given(lines)
@settings(deadline=None, max_examples=200)
def test_spans_lie_side_by_side_and_cover_the_line(any_kind: Tokenizer, line: str):
    found = any_kind.encode(line)
    assert "".join(found.pieces) == line
    assert len(found.spans) == len(found.ids)
    ends = [0, *(end for _, end in found.spans)]
    assert [start for start, _ in found.spans] == ends[:-1] and ends[-1] == len(line)


@given(lines)
@example("   ")
@example("a \u3000 b ")
@example("東京 に住む 2020年")
@settings(deadline=None, max_examples=200)
def test_every_piece_belongs_to_the_one_word_that_holds_it(any_kind: Tokenizer, line: str):
    found, words, owners = any_kind.encode(line), any_kind.words(line), any_kind.piece_to_word(line)
    assert len(owners) == len(found.ids) and owners == sorted(owners)
    assert set(owners) == set(range(len(words)))  # each piece has a word, each word a piece
    for (start, end), owner in zip(found.spans, owners, strict=True):
        first, last = words[owner]
        letters = [place for place in range(start, end) if not line[place].isspace()]
        assert all(first <= place < last for place in letters)
    spaced = "".join(line[start:end] for start, end in words if not line.isspace())
    assert spaced == "".join(line.split())


@given(st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x5FF)))
@settings(deadline=None, max_examples=100)
def test_words_of_spaced_text_are_those_of_split(line: str):
    tokenizer = Tokenizer.train(["a b"], kind="characters")
    if line.split():
        assert [line[start:end] for start, end in tokenizer.words(line)] == line.split()
    assert [line[start:end] for start, end in split_words(line)] == line.split()


def test_a_script_without_spaces_is_not_one_word():
    sentence = "私は東京に住んでいますが来年は大阪に引っ越します。"
    tokenizer = Tokenizer.train([sentence] * 50, kind="bpe")
    line = f"{sentence} Tokyo"
    words = [line[start:end] for start, end in tokenizer.words(line)]
    assert len(words) >= 4 and max(map(len, words)) <= 16
    assert words[-1] == "Tokyo" and "".join(words) == line.replace(" ", "")


def test_words_may_be_given():
    tokenizer = Tokenizer.train(LINES, kind="characters")
    assert tokenizer.piece_to_word("東京 に", split_words("東京 に")) == [0, 0, 1, 1]


def test_white_space_belongs_to_the_word_after_it():
    tokenizer = Tokenizer.train(LINES, kind="characters")
    assert tokenizer.words(" a  bc ") == [(1, 2), (4, 6)]
    assert tokenizer.piece_to_word(" a  bc ") == [0, 0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
class TestSampling:
    def test_it_loses_nothing_and_follows_the_seed(self, kind: str):
        tokenizer = Tokenizer.train(LINES, kind=kind, size=500)
        text = [*LINES[:6], "</s> ▁ 🏳️‍🌈\x00 ", ""]
        drawn = tokenizer.encode_ids(text, sample=0.5, random=Random(7))
        assert [tokenizer.decode(ids) for ids in drawn] == text
        assert drawn == tokenizer.encode_ids(text, sample=0.5, random=Random(7))
        assert drawn != tokenizer.encode_ids(text, sample=0.5, random=Random(8))
        assert drawn != tokenizer.encode_ids(text)

    def test_almost_no_sampling_is_the_plain_cut(self, kind: str):
        tokenizer = Tokenizer.train(LINES, kind=kind, size=500)
        assert tokenizer.encode_ids(LINES, sample=1e-12, random=Random(1)) == tokenizer.encode_ids(LINES)

    def test_spans_fit_sampled_pieces(self, kind: str):
        tokenizer = Tokenizer.train(LINES, kind=kind, size=347)  # too few for every word
        found = tokenizer.encode(LINES[0], sample=0.9, random=Random(3))
        assert "".join(found.pieces) == LINES[0] and len(found) > len(tokenizer.encode(LINES[0]))

    def test_a_share_is_a_share(self, kind: str):
        tokenizer = Tokenizer.train(LINES, kind=kind)
        with pytest.raises(UsageError, match=r"between 0 and 1; found 1\.5"):
            tokenizer.encode("a", sample=1.5)


def test_dropping_every_merge_spells_the_line():
    tokenizer = Tokenizer.train(LINES, kind="bpe")
    found = tokenizer.encode("bread", sample=1.0, random=Random(0))
    assert found.pieces == ("", "b", "r", "e", "a", "d")


def test_lattice_draws_follow_the_weights():
    """Two letters, pieces a, b and ab: the share of [ab] is w(ab) / (w(ab) + w(a) w(b)), with w = p ^ 0.2."""
    model = tokenizers.models.Unigram([("a", -1.0), ("b", -2.0), ("ab", -4.0)], 0)
    sampler = LatticeSampler([["a", -1.0], ["b", -2.0], ["ab", -4.0]], model)
    random = Random(5)
    share = sum(sampler.draw("ab", 1.0, random) == [2] for _ in range(20_000)) / 20_000
    assert share == pytest.approx(exp(-0.8) / (exp(-0.8) + exp(-0.6)), abs=0.015)


def test_words_keep_known_text_and_mark_the_rest():
    tokenizer = Tokenizer.train(["b a c", "a c b"] * 30)
    assert tokenizer.kind == "words" and len(tokenizer) == 4 + 3
    assert tokenizer.decode(tokenizer.encode("c c a").ids) == "c c a"
    found = tokenizer.encode("c <unk> zebra a")
    assert found.ids.count(UNKNOWN) >= 2 and found.pieces[0] == "c" and found.pieces[-1] == " a"
    assert END not in tokenizer.encode("a\t</s> </s>").ids


def test_frames_say_nothing_and_output_has_places():
    tokenizer = Tokenizer.train(LINES, kind="bpe")
    ids = [START, *tokenizer.encode("fresh bread").ids, END, PAD]
    assert tokenizer.decode(ids) == "fresh bread"
    read = tokenizer.read(ids)
    assert read.text == "fresh bread" and "".join(read.pieces) == "fresh bread"
    assert {tokenizer.piece_to_word(read)[0], tokenizer.piece_to_word(read)[-1]} == {0, 1}


@given(st.lists(st.integers(0, 300), max_size=20))
@settings(deadline=None)
def test_any_output_can_be_read(any_kind: Tokenizer, ids: list[int]):
    ids = [piece % len(any_kind) for piece in ids]
    read = any_kind.read(ids)
    assert read.text == any_kind.decode(ids)
    assert "".join(read.pieces) == read.text and len(read.spans) == len(ids)
    assert len(any_kind.piece_to_word(read)) == len(ids)


def test_saved_and_loaded_it_is_the_same(any_kind: Tokenizer, tmp_path: Path):
    path = tmp_path / "source.tokenizer.json"
    any_kind.save(path)
    again = Tokenizer.load(path)
    assert [path] == list(tmp_path.iterdir())
    assert again.kind == any_kind.kind and len(again) == len(any_kind)
    assert again.encode_ids(LINES) == any_kind.encode_ids(LINES)
    plain = tokenizers.Tokenizer.from_file(str(path))
    for line in (LINES[0], LINES[2], LINES[3]):
        assert tuple(plain.encode(line).ids) == any_kind.encode(line).ids
        assert plain.decode(plain.encode(line).ids) == line


def test_special_pieces_have_fixed_places(any_kind: Tokenizer):
    assert tuple(any_kind.backend.id_to_token(place) for place in range(4)) == SPECIAL


def test_a_file_that_is_no_tokenizer(tmp_path: Path):
    with pytest.raises(ModelError, match=r"gone\.json: .* was expected here; there is none"):
        Tokenizer.load(tmp_path / "gone.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ModelError, match=r"bad\.json: a tokenizer's JSON file was expected;"):
        Tokenizer.load(tmp_path / "bad.json")
    other = tokenizers.Tokenizer(tokenizers.models.WordLevel({"a": 0, "b": 1}, unk_token="a"))
    other.save(str(tmp_path / "other.json"))
    with pytest.raises(ModelError, match=r"pieces 0 to 3 .* are <pad>, <s>, </s>, <unk>; found \['a'"):
        Tokenizer.load(tmp_path / "other.json")


TRAIN_ALL = """
import hashlib
from regard.data.tokenizer import Tokenizer, train_pair

def tell(tokenizer):
    print(hashlib.sha256(tokenizer.backend.to_str().encode()).hexdigest())

tied = ["ab cd ef gh ij", "ji hg fe dc ba", "aabb bbaa abab baba xyz", "qu'a-t-il vu ?", "\u79c1\u306f\u6771\u4eac"] * 2
small = {"bpe": (271, 283, "auto"), "unigram": (307, 331, "auto"), "characters": (271, "auto"), "words": (11, "auto")}
for lines in (tied, tied[::-1]):
    for kind, sizes in small.items():
        for size in sizes:
            tell(Tokenizer.train(lines, kind=kind, size=size))
for each in train_pair(tied, tied[:3], kind="unigram", joint=False):
    tell(each)
"""


def test_every_process_learns_the_same_tokenizers():
    """Characters and pieces that are seen equally often: a fixed order decides, and the order of lines does not."""

    def run(seed: int) -> list[str]:
        environment = os.environ | {"PYTHONHASHSEED": str(seed), "TOKENIZERS_PARALLELISM": "01"[seed % 2]}
        done = subprocess.run([sys.executable, "-c", TRAIN_ALL], env=environment, capture_output=True, check=True)
        return done.stdout.decode().splitlines()

    first, *others = map(run, range(4))
    assert len(first) == 2 * 10 + 2 and all(other == first for other in others)
    assert first[:10] == first[10:20]


def test_pieces_that_tie_at_the_limit_are_those_of_the_first_letters():
    found = Tokenizer.train(["fedcba"] * 2, kind="bpe", size=4 + 256 + 2 * 3)
    kept = [piece for piece in found.backend.get_vocab() if len(piece) == 1]
    assert sorted(kept) == [" ", "a", "b"]  # half the room is for characters; each is seen twice


def test_kinds_are_chosen_from_the_text():
    assert Survey.of(["a b c d", "d c b a"] * 50).kind() == "words"
    assert Survey.of([f"{day} May 1992" for day in range(1, 29)]).kind() == "characters"
    assert Survey.of(LINES).kind() == "bpe"


def test_size_grows_with_the_text():
    sizes = {10: 600, 4_000_000: 8_000, 25_000_000: 16_700, 10**10: 32_000}
    assert {characters: Survey(characters=characters).size() for characters in sizes} == sizes


def test_a_survey_of_very_many_lines_keeps_a_sample(monkeypatch):
    monkeypatch.setattr("regard.data.tokenizer_train.MOST_LINES", 100)
    survey = Survey.of(f"word{number}" for number in range(1_000))
    assert survey.count == 1_000 and len(set(survey.lines)) == 100
    assert max(int(line[4:]) for line in survey.lines) > 900


def test_pairs_share_a_tokenizer_where_they_share_letters():
    english, german = LINES[0:1] * 9, LINES[1:2] * 9
    one, other = train_pair(english, german, kind="bpe", joint=True)
    assert one is other
    one, other = train_pair(english, ["私は東京に住んでいます。"] * 9, kind="bpe")
    assert one is not other
    one, other = train_pair(["a b c"] * 50, ["c b a"] * 50)
    assert one is not other and one.kind == other.kind == "words"


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match=r"no kind of tokenizer is called 'bpee'.*\n.*Did you mean 'bpe'"):
        Tokenizer.train(LINES, kind="bpee")
    with pytest.raises(UsageError, match=r"a 'bpe' tokenizer .* has 261 pieces or more; .* is 100"):
        Tokenizer.train(LINES, kind="bpe", size=100)
    with pytest.raises(BrokenData, match="2 lines were given and none has a word"):
        Tokenizer.train(["", "  "])
    with pytest.raises(BrokenData, match=r"line 2, character 3: half a character .*'\\ud800'"):
        Tokenizer.train(LINES, kind="bpe").encode_ids(["whole", "ha\ud800lf"])


@pytest.mark.skipif(not DATA.exists(), reason="the shared data sets are not beside the repository")
def test_multi30k_gets_about_eight_thousand_joint_pieces():
    files = [DATA / "multi30k" / f"train.{language}.gz" for language in ("de", "en")]
    german, english = (gzip.decompress(file.read_bytes()).decode().splitlines() for file in files)
    one, other = train_pair(german, english)
    assert one is other and one.kind == "bpe" and 7_000 <= len(one) <= 9_000
    assert [one.decode(ids) for ids in one.encode_ids(german)] == german
