"""What is asked of a training: mistakes are told before work is done in vain."""

import json

import pytest

from regard.data.corpus import Corpus
from regard.errors import RegardError, UsageError
from regard.export.request import keep
from regard.recipe import resolve
from regard.tasks import TrainJob
from regard.tasks.job import silent
from regard.tasks.setup import set_up
from small import RECIPE


@pytest.mark.parametrize("do", [TrainJob.train, TrainJob.rehearse])
@pytest.mark.parametrize(
    ("changes", "message"),
    [({}, "not empty"), ({"resume": True}, "no run to go on with"), ({"settings": ["encode.layer=2"]}, "encode.layer")],
)
def test_what_can_be_known_without_the_corpus_is_told_before_it_is_read(do, changes, message, tmp_path, monkeypatch):
    (tmp_path / "stranger").touch()
    monkeypatch.setattr(Corpus, "open", None)
    with pytest.raises(RegardError, match=message):
        do(TrainJob("rnnsearch", "copy", tmp_path, steps=1, **changes))
    assert [entry.name for entry in tmp_path.iterdir()] == ["stranger"]


@pytest.mark.parametrize("languages", [("de", "en"), ("en", "de"), ("source", "target")])
def test_a_model_folder_says_its_languages(tmp_path, languages):
    """Those that the corpus names, in the direction that was asked for; they go along when it is exported."""
    for name in languages:
        for split in ("train", "val"):
            (tmp_path / f"{split}.{name}").write_text("ja\nnein\nvielleicht\n")
    corpus = Corpus.open(tmp_path, source=languages[0], target=languages[1])
    files = set_up(resolve(RECIPE), corpus, None, 0, silent).files
    if languages == ("source", "target"):
        assert "languages.json" not in files
        return
    assert json.loads(files["languages.json"]) == dict(zip(("source", "target"), languages, strict=True))
    home, out = tmp_path / "home", tmp_path / "out"
    home.mkdir(), out.mkdir()
    (home / "languages.json").write_text(files["languages.json"])
    keep(home, out)
    assert (out / "languages.json").read_text() == files["languages.json"]


@pytest.mark.parametrize(("guide", "spaced"), [("links", True), ("reference", None)])
def test_links_that_people_wrote_count_the_words_between_spaces(guide, spaced):
    recipe = resolve(RECIPE, [f"train.guide={guide}"])
    batches = set_up(recipe, Corpus.open("copy", size=53), None, 0, silent).batches
    assert batches.linked and batches.spaced is spaced


@pytest.mark.parametrize("do", [TrainJob.train, TrainJob.rehearse])
@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("classify", (), "classify: expected a model that .* its task is classify, and the part 'label' in .predict."),
        ("rnnsearch", ("embed.part=pixels", "encode.part=grid"), "the part 'grid' in .encode. reads images"),
    ],
)
def test_what_cannot_be_trained_yet_is_refused_before_anything_is_written(
    do, recipe, settings, message, tmp_path, monkeypatch
):
    monkeypatch.setattr(Corpus, "open", None)
    with pytest.raises(UsageError, match=message) as error:
        do(TrainJob(recipe, "copy", tmp_path / "run", steps=1, settings=settings))
    assert "bahdanau, google, luong" in error.value.hint
    assert not any(tmp_path.iterdir())
