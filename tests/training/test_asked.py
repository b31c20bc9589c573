"""What is asked of a training: mistakes are told before work is done in vain."""

import pytest

from regard.data.corpus import Corpus
from regard.errors import RegardError, UsageError
from regard.training import Asked


@pytest.mark.parametrize("do", [Asked.train, Asked.rehearse])
@pytest.mark.parametrize(
    ("changes", "message"),
    [({}, "not empty"), ({"resume": True}, "no run to go on with"), ({"settings": ["encode.layer=2"]}, "encode.layer")],
)
def test_what_can_be_known_without_the_corpus_is_told_before_it_is_read(do, changes, message, tmp_path, monkeypatch):
    (tmp_path / "stranger").touch()
    monkeypatch.setattr(Corpus, "open", None)
    with pytest.raises(RegardError, match=message):
        do(Asked("rnnsearch", "copy", tmp_path, steps=1, **changes))
    assert [entry.name for entry in tmp_path.iterdir()] == ["stranger"]


@pytest.mark.parametrize("do", [Asked.train, Asked.rehearse])
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
        do(Asked(recipe, "copy", tmp_path / "run", steps=1, settings=settings))
    assert "bahdanau, google, luong" in error.value.hint
    assert not any(tmp_path.iterdir())
