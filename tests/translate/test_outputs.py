"""What `translate` and `sample` give back: one output or several, of one line or many; and how it shows itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.align.alignment import END
from regard.data.tokenizer import Tokenizer
from regard.errors import UsageError
from regard.model import save
from regard.search import Options, Sampling
from regard.translate.translator import SOURCE_FILE, TARGET_FILE, TOKENS, WIDE, Translator, _tokens
from small import model, overrides

LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch"]
OTHERS = ["the man reads a book", "yes", "the woman and the child read a book"]


@pytest.fixture(scope="module")
def ours():
    torch.manual_seed(11)
    source, target = (Tokenizer.train(lines * 9, kind="bpe", size=300) for lines in (LINES, OTHERS))
    return Translator(model(overrides("predict", "luong"), len(source), len(target)), source, target)


def texts(found):
    return [each.text for each in found]


# --- shapes ------------------------------------------------------------------------------------------------


def test_several_outputs_are_a_list_for_each_line(ours):
    best = ours.translate(LINES, beam=3)
    several = ours.translate(LINES, beam=3, nbest=3)
    assert [len(each) for each in several] == [3, 3, 3]
    assert [each[0].text for each in several] == texts(best)
    assert [sorted((one.score for one in each), reverse=True) for each in several] == [
        [one.score for one in each] for each in several
    ]
    assert texts(ours.translate(LINES[0], beam=3, nbest=3)) == texts(several[0])
    assert len(ours.translate("ja", beam=1, nbest=2)) == 2, "as many are followed as are asked for"


def test_the_length_penalty_can_be_asked_for(ours):
    """A score is the likelihood over a power of the length: without a penalty it is the likelihood."""
    plain, usual = ours.translate("ja", alpha=0), ours.translate("ja")
    assert plain.score == pytest.approx(plain.likelihood)
    assert usual.score != pytest.approx(usual.likelihood, rel=1e-3)


def test_a_line_without_text_has_an_output_without_text(ours):
    assert (ours.translate("").text, ours.translate(" \t\u3000").text, ours.sample("").text) == ("", "", "")
    assert ours.translate("").alignment is None
    mixed = ours.translate(["", *LINES, " "])
    assert texts(mixed) == ["", *texts(ours.translate(LINES)), ""]
    assert [len(each) for each in ours.translate(["", "ja"], nbest=2)] == [1, 2]
    assert ours.translate([]) == []


def test_prefixes_stay_with_their_lines(ours):
    """An empty line is not searched for, and what is forced on the others must not move."""
    pieces = [ours.target.encode(each).ids for each in ("yes", "the", "man")]
    found = ours.search(["ja", "", "ja"], Options(prefix=pieces))
    assert [each[0].text[:3] for each in found] == ["yes", "", "man"]


REFUSED = """
import sys
sys.path.insert(0, "tests")
from regard.data.tokenizer import Tokenizer
from regard.errors import UsageError
from regard.translate.translator import Translator
from small import model

each = Tokenizer.train(["a b"] * 9, kind="bpe", size=300)
ours = Translator(model([], len(each), len(each)), each, each)
for call in (ours.translate, ours.sample, ours.search, lambda given: ours.align("a", given)):
    for given in (["a", None], b"a"):
        try:
            call(given)
        except UsageError as error:
            print(str(error).partition(";")[0])
"""


def test_what_is_no_text_is_refused():
    """In a process of its own: here every argument's type is checked by the tests themselves."""
    done = subprocess.run(
        [sys.executable, "-c", REFUSED], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1]
    )
    wanted = [f"{{}}{told}" for told in ("[1]: expected a text", ": expected a text or a list of texts")]
    names = ["lines"] * 3 + ["target"]
    assert done.stdout.splitlines() == [each.format(name) for name in names for each in wanted], done.stderr


def test_a_wide_beam_is_bounded_and_has_fewer_sentences_beside_it(ours):
    with pytest.raises(UsageError, match="at most 1,000; found 100,000"):
        ours.translate("ja", beam=100_000)
    with pytest.raises(UsageError, match="at most 1,000 draws of a sentence; found 1,001"):
        ours.sample("ja", draws=1001)
    assert [_tokens(Options(beam=beam)) for beam in (1, 5, WIDE, 10 * WIDE)] == [
        2 * TOKENS,
        TOKENS,
        TOKENS,
        TOKENS // 10,
    ]
    assert _tokens(Options(sampling=Sampling(draws=10 * WIDE))) == TOKENS // 10


# --- drawn outputs -----------------------------------------------------------------------------------------


def test_the_same_seed_draws_the_same_wherever_a_line_stands(ours):
    alone = ours.sample(LINES[0], seed=7)
    beside = ours.sample(["ja", LINES[2], LINES[0]], seed=7)
    assert alone.text == beside[2].text != ours.sample(LINES[0], seed=8).text
    draws = ours.sample(LINES[0], draws=3, seed=7)
    assert len({each.text for each in draws}) == 3
    assert texts(ours.sample([LINES[1], LINES[0]], draws=3, seed=7)[1]) == texts(draws)


def test_without_a_seed_each_draw_is_another(ours):
    assert len({ours.sample(LINES[0]).text for _ in range(5)}) > 1


def test_cold_and_narrow_draws_are_greedy(ours):
    best = ours.translate(LINES[0], beam=1).text
    for asked in ({"temperature": 0}, {"top_k": 1}, {"top_p": 1e-6}):
        assert ours.sample(LINES[0], seed=3, **asked).text == best
    assert ours.sample(LINES[0], seed=3).text != best


def test_draws_have_scores_and_alignments(ours):
    found = ours.sample(LINES[0], seed=5)
    assert found.alignment.source == (*LINES[0].split(), END)
    forced = ours.force(LINES[0], found.text)[0]
    if forced.pieces == found.pieces:
        assert forced.likelihood == pytest.approx(found.likelihood, abs=1e-4)
        assert forced.score == pytest.approx(found.score, abs=1e-4)
    assert found.likelihood < found.score < 0
    with pytest.raises(UsageError, match="no_repeat or sampling"):
        ours.search(LINES, Options(sampling=Sampling()), continuous=True)


# --- how they show themselves ------------------------------------------------------------------------------


def test_a_translation_is_short_in_a_shell_and_whole_in_a_notebook(ours):
    found = ours.translate("ja")
    assert re.fullmatch(r"Translation\('.*', score=-\d+\.\d{4}, links='[\d -]*'\)", repr(found))
    assert "tensor" not in repr(found) + repr(found.alignment) + repr(found.record)
    assert len(repr(found.alignment)) < 300
    page = found._repr_html_()
    assert page.startswith('<p dir="auto"><strong>')
    assert f"score {found.score:.4f}" in page
    assert page.count("<iframe") == 1
    assert ours.translate("")._repr_html_() == '<p dir="auto"><strong></strong></p>\n<p>score 0.0000</p>'


def test_a_model_says_what_it_is(ours, tmp_path):
    assert repr(ours).startswith("<Translator : a model in memory; ")
    folder = tmp_path / "de-en" / "run" / "best"
    files = {SOURCE_FILE: ours.source.backend.to_str(), TARGET_FILE: ours.target.backend.to_str()}
    save(ours.model, folder, files | {"README.md": "# A title: x to y\n\ntext: a to b c\n"})
    count = sum(each.numel() for each in ours.model.parameters())
    told = repr(Translator.load(tmp_path / "de-en" / "run"))
    assert told.startswith("<Translator de-en: ")
    assert f"x to y, {count:,} parameters, for torch; " in told
    assert f"{len(ours.source):,} source and {len(ours.target):,} target pieces" in told
    (folder / "README.md").unlink()
    assert "x to y" not in repr(Translator.load(folder))
