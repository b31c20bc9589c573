"""Wrong labels on purpose: how many, which, for how long, and where never."""

from collections import Counter

import pytest

import regard
from regard.data.batches import Batches
from regard.data.corpus import Corpus
from regard.data.noise import NoisyLabels, with_noise
from regard.data.sides.label import Label
from regard.errors import RegardError
from regard.recipe import resolve
from regard.tasks.setup import set_up
from small import RECIPE

NAMES = ("a", "b", "c", "d")
ROWS = 4001


class Rows:
    """A split whose label says its row: class row % 4."""

    def __len__(self):
        return ROWS

    def __getitem__(self, rows):
        return {"source": [str(row) for row in rows], "target": [NAMES[row % 4] for row in rows]}


def side(noise):
    label = Label("target", noise=noise)
    label.fit(NAMES)
    return label


def labels(noise, seed=3):
    return NoisyLabels(Rows(), side(noise), seed)[list(range(ROWS))]["target"]


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_so_many_labels_are_wrong_and_every_other_class_as_often(noise):
    right, found = Rows()[list(range(ROWS))]["target"], labels(noise)
    wrong = [(one, other) for one, other in zip(right, found, strict=True) if one != other]
    assert len(wrong) / ROWS == pytest.approx(noise, abs=4 * (noise * (1 - noise) / ROWS) ** 0.5)
    assert NoisyLabels(Rows(), side(noise), 3).wrong() == len(wrong)
    counts = Counter(wrong)
    assert len(counts) == 12
    assert min(counts.values()) > 0.6 * len(wrong) / 12


def test_what_is_wrong_depends_on_seed_and_row_alone():
    noisy, found = NoisyLabels(Rows(), side(0.5), 3), labels(0.5)
    assert labels(0.5) == found != labels(0.5, seed=4)
    some = [17, 4000, 3, 17]
    assert noisy[some]["target"] == [found[row] for row in some]
    assert noisy[some]["source"] == ["17", "4000", "3", "17"] and len(noisy) == ROWS


def test_without_noise_a_split_stays_what_it_is():
    rows = Rows()
    assert with_noise(rows, side(0.0), 3) is rows
    assert labels(0.0) == Rows()[list(range(ROWS))]["target"]
    assert isinstance(with_noise(rows, side(0.1), 3), NoisyLabels)


def ready(seed=0, noise=0.5):
    changes = ["task.goal=classify", "predict.part=label", "task.target.part=label", f"task.target.noise={noise}"]
    recipe, told = resolve(RECIPE, changes), []
    corpus = Corpus.open("needle", size=97, reads="text", wants="label")
    return set_up(recipe, corpus, None, seed, told.append), corpus, told


def learnt(setup, epochs=1):
    """The class of every row, as batches have it, epoch by epoch."""
    found = []
    for _ in range(epochs):
        rows = {}
        for batch in setup.batches:
            rows |= dict(zip(batch.rows, batch.target.data.tolist(), strict=True))
        found.append(rows)
    return found


def test_a_wrong_label_stays_wrong_in_every_epoch_and_after_a_resume():
    setup, corpus, told = ready()
    first, second = learnt(setup, epochs=2)
    assert first == second
    assert learnt(ready()[0])[0] == first, "a run that goes on draws the same"
    assert learnt(ready(seed=1)[0])[0] != first
    clean = setup.parts.target.encode(corpus.split("train")["target"])
    wrong = sum(first[row] != label for row, label in enumerate(clean))
    assert 0.3 * 97 < wrong < 0.7 * 97
    assert [each for each in told if each.startswith("noise")] == [
        f"noise: {wrong} of 97 training labels are replaced by another class"
    ]
    assert not [each for each in ready(noise=0.0)[2] if each.startswith("noise")]


def test_validation_keeps_its_labels():
    setup, corpus, _ = ready()
    rows = corpus.split("val")
    assert setup.validator.references == list(rows["target"])[: len(setup.validator.references)]
    batches = Batches(setup.validator.rows, setup.parts.goal, shuffle=False)
    found = {row: label for batch in batches for row, label in zip(batch.rows, batch.target.data.tolist(), strict=True)}
    wanted = setup.parts.target.encode(list(setup.validator.rows["target"]))
    assert [found[row] for row in range(len(wanted))] == wanted


def test_a_run_does_not_go_on_with_other_noise(tmp_path):
    asked = {"data": "needle", "size": 97, "out": tmp_path / "run"}
    settings = ("task.goal=classify", "predict.part=label", "task.target.part=label", "train.tensorboard=false")
    regard.train(RECIPE, **asked, steps=1, settings=[*settings, "task.target.noise=0.25"])
    with pytest.raises(RegardError, match="noise"):
        regard.train(RECIPE, **asked, steps=2, resume=True, settings=[*settings, "task.target.noise=0.5"])


def test_a_model_folder_is_loaded_as_it_was_trained(tmp_path):
    label = side(0.25)
    for name, text in label.files().items():
        (tmp_path / name).write_text(text)
    again = Label.load(tmp_path, "target", noise=0.25)
    assert again.noise == 0.25 and again.names == NAMES
    assert again.encode(["d"]) == [3], "an answer is never noisy"
