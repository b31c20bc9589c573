"""Every score, scope and choice in every place that attends: two updates, and all numbers stay finite."""

import itertools
import math
from dataclasses import replace
from functools import cache

import jaxtyping
import pytest
import torch

from regard.errors import ShapeError
from regard.learn.learner import Learner
from regard.learn.settings import TrainSettings
from regard.recipe import resolve
from regard.registry import Maker, maker, names
from small import ATTENDING, RECIPE, SOURCE, TARGET, batch, overrides

TRANSFORMER = [*overrides("encode", "transformer", predict="transformer"), "encode.layers=1"]
# Where an attention stands: the recipe around it, and its path there.
PLACES = {
    "encode.attend.attend": TRANSFORMER,
    "predict.self_attend.attend": TRANSFORMER,
    **{f"attend of {decoder}": overrides("predict", decoder) for decoder in ATTENDING},
}


@pytest.fixture(autouse=True)
def _shapes_unchecked():
    """Other tests check the shapes; here they would take most of the time."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@cache
def recipe(place):
    one = ["predict.layers=1"] if "predict.layers=2" in PLACES[place] else []
    return resolve(RECIPE, [*PLACES[place], *one])


def inside(made, path, chosen):
    """The maker with other settings for the part at `path`."""
    first, _, rest = path.partition(".")
    if not first:
        return Maker(made.kind, made.name, {**made.settings, **chosen})
    return Maker(made.kind, made.name, {**made.settings, first: inside(made.settings[first], rest, chosen)})


@pytest.mark.parametrize("score", names("score"))
@pytest.mark.parametrize("place", PLACES)
def test_two_updates_leave_every_number_finite(place, score):
    pairs = batch((3, 2, 1), (4, 2, 3))
    whole = recipe(place)
    for scope, choice in itertools.product(names("scope"), names("choice")):
        parts = {"score": maker("score", score), "scope": maker("scope", scope), "choice": maker("choice", choice)}
        torch.manual_seed(7)
        try:
            built = replace(whole, model=inside(whole.model, place.split(" ")[0], parts)).build(SOURCE, TARGET)
        except ShapeError as error:  # the tutorial asks with word and state, which no key is as wide as
            pytest.skip(error.message)
        learner = Learner(built, TrainSettings(rate=0.01), iter([pairs, pairs]))
        for done in (learner.update(), learner.update()):
            assert math.isfinite(done.nll) and math.isfinite(done.norm), (scope, choice)
        bad = [name for name, weight in built.state_dict().items() if not torch.isfinite(weight).all()]
        assert not bad, (scope, choice)
