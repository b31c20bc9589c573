"""Choosing heads: made weights whose best reading is known, and agreement with the alignment that is then read."""

from types import SimpleNamespace

import pytest
import torch

from regard.align.corpus_links import _keep
from regard.align.heads import _Pair, _read, choose_heads
from regard.align.wordforms import word_forms
from regard.data.tokenizer import Tokenizer
from regard.errors import UsageError
from regard.evaluate import Gold, aer
from regard.translate.translator import Translator
from regard.types import Attended
from small import model, overrides

WORDS = ["a b c d e"] * 30
TOKENIZER = Tokenizer.train(WORDS, kind="words")
SOURCES, TARGETS = ["a b c", "b d", "c a e d"], ["c b a", "d b", "d e a c"]  # each the other backwards
BACKWARDS = [tuple((len(line.split()) - 1 - t, t) for t in range(len(line.split()))) for line in TARGETS]
GOLD = Gold(BACKWARDS, [()] * 3)
HEADS = ["attend.part=heads", "attend.heads=4", *overrides("predict", "transformer")]


def looks(kind, steps, places):
    """Weights of one head: over `steps` target pieces and the end, `places` source pieces and the end."""
    weights = torch.full((steps, places), 0.01)
    for step in range(steps):
        at = {"right": places - 2 - step, "late": places - 1 - step, "first": 0}.get(kind)
        if kind in ("odd", "even"):  # right in every other step, and dull in the rest
            at = places - 2 - step if step % 2 == (kind == "odd") else None
        if at is not None:
            weights[step, at % places] = 1.0
    return weights


class Made(torch.nn.Module):
    """A model whose heads look as they are told to, by layer."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = layers

    def teach(self, batch):
        real, own = batch.target.mask[:, 1:].sum(1), batch.source.mask.sum(1)
        looked = []
        for heads in self.layers:
            weights = torch.zeros(len(real), len(heads), int(real.max()), int(own.max()))
            for row, (steps, places) in enumerate(zip(real.tolist(), own.tolist(), strict=True)):
                weights[row, :, :steps, :places] = torch.stack([looks(kind, steps, places) for kind in heads])
            looked.append(Attended(torch.zeros(len(real), int(real.max()), 1), lambda weights=weights: weights))
        return SimpleNamespace(looked=tuple(looked))


def made(*layers):
    return SimpleNamespace(model=Made(*layers), source=TOKENIZER, target=TOKENIZER)


def test_the_head_that_aligns_is_found():
    found = choose_heads(made(["first", "first"], ["first", "right"]), SOURCES, TARGETS, GOLD, reference="our links")
    best = found.aligner
    assert (best.layer, best.heads, best.shift, best.value, best.pairs) == (1, (1,), False, 0.0, 3)
    assert "layer 2, head 2 of 2 x 2 (AER 0.0 % on 3 pairs, against our links)" in str(best)
    assert [each.error for each in found.readings] == sorted(each.error for each in found.readings)
    # each head and the mean of each layer, both as it is and shifted, and a set that helps somewhere at most
    assert {(each.layer, each.heads, each.shift) for each in found.readings} >= {
        (layer, heads, shift) for layer in (0, 1) for heads in ((0,), (1,), ()) for shift in (False, True)
    }


def test_a_head_that_looks_a_step_later():
    best = choose_heads(made(["first", "late"]), SOURCES, TARGETS, GOLD).aligner
    assert (best.heads, best.shift, best.value) == ((1,), True, 0.0)


def test_heads_that_only_align_together():
    """Of three heads the first is wrong throughout; the others are right in turns."""
    best = choose_heads(made(["first", "odd", "even"]), SOURCES, TARGETS, GOLD).aligner
    assert (best.heads, best.shift, best.value) == ((1, 2), False, 0.0)


def nearly_right(wrong):
    """A thousand words linked to one source word: a head that misses some, one that has just those, one of no use."""
    weights = torch.zeros(2, 3, 1001, 3)
    weights[:, 0, :, 0] = 0.6
    weights[:, 0, :wrong] = torch.tensor([0.0, 0.6, 0.0])
    weights[:, 1, :wrong, 0] = 1.0
    weights[:, 2, :, 1] = 1.0
    sure = torch.zeros(1001, 3, dtype=torch.bool)
    sure[:1000, 0] = True
    return _Pair((weights,), sure, torch.zeros_like(sure))


def test_a_further_head_must_be_worth_it():
    """One link of a thousand takes a thousandth off the error, which is not enough; three are."""
    for wrong, together in ((1, False), (3, True)):
        found = [each for each in _read([nearly_right(wrong)], 0) if not each.shift]
        assert found[0].error == pytest.approx(wrong / 1000, abs=1e-6)
        sets = [each for each in found if len(each.heads) == 2]
        assert [(each.heads, each.error) for each in sets] == ([((0, 1), 0.0)] if together else [])


def test_no_more_than_a_few_heads_align_together():
    """Seven heads, each right for one word in seven: four of them are taken, one at a time."""
    weights = torch.full((2, 7, 71, 3), 0.01)
    for head in range(7):
        weights[:, head, head:70:7] = torch.tensor([1.0, 0.0, 0.0])
    weights[..., 1] += 0.02
    sure = torch.zeros(71, 3, dtype=torch.bool)
    sure[:70, 0] = True
    found = [each for each in _read([_Pair((weights,), sure, torch.zeros_like(sure))], 0) if not each.shift]
    assert [len(each.heads) for each in found] == [1] * 7 + [0, 2, 3, 4]
    assert [each.error for each in found[8:]] == pytest.approx([5 / 7, 4 / 7, 3 / 7])


def test_one_head_is_measured():
    """`first` links every target word to the first source word: 1 of 3, 1 of 2 and 1 of 4 links are right."""
    found = choose_heads(made(["first"]), SOURCES, TARGETS, GOLD)
    assert found.aligner.heads == (0,) and len(found.readings) == 2
    assert found.aligner.value == pytest.approx(1 - 2 * 3 / (9 + 9))
    assert str(found).splitlines()[0].split() == ["layer", "heads", "read", "AER"]


def test_possible_links_are_not_wrong():
    gold = Gold([((2, 0),), (), ()], [((1, 1), (0, 2)), ((1, 0), (0, 1)), ((3, 0), (2, 1), (1, 2), (0, 3))])
    assert choose_heads(made(["right"]), SOURCES, TARGETS, gold).aligner.value == 0.0


def test_without_gold_links_a_statistical_aligner_is_asked():
    sources, targets = [*SOURCES, "a", "e c"], [*TARGETS, "a", "c e"]  # now no two words are always together
    best = choose_heads(made(["first", "right"]), sources * 9, targets * 9).aligner
    assert best.heads == (1,) and best.value < 0.1
    assert best.reference == "a statistical aligner's links (HMM, learnt from 45 pairs)"


@pytest.mark.parametrize("shift", [False, True])
def test_the_error_is_that_of_the_alignment_that_is_read(shift):
    """The links of a Translator that reads as chosen have the very error that was told, subwords and all."""
    lines, others = (
        ["der mann liest ein buch", "ja", "die frau und das kind"],
        ["the man reads a book", "yes", "a child"],
    )
    source, target = (Tokenizer.train(each * 9, kind="bpe", size=290) for each in (lines, others))
    translator = Translator(model(HEADS, len(source), len(target)), source, target)
    gold = Gold([((0, 0), (1, 1)), ((0, 0),), ((3, 0), (4, 1))], [((2, 2),), (), ()])
    found = choose_heads(translator, lines, others, gold)
    for reading in [each for each in found.readings if each.shift == shift][:5]:
        heads = {"layer": reading.layer, "heads": reading.heads, "shift": shift}
        translator.aligner = type(found.aligner)("cross", **heads)
        links = [alignment.links() for alignment in translator.align(lines, others)]
        assert reading.error == pytest.approx(aer(links, gold.sure, gold.possible).aer, abs=1e-6)


def test_lines_without_words_are_left_out():
    gold = Gold([*GOLD.sure, (), ()], [()] * 5)
    found = choose_heads(made(["right"]), [*SOURCES, "", "a"], [*TARGETS, "a", ""], gold)
    assert found.aligner.pairs == 3


def test_what_is_asked_wrongly():
    with pytest.raises(UsageError, match="a model that attends"):
        choose_heads(made(), SOURCES, TARGETS, GOLD)
    with pytest.raises(UsageError, match="the link 3-0 points outside a pair of 3 and 3 words: 'a b c'"):
        choose_heads(made(["right"]), SOURCES, TARGETS, Gold([((3, 0),), (), ()], [()] * 3))
    with pytest.raises(UsageError, match="2"):
        choose_heads(made(["right"]), SOURCES, TARGETS[:2], GOLD)


def test_words_are_counted_without_case_and_punctuation():
    assert list(word_forms(TOKENIZER, ['Der "Hund", ja!', "- 3,5 %", ""])) == [
        ["der", "hund", "ja"],
        ["-", "3,5", "%"],
        [],
    ]


def test_links_are_kept_whole(tmp_path):
    path = tmp_path / "deep" / "links.txt"
    assert _keep(path, ["0-0", "", "1-0 2-1"]) == path.read_text().split("\n")[:-1]
