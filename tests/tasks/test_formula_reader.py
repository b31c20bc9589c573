"""A reader of formulas: it learns some in seconds, from im2latex's own layout, and says where each token looked."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import regard
from regard.cli import app
from regard.data.corpus import Corpus
from regard.data.drawn import save_image
from regard.data.formulas import draw_image
from regard.errors import UsageError
from regard.evaluate.metrics import DRAWN
from regard.search import Options
from regard.search.options import Sampling
from regard.show.formula import ReadFormula
from regard.tasks.formula_reader import Formula, FormulaReader, _box

FORMULAS = [f"{one} {sign} {other}" for one in "ax" for sign in "+=" for other in ("a", "x", r"\pi")]
UPDATES = 80
SETTINGS = (
    *("encode.features=32", "encode.hidden=32", "predict.hidden=32", "predict.embed.width=12", "train.tokens=32768"),
    *("train.rate=0.01", "train.schedule=constant", "train.average=none", "train.precision=fp32"),
    *("train.validate_steps=0", "train.tensorboard=false"),
)

pytestmark = pytest.mark.usefixtures("one_thread", "unchecked")


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """A corpus as im2latex has it."""
    home = tmp_path_factory.mktemp("lists")
    (home / "im2latex_formulas.lst").write_text("\n".join(FORMULAS) + "\n")
    for number, formula in enumerate(FORMULAS):
        save_image(draw_image(formula), home / "formula_images" / f"{number:x}f.png")
    lines = [f"{number} {number:x}f basic\n" for number in range(len(FORMULAS))]
    for name, some in (("train", lines), ("validate", lines[:3]), ("test", lines)):
        (home / f"im2latex_{name}.lst").write_text("".join(some))
    return home


@pytest.fixture(scope="module")
def run(lists, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "formulas"
    regard.train("latex", data=lists, out=out, steps=UPDATES, settings=SETTINGS, seed=3)
    return out


@pytest.fixture(scope="module")
def reader(run):
    return regard.load(run)


@pytest.fixture
def image(lists):
    return str(lists / "formula_images" / "2f.png")


def test_formulas_are_learnt_in_seconds(reader, lists):
    report = reader.evaluate(lists, split="test", by_length=True)
    scores = {score.name: score.value for score in report.scores}
    assert [score.name for score in report.scores][:1] == ["token match"]
    assert len(scores) == len(DRAWN)
    assert scores["token match"] == scores["image match"] == scores["near image match"] == 100
    assert scores["edit accuracy"] == 100
    assert scores["token BLEU"] == 0  # three tokens hold no four in a row
    assert [bucket.label for bucket in report.lengths] == ["3"]


def test_what_is_read(reader, image):
    assert isinstance(reader, FormulaReader) and reader.verb == "latex"
    found = reader.latex(image)
    assert isinstance(found, Formula)
    assert (found.text, found.latex, found.words) == (r"a + \pi", r"a+\pi", ("a", "+", r"\pi"))
    assert found.is_drawable and found.score <= 0
    assert len(found.boxes) == 3
    with pytest.raises(AttributeError, match="trained to latex"):
        reader.caption(image)


def test_many_images_and_many_formulas(reader, image):
    both = reader.latex([image, image], beam=3, nbest=2)
    assert [len(each) for each in both] == [2, 2]
    assert both[0][0].text == r"a + \pi" and both[0][0].score >= both[0][1].score


@pytest.fixture
def confused(reader):
    """The reader, to which a plus looks like an equals sign, and a little more so than like itself."""
    plus, equals = (reader.target.tokenizer.encode(each).ids[0] for each in "+=")
    readout = reader.model.predict.readout.score
    before = {name: value.clone() for name, value in readout.state_dict().items()}
    with torch.no_grad():
        readout.weight[equals] = readout.weight[plus]
        readout.bias[equals] = readout.bias[plus] + 0.5
    yield reader
    readout.load_state_dict(before)


def test_what_looks_like_the_image_comes_first(confused, image, lists):
    assert confused.latex(image, beam=8).text == r"a = \pi"
    usual, seen = confused.latex(image, beam=8, nbest=8), confused.latex(image, beam=8, nbest=8, redraw=True)
    assert seen[0].text == r"a + \pi"
    assert [each.text for each in seen[1:]] == [each.text for each in usual if each.text != r"a + \pi"]
    assert seen[0].score < usual[0].score and seen[0].word_grid is not None
    assert confused.latex([image], beam=8, redraw=True)[0].text == r"a + \pi"
    assert confused.latex(image, beam=1, redraw=True).text == confused.latex(image, beam=1).text, "there is one alone"


def test_what_is_drawn_at_random_is_not_chosen_among(reader, image):
    with pytest.raises(UsageError, match="of a beam"):
        reader.search([image], Options(sampling=Sampling()), redraw=True)


def test_boxes_lie_in_the_image(reader, lists):
    """In pixels of the image as it is, wherever in it the formula stands."""
    plain = draw_image(FORMULAS[2])
    moved = np.pad(plain, ((31, 7), (43, 11)), constant_values=255)
    one, other = reader.latex([plain, moved])
    assert one.text == other.text == r"a + \pi", "where it stands does not matter"
    for near, far in zip(one.boxes, other.boxes, strict=True):
        assert np.allclose(np.array(near) + np.array([43, 31, 43, 31]), far, atol=1e-6)
    left = [box[0] for box in one.boxes]
    assert left[0] < left[2], "the last sign stands right of the first"


def test_a_box_by_hand():
    weights = np.array([[0.0, 0.1, 0.0, 0.0], [0.0, 0.5, 0.3, 0.1]], np.float32)
    assert _box(weights) == (0.25, 0.5, 0.75, 1.0)


def test_a_given_formula_is_forced_in_its_one_form(reader, image):
    (found,) = reader.force([image], [r"a+\pi"])
    assert found.text == r"a + \pi"
    assert found.likelihood == pytest.approx(reader.latex(image).likelihood, abs=1e-4)
    assert reader.score([image], ["x=x"])[0] < found.likelihood


@pytest.mark.parametrize("ending", ["html", "png", "svg", "txt"])
def test_a_picture(reader, image, tmp_path, ending):
    path = reader.latex(image).save(tmp_path / f"seen.{ending}", right=r"a + \pi")
    assert path.stat().st_size > 100
    if ending == "html":
        text = path.read_text()
        assert "What a token looked at is marked" in text and "<img" in text


def test_right_and_wrong_are_told(reader, image):
    found = reader.latex(image)
    drawn = found.compared(None)
    assert isinstance(drawn, ReadFormula)
    assert "marked" in drawn.remarks()[0] and not any("smoothly" in each for each in drawn.remarks())
    assert found.compared(r"a+{\pi}").is_right is False
    assert found.compared(r"a+\pi").is_right
    assert found.compared(None).is_right is None


def asked(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def test_the_command(run, image, lists, tmp_path):
    done = asked("latex", run, image)
    assert (done.exit_code, done.stdout) == (0, f"{image}\ta+\\pi\n")
    assert asked("latex", run, image, "--redraw").stdout == done.stdout
    done = asked("latex", run, image, "--redraw", "--sample")
    assert done.exit_code and done.stdout == "" and "--sample has none" in str(done.exception or done.stderr)
    done = asked("latex", run, image, "--format", "jsonl", "--nbest", "2", "--save-attention", tmp_path / "seen")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [set(row) for row in rows] == [
        {"image", "latex", "tokens", "score", "likelihood", "drawable", "boxes", "grid"}
    ] * 2
    assert rows[0]["tokens"] == ["a", "+", "\\pi"] and rows[0]["drawable"] is True
    assert np.array(rows[0]["grid"]).sum((1, 2)) == pytest.approx([1, 1, 1], abs=0.01)
    assert sorted(path.name for path in (tmp_path / "seen").iterdir()) == ["2f.npz", "2f.png"]
    whole = asked("latex", run, lists / "formula_images", "--beam", "1")
    assert len(whole.stdout.splitlines()) == len(FORMULAS)


def test_the_command_tells_what_it_cannot_read(run, image, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no image")
    done = asked("latex", run, broken, image)
    assert done.exit_code == 1 and "broken.png: the image cannot be read" in done.stderr
    assert done.stdout == f"{image}\ta+\\pi\n"


def test_show(run, image, tmp_path):
    done = asked("show", run, image, "--right", r"a+\pi", "--out", tmp_path / "page.html")
    assert done.exit_code == 0 and (tmp_path / "page.html").is_file()
    assert "a + \\pi" in asked("show", run, image).stdout


def test_a_corpus_as_im2latex_has_it(lists):
    corpus = Corpus.open(lists, reads="image", wants="text")
    assert set(corpus.splits) == {"train", "val", "test"}
    rows = corpus.split("train")
    assert list(rows["target"]) == FORMULAS
    assert rows["source"][2] == str(lists / "formula_images" / "2f.png")
