"""The [reproduce] table of a recipe: what it may say, and how its mistakes are told."""

import pytest

from regard.data.builtin import BUILTIN
from regard.errors import RecipeError
from regard.evaluate.metrics import metric
from regard.recipe import NAMED, resolve
from regard.recipe.reproduce import Reproduce, read_reproduce, systems
from regard.task import Spec
from regard.tasks.reproduce.arms import Plan
from small import RECIPE

GOOD = '[reproduce]\ndata = "copy"\nminutes = 3\nclaim = "it copies"\nmeasure = "bleu"\n'
# Of a system that has a trial: other sizes, the arms of classification, and the shapes of recurrent networks; and
# captions and formulas, whose trials are still to come.
VARIANTS = {
    "sagan-block",
    "sagan-plain",
    "attention-unet",
    "attention-unet-monai",
    "awd-lstm",
    "bert-classify",
    "bert-tag",
    "lstm-lm",
    "lstmn-classify",
    "lstmn-deep",
    "lstmn-shallow",
    "rnnsearch-small",
    "transformer-fast",
    "transformer-guided",
    "transformer-tiny",
    "unet",
}
VARIANTS |= {
    name
    for name in NAMED
    if name.startswith(
        ("autoencoder-", "caption", "latex", "classify-", "many-to-", "one-to-", "residual-attention-", "snail-")
    )
}


def written(tmp_path, text, extends=RECIPE):
    path = tmp_path / "own.toml"
    path.write_text(f'extends = "{extends}"\n{text}')
    return path


def test_a_table_is_read_and_the_recipe_around_it_resolved(tmp_path):
    found = resolve(written(tmp_path, GOOD + 'at_least = 7.0\nsettings = ["encode.hidden=11"]\n')).reproduce
    assert found == Reproduce(
        data="copy",
        minutes=3.0,
        claim="it copies",
        measure="bleu",
        at_least=7.0,
        settings=("encode.hidden=11",),
    )
    assert (found.on, found.against, found.size, found.tested) == ("all", "", None, 500)
    assert resolve(RECIPE).reproduce is None


def test_a_claim_is_not_inherited(tmp_path):
    assert read_reproduce("rnnsearch") is not None
    assert read_reproduce(written(tmp_path, "", extends="rnnsearch")) is None
    changed = read_reproduce(written(tmp_path, GOOD + "at_most = 0.5\n", extends="rnnsearch"))
    assert (changed.data, changed.settings, changed.at_least, changed.at_most) == ("copy", (), None, 0.5)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("reproduce = 3\n", ["reproduce: expected a table"]),
        (GOOD, ["reproduce.at_least: expected either at_least or at_most"]),
        (GOOD + "at_least = 1.0\nat_most = 2.0\n", ["expected either at_least or at_most"]),
        (GOOD + "at_least = 1.0\nminute = 2\n", ["reproduce.minute: no such entry", "'minutes'"]),
        (GOOD + 'at_least = "1"\n', ["reproduce.at_least: expected"]),
        (GOOD + 'at_least = 1.0\non = "longest"\n', ['expected one of "all", "long"']),
        ("[reproduce]\nat_least = 1.0\n", [f"reproduce.{name}: missing" for name in ("data", "minutes", "claim")]),
        (GOOD.replace("3", "0") + "at_least = 1.0\n", ["reproduce.minutes: expected a number greater than 0"]),
    ],
)
def test_all_mistakes_are_told(tmp_path, text, told):
    path = written(tmp_path, text)
    for ask in (resolve, read_reproduce):
        with pytest.raises(RecipeError) as caught:
            ask(path)
        for each in told:
            assert each in str(caught.value)
        assert "own.toml:" in str(caught.value)


def test_what_is_asked_bounds_from_below_or_from_above():
    below = Reproduce(data="copy", minutes=1.0, claim="", measure="bleu", at_least=-5.0)
    above = Reproduce(data="copy", minutes=1.0, claim="", measure="aer", at_most=0.25)
    assert [below.holds(value) for value in (-5.1, -5.0, 3.0)] == [False, True, True]
    assert [above.holds(value) for value in (0.2, 0.25, 0.3)] == [True, True, False]


def test_every_system_has_a_trial():
    """A recipe that comes with Regard is a system, the paper-sized form of one, or a variant of one."""
    small = {name for name in NAMED if not name.endswith("-paper")}
    assert set(systems()) >= small - VARIANTS


@pytest.mark.parametrize("name", systems())
def test_every_trial_can_begin(name, tmp_path):
    table = systems()[name]
    arms = Plan(name, table, table.minutes, 0, tmp_path).arms()
    recipes = [resolve(arm.recipe, arm.settings) for arm in arms]
    for recipe in recipes:
        # Every source as large as its side wants, whether it is pieces or the channels of an image.
        image = recipe.task.settings["source"].name == "image"
        if recipe.model.name == "gan":
            assert recipe.build(0, Spec(3, tuple(recipe.task.settings["target"].settings["size"])))
            continue
        if recipe.task.settings["goal"].name == "reconstruct":  # what is predicted is what is read
            assert recipe.build(Spec(3, (13, 17)), Spec(3, (13, 17)))
            continue
        assert recipe.build(Spec(3, (13, 17)) if image else 31, 31 if recipe.model.settings["share"] else 29)
    assert len({recipe.task.settings["verb"] for recipe in recipes}) == 1
    assert table.data in BUILTIN, "anyone can draw it"
    assert BUILTIN[table.data].direction(table.source, table.target)
    measure = metric(table.measure)
    assert measure.count_likely or measure.needs in ("answers", "links", "places", "probabilities", "samples", "images")
    assert 1 <= table.minutes <= 10
    assert len(arms) == (2 if table.against else 1)
