"""A model as a person uses it: raw text in; text, scores, alignments and the record out."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.align.alignment import END, START
from regard.align.record import Aligner
from regard.data.tokenizer import Tokenizer
from regard.engine.workers import POOL, batches_of, pools
from regard.errors import ModelError, UsageError
from regard.model import save
from regard.search import Hypothesis, Options
from regard.translate.translator import SOURCE_FILE, TARGET_FILE, Translator
from small import model, overrides

LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch"]
OTHERS = ["the man reads a book", "yes", "the woman and the child read a book"]
HEADS = [
    "encode.part=transformer",
    "encode.layers=3",
    "encode.feed=13",
    "encode.attend.heads=4",
    "attend.part=heads",
    "attend.heads=4",
    *overrides("predict", "transformer"),
]


@pytest.fixture(scope="module")
def tokenizers():
    return Tokenizer.train(LINES * 9, kind="bpe", size=300), Tokenizer.train(OTHERS * 9, kind="bpe", size=300)


def translator(tokenizers, decoder="luong"):
    torch.manual_seed(11)
    source, target = tokenizers
    return Translator(model(overrides("predict", decoder), len(source), len(target)), source, target)


def many_heads(tokenizers, aligner=None):
    torch.manual_seed(13)
    source, target = tokenizers
    return Translator(model(HEADS, len(source), len(target)), source, target, aligner)


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


@pytest.mark.parametrize("workers", [1, 2])
def test_lines_that_enter_as_others_end_are_told_in_order(tokenizers, workers):
    ours = translator(tokenizers)
    ours.engine._workers = workers
    lines = LINES * 5
    for one, other in zip(ours.search(lines, tokens=30, continuous=True), ours.search(lines), strict=True):
        assert [each.text for each in one] == [each.text for each in other]
        assert one[0].likelihood == pytest.approx(other[0].likelihood, abs=1e-4)
        assert torch.allclose(one[0].alignment.matrix, other[0].alignment.matrix, atol=1e-5)


def test_continuous_batching_is_refused_where_nothing_would_come_of_it(tokenizers):
    source, _ = tokenizers
    with pytest.raises(UsageError, match="cannot enter a search"):
        Translator(Lanes(1), source, source).search(LINES, continuous=True)
    for options in (Options(beta=0.1), Options(no_repeat=2)):
        with pytest.raises(UsageError, match="continuous does not go with"):
            translator(tokenizers).search(LINES, options, continuous=True)


def test_pools_share_out_the_lengths_and_hold_only_so_much():
    lengths = [5, 1, 4, 2, 3, 6]
    assert list(pools(lengths, tokens=100, workers=1)) == [[5, 0, 2, 4, 3, 1]]
    assert list(pools(lengths, tokens=100, workers=2)) == [[5, 2, 3], [0, 4, 1]]
    assert len(list(pools([100] * 640, tokens=100, workers=2))) == 2 * (1 + 640 // (POOL * 2))
    assert list(pools([], tokens=100, workers=2)) == []


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 30), max_size=120), st.integers(1, 200), st.integers(1, 4))
def test_batches_hold_every_row_once_and_no_more_positions_than_asked(lengths, tokens, workers):
    batches = list(batches_of(lengths, tokens, workers))
    assert sorted(row for rows in batches for row in rows) == list(range(len(lengths)))
    for rows in batches:
        assert len(rows) == 1 or len(rows) * (max(lengths[row] for row in rows) + 1) <= tokens


def test_workers_get_as_much_to_do():
    """By length alone, one would have the long lines and the other the short ones."""
    lengths = list(range(1, 65))
    one, other = batches_of(lengths, tokens=64 * 65, workers=2)
    assert abs(sum(lengths[row] for row in one) - sum(lengths[row] for row in other)) == len(one) == 32
    assert len(list(batches_of(lengths[:31], tokens=64 * 65, workers=2))) == 1, "too few to share out"


class Lanes:
    """An engine that waits in every search until `workers` of them are under way, and writes what it read."""

    condensed, sizes = False, (300, 300)

    def __init__(self, workers, fails=0):
        self.workers, self.fails, self.asked = workers, fails, 0
        self.met = threading.Barrier(workers, timeout=20)

    def continuous(self):
        return False

    def whole(self):
        return self

    def pool(self, workers):
        return ThreadPoolExecutor(workers)

    def search(self, sources, options, *, record, tokens=None):
        self.asked += 1
        if max(map(len, sources)) == self.fails:
            raise ModelError("no room")
        if not self.fails:
            self.met.wait()
        return [[Hypothesis(tuple(row[:-1]), 0.0, 0.0, ())] for row in sources]

    def force(self, sources, targets, *, record):
        pytest.fail("nobody gave it a target")

    def reader(self, aligner):
        return None


def test_an_engine_of_many_workers_has_as_many_searches_under_way(tokenizers):
    """Two at a time, of four: by one alone the barrier would break. What they find stands where it was asked."""
    source, _ = tokenizers
    lines = ["ja", "ein buch", "der mann liest", "ein kind und ein mann"]
    ours = Translator(Lanes(2), source, source)
    assert [found[0].text for found in ours.search(lines, tokens=1)] == lines


def test_one_lane_that_fails_is_told_and_stops_the_rest(tokenizers):
    source, _ = tokenizers
    lines = ["ja"] * 400 + ["der mann liest ein buch und das kind"]  # the longest is searched first
    engine = Lanes(2, fails=len(source.encode(lines[-1])) + 1)
    with pytest.raises(ModelError, match="no room"):
        Translator(engine, source, source).search(lines, tokens=1)
    assert engine.asked < len(lines)


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


# --- the record --------------------------------------------------------------------------------------------


def test_a_translation_has_its_record(tokenizers):
    found = many_heads(tokenizers).translate(LINES[0], beam=3)
    assert found.record.kinds == {"cross": 2}
    assert (found.record.source.text, found.record.target.text) == (LINES[0], found.text)
    assert found.record.target.pieces == (*found.pieces, END)
    for layer, weights in enumerate(found.attention):
        assert torch.equal(found.record.weights("cross", layer), weights)
    assert torch.equal(found.record.alignment().matrix, found.alignment.matrix)
    assert found.alignment.note == "layer 2, mean of all heads of 2 x 4 (not measured)"
    assert many_heads(tokenizers).search(LINES[:1], record=False)[0][0].record is None


def test_look_sees_every_kind(tokenizers):
    ours = many_heads(tokenizers)
    found, forced = ours.look(LINES[0], OTHERS[0]), ours.force(LINES[0], OTHERS[0])[0]
    assert found.kinds == {"cross": 2, "encoder-self": 3, "decoder-self": 2}
    for layer in range(2):
        assert torch.allclose(found.weights("cross", layer), forced.attention[layer], atol=1e-6)
    assert torch.allclose(found.alignment().matrix, forced.alignment.matrix, atol=1e-6)
    source, target = len(found.source.pieces), len(found.target.pieces)
    assert found.weights("encoder-self").shape == (4, source, source)
    assert found.weights("decoder-self").shape == (2, target, target)
    for kind in found.kinds:
        alignment = found.alignment(kind)
        assert torch.allclose(alignment.matrix.sum(1), torch.ones(len(alignment.target)), atol=1e-5)


def test_look_back_stands_at_the_right_words(tokenizers):
    """The first piece is written with the start alone to look at; later ones see the pieces before, never their own."""
    found = many_heads(tokenizers).look(LINES[2], OTHERS[2])
    weights = found.weights("decoder-self")
    count = weights.shape[-1]
    assert torch.allclose(weights[:, 0, -1], torch.ones(2))
    seen = weights[:, :, :-1] > 0
    assert (seen == torch.ones(count, count - 1).tril(-1).bool()).all()
    assert found.alignment("decoder-self").source == (*OTHERS[2].split(), START)


@pytest.mark.parametrize("build", [many_heads, translator])
def test_look_without_a_target_takes_the_translation(tokenizers, build):
    ours = build(tokenizers)
    best, found = ours.translate(LINES[0], beam=3), ours.look(LINES[0], beam=3)
    assert found.target.pieces == (*best.pieces, END), "its own spelling, not the tokenizer's"
    assert torch.allclose(found.alignment().matrix, best.alignment.matrix, atol=1e-5)


def test_nothing_to_see(tokenizers):
    ours = translator(tokenizers, "plain")
    assert ours.translate("ja").record is None
    with pytest.raises(UsageError, match="does not attend"):
        ours.look("ja")


# --- the heads that align ----------------------------------------------------------------------------------


def test_the_chosen_heads_align(tokenizers):
    chosen = Aligner("cross", 0, (1, 3), "AER", 0.25, 17, "gold links")
    ours, plain = many_heads(tokenizers, chosen), many_heads(tokenizers)
    found, usual = ours.align(LINES[0], OTHERS[0]), plain.align(LINES[0], OTHERS[0])
    assert found.note == "layer 1, mean of heads 2 and 4 of 2 x 4 (AER 25.0 % on 17 pairs, against gold links)"
    record = plain.look(LINES[0], OTHERS[0])
    assert torch.allclose(found.matrix, record.alignment("cross", 0, (1, 3)).matrix, atol=1e-6)
    assert not torch.allclose(found.matrix, usual.matrix, atol=1e-3)
    assert ours.translate(LINES[0]).alignment.note == ours.look(LINES[0]).alignment().note == found.note


def test_a_model_folder_keeps_them(tokenizers, tmp_path):
    ours, chosen = many_heads(tokenizers), Aligner("cross", 0, (2,), "agreement", 0.5, 17, "a reference")
    files = {SOURCE_FILE: tokenizers[0].backend.to_str(), TARGET_FILE: tokenizers[1].backend.to_str()}
    folder = tmp_path / "de-en" / "best"
    save(ours.model, folder, files)
    assert Translator.load(folder).aligner is None
    (folder / "alignment.json").write_text(json.dumps(chosen.to_json()))
    found = Translator.load(tmp_path / "de-en")
    assert found.aligner == chosen
    assert found.look(LINES[0]).model == "de-en"
    assert found.align(LINES[0], OTHERS[0]).note.startswith("layer 1, head 3 of 2 x 4 (agreement 50.0 % on 17 pairs")
    (folder / "alignment.json").write_text("{")
    with pytest.raises(ModelError, match=r"alignment\.json: expected JSON"):
        Translator.load(folder)


def test_heads_of_another_model_are_refused(tokenizers):
    ours = many_heads(tokenizers, Aligner("cross", 5, (1,)))
    with pytest.raises(ModelError, match="2 layers of 4 heads; found layer 6, head 2"):
        ours.align(LINES[0], OTHERS[0])


def test_an_output_without_a_word_aligns_with_its_end_alone(tokenizers):
    """A piece that is no letter by itself, the middle of one or a space, belongs to no word."""
    ours = translator(tokenizers)
    target = tokenizers[1]
    blank = next(each for each in range(4, len(target)) if not target.words(target.read((each,))))
    asked, written = tokenizers[0].encode(LINES[0]), target.read((blank,))
    weights = torch.rand(1, len(written.pieces) + 1, len(asked.pieces) + 1).softmax(-1)
    found = ours._told(asked, written, Hypothesis((blank,), -1.0, -1.0, (weights,)))
    assert found.alignment.target == (END,)
    assert found.alignment.links() == []
    assert found.alignment.matrix.sum() == pytest.approx(1.0, abs=1e-5)


def test_a_model_that_writes_no_text_is_refused(tmp_path):
    """Whatever opens a folder goes this way: translate, align, show, evaluate and every export."""
    save(model(overrides("predict", "label")), tmp_path / "label")
    save(model(overrides("encode", "grid"), source=3), tmp_path / "images")
    with pytest.raises(UsageError, match="expected a model that reads text and writes text; .* from text to label"):
        Translator.load(tmp_path / "label")
    with pytest.raises(UsageError, match="expected a model that reads text and writes text; .* from image to text"):
        Translator.load(tmp_path / "images")
