"""How much the length of outputs counts: chosen on validation pairs, kept with the model, used where nobody asks."""

import json

import pytest
import torch

from regard.data.tokenizer import END, Tokenizer
from regard.errors import ModelError
from regard.evaluate import count_bleu
from regard.model import save
from regard.search import Options
from regard.search.options import ALPHA
from regard.tasks import lengths
from regard.tasks.lengths import FEWEST, TRIED, best_by, choose_alpha
from regard.translate.translator import LENGTHS_FILE, SOURCE_FILE, TARGET_FILE, Translation, Translator
from small import model, overrides

LINES = ["der mann liest ein buch", "ja", "die frau und das kind lesen ein buch", "das buch"]


@pytest.fixture(scope="module")
def translator():
    tokenizer = Tokenizer.train(LINES * 9, kind="bpe", size=300)
    torch.manual_seed(11)
    built = model(overrides("predict", "luong"), len(tokenizer), len(tokenizer))
    with torch.no_grad():  # so that outputs of many lengths are likely
        built.predict.readout.score.weight *= 10
        built.predict.readout.score.bias[END] += 3
    return Translator(built, tokenizer, tokenizer)


def test_one_search_finds_what_a_search_with_each_alpha_would(translator):
    found = translator.search(LINES, Options(nbest=5), record=False)
    firsts = set()
    for alpha in TRIED:
        ranked = [some[best_by(alpha, some)].text for some in found]
        assert ranked == [best[0].text for best in translator.search(LINES, Options(alpha=alpha), record=False)]
        firsts.add(tuple(ranked))
    assert len(firsts) > 1  # else nothing was to be seen


class Told(Translator):
    """A model that knows two outputs of every sentence: a shorter one that is likelier, and a longer one."""

    def __init__(self, short, long):
        self.outputs = [
            Translation(short, 0.0, -3.0, tuple(short.split()), None),
            Translation(long, 0.0, -3.9, tuple(long.split()), None),
        ]

    def search(self, sources, options, *, record):
        assert (options.nbest, record) == (options.beam, False)
        return [self.outputs for _ in sources]


def test_what_is_right_decides():
    short, long = "a b c d", "a b c d e f g h"
    sources = ["x"] * FEWEST
    for right, usual in ((long, False), (short, True)):
        chosen = choose_alpha(Told(short, long), sources, [right] * FEWEST)
        assert chosen.bleu == pytest.approx(100)
        assert (chosen.alpha == ALPHA) == usual
    # The least that prefers the longer one: 3 / lp(5) = 3.9 / lp(9), so alpha = log 1.3 / log 1.4 = 0.78.
    assert choose_alpha(Told(short, long), sources, [long] * FEWEST).alpha == 0.8
    assert "alpha 0.8: BLEU 100.0 on 50" in str(choose_alpha(Told(short, long), sources, [long] * FEWEST))


def test_where_words_have_no_spaces_characters_count():
    told = Told("ほ ん", "ほ ん を よ む")
    assert choose_alpha(told, ["x"] * FEWEST, ["ほ ん を よ む"] * FEWEST).alpha > ALPHA


def test_by_too_few_pairs_nothing_is_chosen():
    assert choose_alpha(Told("a", "b"), ["x"], ["a"]) is None


def test_a_model_folder_keeps_it(translator, tmp_path):
    kept = {SOURCE_FILE: translator.source.backend.to_str(), TARGET_FILE: translator.target.backend.to_str()}
    save(translator.model, tmp_path / "usual", kept)
    save(translator.model, tmp_path / "own", {**kept, LENGTHS_FILE: json.dumps({"alpha": 1.4, "pairs": 500})})
    usual, own = Translator.load(tmp_path / "usual"), Translator.load(tmp_path / "own")
    assert (usual.alpha, own.alpha) == (ALPHA, 1.4)
    lines = LINES[:1]
    for asked, alpha in ((None, 1.4), (0.2, 0.2)):
        found, wanted = own.search(lines, Options(alpha=asked))[0][0], usual.search(lines, Options(alpha=alpha))[0][0]
        assert (found.text, found.score) == (wanted.text, wanted.score)
    found = own.search(lines)[0][0]
    (forced,) = own.force(lines, [found.text])
    if forced.pieces == found.pieces:
        assert forced.score == pytest.approx(found.score, abs=1e-5)


@pytest.mark.parametrize("text", ['{"alpha": -1}', '{"alpha": "much"}', "{}", "[]", "alpha"])
def test_what_is_no_alpha_is_told(translator, tmp_path, text):
    kept = {SOURCE_FILE: translator.source.backend.to_str(), TARGET_FILE: translator.target.backend.to_str()}
    save(translator.model, tmp_path / "model", {**kept, LENGTHS_FILE: text})
    with pytest.raises(ModelError, match=r"lengths\.json: expected JSON with an alpha"):
        Translator.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("references", "words"),
    [(["ein buch"], "13a"), (["猫 は 魚 を 食べ た 。", "猫"], "13a"), (["猫は魚を食べた。", "a b"], "char")],
)
def test_words_are_what_stands_between_spaces_wherever_there_are_some(translator, monkeypatch, references, words):
    asked = []

    def counted(*texts, tokenize):
        asked.append(tokenize)
        return count_bleu(*texts, tokenize=tokenize)

    monkeypatch.setattr(lengths, "count_bleu", counted)
    many = (references * FEWEST)[:FEWEST]
    assert choose_alpha(translator, ["ja"] * FEWEST, many) is not None and asked == [words]
