"""What is asked of a training: mistakes are told before work is done in vain."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file

from regard.data.corpus import Corpus
from regard.errors import ModelError, RecipeError, RegardError
from regard.export.request import keep
from regard.learn.folder import RunFolder
from regard.recipe import resolve
from regard.tasks.job import TrainJob, silent
from regard.tasks.setup import kept_parts, set_up
from small import RECIPE

FP32 = ("train.precision=fp32",)  # what `auto` finds the faster may differ from run to run on a busy machine


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of one update, which no kill has touched."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    TrainJob(RECIPE, "copy", folder, size=53, steps=1, settings=FP32).train()
    return folder


def resumed(folder):
    return TrainJob(RECIPE, "copy", folder, size=53, steps=1, resume=True, settings=FP32).train()


def test_a_run_killed_within_its_first_save_begins_anew(whole, tmp_path):
    """There is a log, but neither a state nor a whole folder with tokenizers."""
    run = tmp_path / "run"
    (run / ".last-7").mkdir(parents=True)
    shutil.copy(whole / "log.jsonl", run)
    resumed(run)
    for name in ("source.tokenizer.json", "target.tokenizer.json"):
        assert (run / "best" / name).read_bytes() == (whole / "best" / name).read_bytes()
    ours, theirs = (load_file(folder / "best" / "weights.safetensors") for folder in (run, whole))
    assert ours.keys() == theirs.keys() and all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_a_run_killed_between_two_renames_goes_on(whole, tmp_path):
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "last").rename(run / ".last.old")
    task = resolve(RECIPE).task()
    kept = kept_parts(RunFolder(run), task)
    (run / "best").rename(run / ".best.old")
    for found in (kept, kept_parts(RunFolder(run), task)):
        assert list(found.files().values()) == [
            (whole / "last" / f"{side}.tokenizer.json").read_text(encoding="utf-8") for side in ("source", "target")
        ]
    resumed(run)
    assert sorted(entry.name for entry in run.iterdir()) == sorted(entry.name for entry in whole.iterdir())


def test_a_state_without_tokenizers_is_refused(whole, tmp_path):
    shutil.copy(whole / "state.safetensors", tmp_path)
    with pytest.raises(ModelError, match=r"no model: neither last/ nor best/ is there.\n  Put one of them back"):
        resumed(tmp_path)


@pytest.mark.parametrize(("guide", "spaced"), [("links", True), ("reference", None)])
def test_links_that_people_wrote_count_the_words_between_spaces(guide, spaced):
    recipe = resolve(RECIPE, [f"task.goal.guide={guide}"])
    batches = set_up(recipe, Corpus.open("copy", size=53), None, 0, silent).batches
    assert batches.goal.linked and batches.goal.spaced is spaced


@pytest.mark.parametrize("do", [TrainJob.train, TrainJob.rehearse])
@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("classify", ("task.goal=write",), "the goal 'write' does not go with 'label'; it goes with bahdanau, google"),
        (
            "rnnsearch",
            ("embed.part=pixels", "encode.part=grid"),
            "'grid' reads images; the source of the task is 'text'",
        ),
        ("rnnsearch", ("task.source=image",), "'recurrent' reads text; the source of the task is 'image'"),
    ],
)
def test_parts_that_do_not_go_with_the_task_are_refused_before_anything_is_written(
    do, recipe, settings, message, tmp_path, monkeypatch
):
    monkeypatch.setattr(Corpus, "open", None)
    with pytest.raises(RecipeError, match=message):
        do(TrainJob(recipe, "copy", tmp_path / "run", steps=1, settings=settings))
    assert not any(tmp_path.iterdir())
