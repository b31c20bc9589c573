"""Words of scripts without spaces: raw lines, lines that somebody cut, and everybody who counts their words."""

import pytest
import torch

from regard.align.heads import choose_heads
from regard.align.wordforms import word_forms
from regard.data.batches import InMemory
from regard.data.pair import Pair
from regard.data.pairs import pair_batches
from regard.data.tokenizer import Tokenizer
from regard.data.words import are_spaced, characters, is_spaced, words_of
from regard.errors import UsageError
from regard.evaluate import Gold
from regard.evaluate.lengths import count_words
from regard.translate.translator import Translator
from small import model, overrides

CUT = [
    "私 は 毎朝 パン を 焼く 。",
    "子供 たち は 川 で 泳い で い た 。",
    "その 店 は コンピューター を 売っ て い ます 。",
    "我 每天 早上 读 两 份 报纸 。",
    "她 在 图书馆 里 认识 了 我 的 老师 。",
    "孩子们 在 河 边 唱歌",
    "ฉัน อ่าน หนังสือ ทุก วัน",
]
RAW = [
    "私は毎朝パンを焼く。",
    "子供たちは川で泳いでいた。 楽しかった。",
    "はい。 そうです。",
    "私は Python が好き",
    "我有 3 个苹果",
    "我每天早上读两份报纸。",
    "ฉันอ่านหนังสือทุกวัน และเขียนจดหมายถึงเพื่อน",
]
ENGLISH = ["i bake bread every morning .", "the children swam in the river .", "the shop sells computers ."]
JAPANESE = [*CUT[:2], "コンピューター"]  # the last is one word, and does not say so


@pytest.fixture(scope="module")
def tokenizers():
    return Tokenizer.train(CUT * 9, kind="bpe", size=330), Tokenizer.train(ENGLISH * 9, kind="bpe", size=300)


@pytest.fixture(scope="module")
def translator(tokenizers):
    torch.manual_seed(5)
    source, target = tokenizers
    heads = ["attend.part=heads", "attend.heads=2", *overrides("predict", "transformer")]
    return Translator(model(heads, len(source), len(target)), source, target)


@pytest.mark.parametrize("line", CUT)
def test_words_of_a_line_that_was_cut_are_those_between_its_spaces(tokenizers, line):
    source, _ = tokenizers
    assert is_spaced(line)
    assert [line[start:end] for start, end in source.words(line)] == line.split()
    assert set(source.piece_to_word(line)) == set(range(len(line.split())))
    assert count_words(line) == len(line.split()) == len(next(word_forms(source, [line])))


@pytest.mark.parametrize("line", RAW)
def test_words_of_a_raw_line_are_its_pieces(tokenizers, line):
    assert not is_spaced(line)
    assert len(tokenizers[0].words(line)) > len(line.split())
    assert len(tokenizers[0].words(line, spaced=True)) == len(line.split())


def test_letters_that_words_may_have():
    """Three on average are a word, four are not; nine of Thai are not."""
    assert is_spaced("日本語 本") and is_spaced("日本人 日本語") and not is_spaced("日本人達 日本語")
    assert is_spaced("กขคงจฉชซ กขคงจฉชซ") and not is_spaced("กขคงจฉชซฌ กขคงจฉชซ")
    assert is_spaced("ein Hund") and is_spaced("") and not is_spaced("本")


def test_most_lines_decide_for_a_file():
    assert are_spaced([*CUT, "コンピューター"]) and are_spaced(["a b", "c"]) and are_spaced([])
    assert are_spaced([CUT[0], RAW[0]]) and not are_spaced([CUT[0], RAW[0], RAW[5], "a b", "c"])


def test_without_a_tokenizer_characters_are_words():
    line = "我爱。 Tokyo塔"
    assert [line[start:end] for start, end in words_of(line, characters(line))] == ["我", "爱", "。", "Tokyo", "塔"]


def test_links_that_are_asked_for_stay_within_the_words_between_spaces(translator):
    for source, found in zip(CUT, translator.align(CUT, [ENGLISH[0]] * len(CUT)), strict=True):
        assert found.source[:-1] == tuple(source.split())
    assert [each.source for each in translator.align(JAPANESE, ENGLISH)][2] != ("コンピューター", "</s>")
    told = translator.align(JAPANESE, ENGLISH, spaced=(True, True))
    assert [each.source[:-1] for each in told] == [tuple(line.split()) for line in JAPANESE]
    other = translator.force(JAPANESE, ENGLISH)
    assert [each.record.source.spaced for each in other] == [True, True, False]
    assert [each.record.target.spaced for each in other] == [True] * 3


def test_heads_are_chosen_by_gold_links_over_the_words_between_spaces(translator):
    gold = Gold([((5, 1), (3, 2)), ((0, 1), (3, 5)), ((0, 3),)], [()] * 3)
    assert choose_heads(translator, JAPANESE, ENGLISH, gold).aligner.pairs == 3
    with pytest.raises(UsageError, match="the link 1-3 points outside a pair of 1 and 5 words"):
        choose_heads(translator, JAPANESE, ENGLISH, Gold([(), (), ((1, 3),)], [()] * 3))
    ours = Gold([(), (), ((1, 3),)], [()] * 3, spaced=None)  # links between the words of tokenizers
    assert choose_heads(translator, JAPANESE, ENGLISH, ours).aligner.pairs == 3


@pytest.mark.parametrize("spaced", [True, None])
def test_links_that_guide_are_of_the_words_that_were_meant(tokenizers, spaced):
    source, target = tokenizers
    pair = InMemory([Pair("コンピューター", "the computers", ((0, 1),))])
    (batch,) = pair_batches(pair, source, target, linked=True, spaced=spaced)
    words = source.piece_to_word("コンピューター")
    assert max(words) > 0, "several pieces, so several words where nobody says that it is one"
    first = torch.tensor([float(spaced or word == 0) for word in words] + [0.0])
    row = target.piece_to_word("the computers").index(1)
    assert torch.allclose(batch.links[0, row], first / first.sum())
