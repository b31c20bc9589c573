"""Settings that have moved are read at their old places: in recipes, on the command line, in the states of runs."""

import pytest

from regard.errors import RecipeError
from regard.learn.optimise import optimiser_for
from regard.learn.settings import TrainSettings, check_same, with_defaults
from regard.recipe import resolve, write
from regard.recipe.moved import moved_terms
from regard.recipe.tree import VERB
from regard.registry import maker
from regard.task import Task

OLD = 'extends = "rnnsearch"\n[train]\nrate = 0.5\n'


@pytest.fixture
def optimiser(tmp_path):
    """The optimiser of a recipe with these lines in [train], as the recipe and as a printed one have it."""

    def read(lines, overrides=()):
        path = tmp_path / "old.toml"
        path.write_text(OLD + lines, encoding="utf-8")
        found = resolve(path, overrides)
        again = tmp_path / "again.toml"
        again.write_text(write(found), encoding="utf-8")
        assert resolve(again).train == found.train
        return found.train.settings["optimiser"]

    return read


@pytest.mark.parametrize(
    ("lines", "name", "wanted"),
    [
        ("betas = [0.8, 0.9]\nepsilon = 1e-5", "adam", {"betas": (0.8, 0.9), "epsilon": 1e-5}),
        ('optimiser = "adamw"\nweight_decay = 0.2', "adamw", {"weight_decay": 0.2}),
        ('optimiser = "sgd"\nbetas = [0.8, 0.9]\nmomentum = 0.7\nepsilon = 1e-5', "sgd", {"momentum": 0.7}),
        ('optimiser = "adadelta"\nbetas = [0.8, 0.97]', "adadelta", {"rho": 0.97}),
        ('weight_decay = 0.3\n[train.optimiser]\npart = "sgd"', "sgd", {"weight_decay": 0.3}),
    ],
)
def test_an_old_recipe_is_read(optimiser, lines, name, wanted):
    found = optimiser(lines)
    assert found.name == name
    assert {key: found.settings[key] for key in wanted} == wanted


def test_the_command_line_too(optimiser):
    assert optimiser('optimiser = "sgd"', ["train.momentum=0.6"]).settings["momentum"] == 0.6
    assert optimiser("", ["train.betas=[0.7, 0.8]"]).settings["betas"] == (0.7, 0.8)


def test_what_is_written_at_the_new_place_counts(optimiser):
    assert optimiser("epsilon = 1e-5\noptimiser = { epsilon = 1e-6 }").settings["epsilon"] == 1e-6


def test_a_mistake_is_still_told_with_its_line(optimiser):
    with pytest.raises(RecipeError, match=r"old\.toml:4: train\.optimiser\.betas"):
        optimiser("betas = 3")


def test_the_terms_of_an_old_run_are_those_of_a_new_one():
    plain = {"train.rate": 0.1, "train.betas": [0.9, 0.999], "train.epsilon": 1e-8, "train.weight_decay": 0.0}
    made = {"adam": {}, "sgd": {"momentum": 0.4}}
    for name, settings in made.items():
        old = {**plain, "train.momentum": 0.4, "train.optimiser": name}
        now = {
            f"train.{key}": value
            for key, value in TrainSettings(rate=0.1, optimiser=maker("optimiser", name, **settings)).flat().items()
        }
        check_same(with_defaults(moved_terms(old)), now, ())
    assert moved_terms(now) == now


def test_a_run_with_another_part_goes_on():
    """Defaults of a part that the run does not have are not asked for."""
    now = {f"train.{key}": value for key, value in TrainSettings(schedule=maker("schedule", "halving")).flat().items()}
    check_same(with_defaults(now), now, ())
    younger = {key: value for key, value in now.items() if key != "train.log"}
    check_same(with_defaults(younger), now, ())


def test_decay_is_of_matrices_alone():
    model = resolve("rnnsearch-small").build(31, 37)
    matrices, vectors = optimiser_for(model, TrainSettings(optimiser=maker("optimiser", "adamw"))).param_groups
    assert (matrices["weight_decay"], vectors["weight_decay"]) == (0.01, 0.0)


def test_how_weights_begin_is_read_under_its_old_name(tmp_path):
    path = tmp_path / "old.toml"
    path.write_text('extends = "seq2seq"\n[begin]\npart = "uniform"\nreach = 0.07\n', encoding="utf-8")
    made = resolve(path).model.settings["initialise"]
    assert (made.name, made.settings["reach"]) == ("uniform", 0.07)
    assert resolve("seq2seq", ["begin.part=uniform", "begin.reach=0.05"]).model.settings["initialise"].name == "uniform"
    assert moved_terms({"begin.part": "uniform", "begin.reach": 0.07, "beginning": 1}) == {
        "initialise.part": "uniform",
        "initialise.reach": 0.07,
        "beginning": 1,
    }


def test_a_recipe_that_does_not_say_is_for_translating():
    assert Task().verb == VERB
