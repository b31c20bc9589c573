"""A model as a person uses it: raw text in; text, scores, alignments and the record out."""

import pytest
import torch

from regard.alignment import END
from regard.data.tokenizer import Tokenizer
from regard.errors import UsageError
from regard.search import Options
from regard.translator import Translator
from small import model, overrides

LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch"]
OTHERS = ["the man reads a book", "yes", "the woman and the child read a book"]


@pytest.fixture(scope="module")
def tokenizers():
    return Tokenizer.train(LINES * 9, kind="bpe", size=300), Tokenizer.train(OTHERS * 9, kind="bpe", size=300)


def translator(tokenizers, decoder="luong"):
    torch.manual_seed(11)
    source, target = tokenizers
    return Translator(model(overrides("predict", decoder), len(source), len(target)), source, target)


@pytest.mark.parametrize("decoder", ["luong", "bahdanau", "transformer"])
def test_what_was_looked_at_is_part_of_the_result(tokenizers, decoder):
    ours = translator(tokenizers, decoder)
    for line, found in zip(LINES, ours.translate(LINES, beam=3), strict=True):
        assert found.alignment.source == (*line.split(), END)
        assert found.alignment.target == (*found.text.split(), END)
        assert torch.allclose(found.alignment.matrix.sum(1), torch.ones(len(found.alignment.target)), atol=1e-4)
        forced = ours.force(line, found.text)[0]
        if forced.pieces == found.pieces:  # a random model need not spell as the tokenizer does
            assert torch.allclose(forced.alignment.matrix, found.alignment.matrix, atol=1e-5)
            assert forced.likelihood == pytest.approx(found.likelihood, abs=1e-4)


def test_one_line_in_one_out_and_many_in_order(tokenizers):
    ours = translator(tokenizers)
    many = ours.translate(LINES, beam=2)
    assert [each.text for each in many] == [ours.translate(line, beam=2).text for line in LINES]


def test_batches_do_not_change_what_is_found(tokenizers):
    ours = translator(tokenizers)
    for small, large in zip(ours.search(LINES, tokens=1), ours.search(LINES, tokens=9999), strict=True):
        assert [each.text for each in small] == [each.text for each in large]
        assert small[0].likelihood == pytest.approx(large[0].likelihood, abs=1e-4)


def test_several_outputs_best_first(tokenizers):
    found = translator(tokenizers).search(LINES[:1], Options(beam=4, nbest=3))[0]
    assert len(found) == 3
    assert sorted((each.score for each in found), reverse=True) == [each.score for each in found]


def test_given_pairs_are_aligned_and_scored(tokenizers):
    ours = translator(tokenizers)
    alignment = ours.align(LINES[0], OTHERS[0])
    assert (alignment.source, alignment.target) == ((*LINES[0].split(), END), (*OTHERS[0].split(), END))
    assert ours.score(LINES, OTHERS) == pytest.approx(
        [ours.score(*pair) for pair in zip(LINES, OTHERS, strict=True)], abs=1e-4
    )
    assert ours.score(LINES[0], OTHERS[0]) < 0


def test_a_model_that_does_not_attend_has_no_alignment(tokenizers):
    ours = translator(tokenizers, "plain")
    assert ours.translate("ja").alignment is None
    with pytest.raises(UsageError, match="does not attend"):
        ours.align("ja", "yes")


def test_unequal_pairs_are_refused(tokenizers):
    with pytest.raises(UsageError, match="found 2 and 1"):
        translator(tokenizers).score(LINES[:2], OTHERS[:1])


def test_any_writing_goes_in(tokenizers):
    for line in ("", "   ", "日本語の文", "السلام عليكم", "emoji 🙂 and \t tab", "</s> <unk>"):
        assert isinstance(translator(tokenizers).translate(line, beam=2).text, str)
