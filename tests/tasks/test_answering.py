"""Models that classify and tag, as a person uses them: answers, what was looked at, pictures, evaluation."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from datasets import Dataset
from PIL import Image

import regard
from answering import trained
from regard.data.corpus import Corpus
from regard.errors import BrokenData, UsageError
from regard.recipe import resolve
from regard.show.pictured import Pictured
from regard.show.shaded import Shaded
from regard.tasks.classifier import Classifier
from regard.tasks.seen import Looked, open_words, over_words
from regard.tasks.tagger import Tagger


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("answering")


@pytest.fixture(scope="module")
def classifier(home):
    return regard.load(trained(home, "needle"))


@pytest.fixture(scope="module")
def tagger(home):
    return regard.load(trained(home, "tagged"))


@pytest.fixture(scope="module")
def images(home):
    return regard.load(trained(home, "shapes"))


def corpus(reads, wants, sources, targets):
    rows = Dataset.from_dict({"source": sources, "target": targets})
    return Corpus("mine", reads, wants, {"train": rows, "test": rows})


# --- answers -----------------------------------------------------------------------------------------------


def test_the_object_is_that_of_the_task(classifier, tagger, images):
    assert isinstance(classifier, Classifier) and isinstance(images, Classifier) and isinstance(tagger, Tagger)
    assert repr(classifier).startswith("<Classifier needle: ") and "2 classes; classify, answer" in repr(classifier)
    assert "11 tags; tag, answer" in repr(tagger)


def test_a_class_its_probability_and_what_was_looked_at(classifier):
    found = classifier.classify("w1 w2 w3 unheard")
    assert found.text == found.label == max(found.probabilities, key=found.probabilities.get)
    assert found.probability == found.probabilities[found.label]
    assert sum(found.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert found.seen.words == ("w1", "w2", "w3", "unheard", "</s>")
    assert found.seen.weights.sum() == pytest.approx(1, abs=1e-5) and found.attention[0].shape[0] == 1
    assert found.seen.answer == found.label and found.seen.right is None
    assert classifier.look("w1").label == classifier.classify("w1").label


def test_many_in_their_order_and_each_as_if_alone(classifier, tagger):
    lines = ["w1 w2 w3 w4 w5", "", "w7", "東京 は", "نص طويل هنا"]
    for model in (classifier, tagger):
        together, alone = model.answer(lines), [model.answer([line])[0] for line in lines]
        assert [each.text for each in together] == [each.text for each in alone]
        np.testing.assert_allclose([each.probability for each in together], [each.probability for each in alone], 1e-5)
        assert model.answer([]) == []
    assert classifier.classify([]) == [] and tagger.tag([]) == []
    assert classifier.classify("").seen.words == ("</s>",) and tagger.tag("").tags == ()


@pytest.mark.parametrize("wrong", [None, b"a", 5, ["a", None], ["\ud800"]])
def test_what_is_no_text_is_refused(classifier, tagger, wrong):
    for ask in (classifier.classify, tagger.tag, classifier.answer):
        with pytest.raises(UsageError, match="inputs"):
            ask(wrong)


def test_images_come_as_files_open_or_as_arrays(images, tmp_path):
    pixels = np.random.default_rng(3).integers(0, 256, (20, 28, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    kinds = [str(tmp_path / "a.png"), tmp_path / "a.png", Image.fromarray(pixels), pixels]
    found = [images.classify(each) for each in kinds]
    assert len({(each.label, each.probability) for each in found}) == 1
    assert found[0].grid.shape == (2, 5, 7)  # queries, and cells of an image that was halved twice
    np.testing.assert_allclose(found[0].grid.sum((1, 2)), 1, rtol=1e-5)
    assert isinstance(found[0].seen, Pictured) and (found[0].seen.image == pixels).all()
    light = found[0].seen.smooth(1)
    assert light.shape == (20, 28) and 0 <= light.min() <= light.max() <= 1
    for wrong in (None, b"a", "", [5]):
        with pytest.raises(UsageError, match=r"inputs\[0\]: expected an image"):
            images.classify(wrong)
    with pytest.raises(BrokenData, match="there is no such file"):
        images.classify("nowhere.png")


def test_tags_one_for_each_word_whatever_it_is(tagger):
    found = tagger.tag("they \u200b 東京 \ufeff plan .")
    assert found.words == ("they", "\u200b", "東京", "\ufeff", "plan", ".")
    assert len(found.tags) == len(found.probabilities) == 6 and set(found.tags) <= set(tagger.target.names)
    assert found.drawn().startswith(f"they/{found.tags[0]} ")
    assert found.alignment.source == (*found.words, "</s>") and found.alignment.kind == "encoder-self"
    torch.testing.assert_close(found.alignment.matrix.sum(1), torch.ones(7), atol=1e-5, rtol=0)


def test_a_verb_of_another_task_is_told(classifier, tagger):
    with pytest.raises(AttributeError, match=r"a Classifier cannot translate: .* Write model.classify\(...\)"):
        classifier.translate("a")
    with pytest.raises(AttributeError, match=r"Write model.tag\(...\)"):
        tagger.classify("a")
    with pytest.raises(AttributeError, match="'Tagger' object has no attribute 'tga'"):
        tagger.tga  # noqa: B018
    with pytest.raises(UsageError, match="run in ctranslate2; this one was made to classify"):
        regard.load(classifier.folder, engine="ctranslate2")


# --- what was looked at ------------------------------------------------------------------------------------


def test_weights_and_gates_of_words_by_hand():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [1.0, 0.0, 0.0, 0.0]], np.float32)
    np.testing.assert_allclose(over_words(weights, [0, 0, 1, 2], 3), [[0.3, 0.3, 0.4], [1, 0, 0]], rtol=1e-6)
    assert open_words([0.0, 1.0, 0.0, 0.0], [0, 0, 1, 2], 3).tolist() == [1, 0, 0]
    assert open_words(None, [0], 1) is None
    heads = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert Looked((), heads).open_keys().tolist() == [0, 1, 0]  # open to any head
    assert Looked((torch.ones(2, 3, 5),)).queries().shape == (6, 5)


def test_a_model_that_does_not_attend(classifier):
    settings = ["predict.pool=mean", "attend=none", "embed.width=7", "encode.hidden=6"]
    model = resolve("classify", settings).build(classifier.source.spec(), classifier.target.spec())
    found = Classifier(model, classifier.source, classifier.target).classify("w1 w2")
    assert found.attention == () and isinstance(found.seen, Shaded)
    assert "does not attend" in " ".join(found.seen.remarks())
    assert found.drawn().startswith("w1 w2  ->")


@pytest.mark.parametrize("ending", ["html", "png", "svg", "pdf", "txt"])
def test_pictures(classifier, tagger, images, home, tmp_path, ending):
    image = sorted((home / "cache" / "images").rglob("*.png"))[0]
    for name, found in (
        ("text", classifier.classify("w1 <b> $x$ für")),
        ("tags", tagger.tag("they plan <i> $a_ für")),
        ("image", images.classify(image)),
    ):
        path = found.save(tmp_path / f"{name}.{ending}", right=wrong_of(found))
        assert path.stat().st_size > 50
        if ending in ("html", "txt"):
            text = path.read_text(encoding="utf-8")
            assert "✗" in text and (ending == "txt" or "<b> $x$" not in text)
    with pytest.raises(UsageError, match=r"expected a name that ends in \.html"):
        found.save(tmp_path / "a.gif")


def wrong_of(found):
    return " ".join(["X"] * len(found.tags)) if hasattr(found, "tags") else "other"


def test_they_show_themselves_in_a_notebook(classifier, tagger, images, home):
    image = sorted((home / "cache" / "images").rglob("*.png"))[0]
    for found in (classifier.classify("w1 <b>"), tagger.tag("<b> a"), images.classify(image)):
        assert found._repr_html_().startswith("<iframe title=") and "<b>" not in found._repr_html_()


# --- evaluation --------------------------------------------------------------------------------------------


def test_a_report_of_a_classifier(classifier):
    sources = [f"w{number} " * (1 + number % 5) for number in range(1, 24)]
    answers = [each.label for each in classifier.classify(sources)]
    other = {"pos": "neg", "neg": "pos"}
    targets = [other[each] if number < 3 else each for number, each in enumerate(answers)]
    report = classifier.evaluate(corpus("text", "label", sources, targets), by_length=True)
    assert [each.name for each in report.scores] == ["accuracy", "macro F1", "ECE"]
    assert report.scores[0].value == pytest.approx(100 * 20 / 23) and report.scores[0].low < report.scores[0].high
    assert report.confusion.classes == ("neg", "pos") and report.confusion.counts.trace() == 20
    assert sum(each.count for each in report.calibration.bins) == 23 == sum(each.count for each in report.lengths)
    assert report.title == "needle: mine test, text to label, 23 texts" and not report.notes
    assert "answers/s" in report.as_text() and json.loads(report.as_json())["confusion"]["classes"] == ["neg", "pos"]


def test_classes_that_training_never_saw_count_as_wrong_and_are_told(classifier, tagger):
    report = regard.evaluate(classifier, corpus("text", "label", ["w1", "w2"], ["new", classifier.classify("w2").text]))
    assert report.scores[0].value == 50 and report.confusion.classes == ("neg", "pos", "new")
    assert report.notes == ("1 of 2 right answers are classes that the training data had not: new",)
    assert "note: 1 of 2 right answers" in report.as_text() and json.loads(report.as_json())["notes"]
    found = regard.evaluate(tagger, corpus("text", "tags", ["a b"], [f"{tagger.tag('a b').tags[0]} NEW"]))
    assert found.scores[0].value == 50 and "NEW" in found.notes[0]


def test_reports_of_folders_and_of_built_in_data(home, tagger, images):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REGARD_CACHE", str(home / "cache"))
        tags = regard.evaluate(home / "tagged", "tagged", split="val", outputs=home / "tags.txt")
        shapes = images.evaluate("shapes", by_length=True)
    assert tags.by_metric()["tag_accuracy"].value == pytest.approx(100 * tags.confusion.accuracy)
    assert len((home / "tags.txt").read_text().splitlines()) == tags.speed.sentences
    assert shapes.lengths == () and set(shapes.by_metric()) == {"accuracy", "macro_f1", "ece"}


def test_what_cannot_be_evaluated(classifier):
    with pytest.raises(UsageError, match="expected a model, as regard.load gives it, or a folder; found int"):
        regard.evaluate(5, "needle")


@pytest.mark.parametrize(
    "first", ["import regard; regard.evaluate", "from regard.evaluate import bleu", "import regard.api"]
)
def test_the_package_and_the_function_are_one_name(first):
    code = (
        f"import sys; {first}; import regard; from regard.evaluate import bleu; from regard.errors import UsageError\n"
        "assert bleu(['a b c d'], ['a b c d']).value > 99 and regard.evaluate.bleu is bleu\n"
        "try:\n    regard.evaluate(5, 'needle')\nexcept UsageError:\n    print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "refused\n", done.stderr


def test_importing_regard_stays_light():
    heavy = "{'torch', 'numpy', 'datasets', 'sacrebleu'} & set(sys.modules)"
    code = f"import sys, regard; sys.exit(str({heavy} or ''))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).stderr.strip() == b""
