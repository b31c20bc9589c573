"""The options of a search, in CTranslate2's hands."""

import numpy as np
import pytest
import torch

pytest.importorskip("ctranslate2", reason="ctranslate2 is one of the dev dependencies")

import regard
from exports import LINES, OTHERS, saved
from regard.align.record import Aligner
from regard.engine.ctranslate2 import open_folder
from regard.errors import ModelError, ShapeError, UsageError
from regard.export.ctranslate2 import export
from regard.export.request import Wish
from regard.search import Options, Shortlist, length_penalty
from regard.translate.translator import Translator


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("exports")
    settings = ["embed.position=learned", "embed.position.longest=59", "predict.embed.position=sinusoid"]
    saved(home / "model", settings, Aligner("cross", 0, (1,)))
    export(home / "model", home / "out", Wish("float32", LINES))
    return home


@pytest.fixture(scope="module")
def ours(folders):
    return regard.load(folders / "model")


@pytest.fixture(scope="module")
def theirs(folders):
    return regard.load(folders / "out", engine="ctranslate2", threads=1)


def sources(translator, lines=LINES):
    return [[*each.ids, 2] for each in translator.source.encode_batch(lines)]


def searched(translator, options, lines=LINES):
    return translator.engine.search(sources(translator, lines), options, record=True)


@pytest.mark.parametrize(
    "options",
    [
        Options(beam=1),
        Options(beam=1, max_length=3),
        Options(beam=1, min_length=5),
        Options(beam=1, no_repeat=1, max_length=11),
        Options(beam=1, alpha=0.0, stretch=0.5),
        Options(beam=1, prefix=[[280, 281], [], [282], [283, 284, 285]]),
    ],
    ids=["plain", "short", "long", "no repeats", "stretch", "prefix"],
)
def test_a_beam_of_one_is_ours(ours, theirs, options):
    for one, two in zip(searched(ours, options), searched(theirs, options), strict=True):
        assert one[0].ids == two[0].ids
        assert np.allclose(one[0].weights[0][1:2], two[0].weights[0], atol=1e-4)
        if not (options.min_length or options.no_repeat):  # what is forbidden leaves their softmax, and not ours
            assert two[0].likelihood == pytest.approx(one[0].likelihood, abs=1e-3)
            assert two[0].score == pytest.approx(one[0].score, abs=1e-3)


def test_pieces_that_are_avoided_are_not_written(ours, theirs):
    first = searched(ours, Options(beam=1, min_length=1))[0][0].ids[0]
    for best in searched(theirs, Options(beam=3, nbest=3, avoid=(first,))):
        assert all(first not in each.ids for each in best)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_several_outputs_ranked_by_our_score(theirs, alpha):
    options = Options(beam=4, nbest=3, alpha=alpha)
    for row, best in enumerate(searched(theirs, options)):
        assert 1 <= len(best) <= 3
        assert len({each.ids for each in best}) == len(best)
        assert [each.score for each in best] == sorted((each.score for each in best), reverse=True)
        for each in best:
            (forced,) = theirs.engine.force(sources(theirs, [LINES[row]]), [each.ids], record=True)
            assert each.likelihood == pytest.approx(forced.likelihood, abs=1e-3)
            assert np.allclose(each.weights[0], forced.weights[0], atol=1e-4)
            penalty = float(length_penalty(torch.tensor([len(each.ids) + 1]), alpha))
            assert each.score == pytest.approx(each.likelihood / penalty, abs=1e-6)


class Counted:
    """A translator that counts how often it is asked to translate."""

    def __init__(self, backend):
        self.backend, self.calls = backend, 0

    def __getattr__(self, name):
        return getattr(self.backend, name)

    def translate_batch(self, *given, **options):
        self.calls += 1
        return self.backend.translate_batch(*given, **options)


@pytest.mark.parametrize(
    ("lines", "beam", "calls"),
    [(LINES[:1], 5, 1), (LINES[2:3], 3, 1), (LINES, 1, 1), (LINES, 5, 2)],
    ids=["one", "another", "greedy", "a batch"],
)
def test_the_first_step_is_told_right_and_asked_for_again_only_in_a_batch(theirs, monkeypatch, lines, beam, calls):
    counted = Counted(theirs.engine.backend)
    monkeypatch.setattr(theirs.engine, "backend", counted)
    found = searched(theirs, Options(beam=beam, nbest=beam, max_length=37, stretch=37), lines)
    assert counted.calls == calls
    for line, best in zip(lines, found, strict=True):
        for each in best:
            (forced,) = theirs.engine.force(sources(theirs, [line]), [each.ids], record=True)
            assert np.allclose(each.weights[0], forced.weights[0], atol=1e-4)


def test_each_sentence_is_cut_at_its_own_limit(ours, theirs):
    options = Options(beam=3, nbest=3, stretch=0.5, max_length=41)
    limits = options.limits([len(ids) for ids in sources(ours)])
    assert len(set(limits)) > 2
    for limit, best in zip(limits, searched(theirs, options), strict=True):
        assert all(len(each.ids) <= limit for each in best)
        assert all(each.weights[0].shape[1] == len(each.ids) + 1 for each in best)


def test_sentences_do_not_mind_their_neighbours(folders, theirs):
    alone = [theirs.translate(line).text for line in LINES]
    assert [each.text for each in theirs.translate(LINES)] == alone
    two = regard.load(folders / "out", threads=2)
    assert (two.engine.backend.num_translators, two.engine.workers, theirs.engine.workers) == (2, 3, 1)
    assert [each.text for each in two.translate(LINES)] == alone
    # A call for each line, three under way at once: each still gets what is its own.
    for one, found in zip(theirs.translate(LINES * 9), two.search(LINES * 9, tokens=1), strict=True):
        assert found[0].text == one.text
        assert torch.allclose(found[0].alignment.matrix, one.alignment.matrix, atol=1e-5)


def test_given_pairs_are_aligned_and_scored(ours, theirs):
    assert theirs.score(LINES, OTHERS) == pytest.approx(ours.score(LINES, OTHERS), abs=1e-3)
    for one, two in zip(ours.align(LINES, OTHERS), theirs.align(LINES, OTHERS), strict=True):
        assert one.links() == two.links()
        assert one.source == two.source
        assert torch.allclose(one.matrix, two.matrix, atol=1e-4)


def test_any_writing_goes_in(ours, theirs):
    for line in ("   ", "日本語", "🙂 \t", "</s> <unk>"):
        assert ours.translate(line, beam=1).text == theirs.translate(line, beam=1).text
    assert theirs.search([]) == []


def test_nothing_is_translated_to_nothing(ours, theirs):
    found = theirs.translate(["", LINES[0], ""])
    assert [each.text for each in found][::2] == ["", ""]
    assert found[1].text == theirs.translate(LINES[0]).text
    assert (found[0].likelihood, found[0].alignment) == (0, None)
    assert theirs.score("", OTHERS[0]) == pytest.approx(ours.score("", OTHERS[0]), abs=1e-3)
    assert torch.equal(theirs.align("", OTHERS[0]).matrix, ours.align("", OTHERS[0]).matrix)


def test_the_record_holds_what_there_is(theirs):
    found = theirs.translate(LINES[0])
    assert found.record.kinds == {"cross": 1}
    assert found.attention[0].shape[0] == 1
    assert found.alignment.note.startswith("layer 1, head 2 of 2 x 4")
    assert theirs.search(LINES[:1], record=False)[0][0].alignment is None


def test_what_it_cannot_do_is_said(theirs):
    with pytest.raises(UsageError, match="coverage penalty"):
        theirs.search(LINES, Options(beta=0.2))
    with pytest.raises(UsageError, match="takes no other"):
        theirs.search(LINES, Options(shortlist=Shortlist.of([], {}, len(theirs.source))))
    with pytest.raises(UsageError, match="exported model, which cannot be looked into"):
        theirs.look(LINES[0])
    with pytest.raises(UsageError, match="one prefix a sentence"):
        searched(theirs, Options(prefix=[[280]]))
    with pytest.raises(ShapeError, match="knows 59 positions of a source"):
        theirs.translate("a " * 99)
    with pytest.raises(ShapeError, match="Write max_length = 1023 or less"):
        searched(theirs, Options(max_length=2000, stretch=2000))


def test_a_folder_that_lost_a_file(folders, tmp_path):
    import shutil

    for name, message in (("model.bin", "cannot read it"), ("source_vocabulary.json", "no vocabulary for its source")):
        broken = tmp_path / name
        shutil.copytree(folders / "out", broken)
        (broken / name).unlink()
        with pytest.raises(ModelError, match=message):
            open_folder(broken)


def test_an_exported_translator_can_take_a_model(ours, theirs):
    borrowed = Translator(theirs.engine, ours.source, ours.target)
    borrowed.model = ours.model
    assert borrowed.translate(LINES[0]).text == ours.translate(LINES[0]).text
