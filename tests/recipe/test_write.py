"""Writing recipes: every setting visible and explained, and readable again as the same recipe."""

import tomllib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from regard.recipe import resolve, write
from regard.recipe.resolve import About, Recipe
from regard.recipe.write import toml
from regard.registry import Maker, find
from regard.registry import settings as settings_of

SMALL = (
    """\
part = "flow"                         # Embed the source, encode it, attend to it, predict.
share = false                         # use one table for the vectors of source and target; """
    + """\
they must share a vocabulary.
initialise = "none"                   # how the weights begin; "none" leaves them as each part drew them.

[about]
title = "Sequence to \\"sequence\\""
"""
)


def again(recipe, tmp_path):
    path = tmp_path / "again.toml"
    path.write_text(write(recipe), encoding="utf-8")
    return resolve(path)


def changed(recipe, **about):
    return Recipe(About(**about), recipe.model, recipe.train, recipe.task)


def test_by_hand():
    """The beginning of a recipe, letter by letter."""
    recipe = changed(resolve("rnnsearch"), title='Sequence to "sequence"')
    assert write(recipe).startswith(SMALL)
    lines = write(recipe).splitlines()
    at = lines.index("[encode]")
    assert lines[at - 1] == ""
    assert lines[at + 1] == 'part = "recurrent"                    # Recurrent layers, one on another.'
    assert lines[at + 2].startswith("hidden = 512  ")
    assert lines[at + 3].split("#")[0].rstrip() == "layers = 1"


@pytest.mark.parametrize("name", ["rnnsearch", "transformer", "seq2seq", "classify"])
def test_every_setting_is_visible_with_its_explanation(name):
    recipe = resolve(name)
    values, lines = tomllib.loads(write(recipe)), write(recipe).splitlines()

    def walk(made, table):
        cls = find(made.kind, made.name)
        assert table["part"] == made.name
        assert set(table) == {"part", *settings_of(cls)} | (
            {"about", "task", "train"} if made is recipe.model else set()
        )
        for key, value in made.settings.items():
            if isinstance(value, Maker):
                walk(value, table[key])
            else:
                assert table[key] == ("none" if value is None else list(value) if isinstance(value, tuple) else value)
                about = settings_of(cls)[key].about
                assert any(line.startswith(f"{key} = ") and line.endswith(about) for line in lines)

    walk(recipe.model, values)
    walk(recipe.train, values["train"])


@pytest.mark.parametrize(
    "override",
    [
        "attend.score=dot",
        "embed.position=learned",
        "attend.part=heads",
        "encode.dropout=1e-7",
        "embed.dropout=0",
        "predict.readout=tied",
        "about.shows=a # b",
        "encode.part=convolve",
        'attend.choice={part="gated", encode="recurrent"}',
    ],
)
def test_what_is_written_is_the_same_recipe(tmp_path, override):
    recipe = resolve("rnnsearch", [override])
    assert recipe != resolve("rnnsearch")
    assert again(recipe, tmp_path) == recipe


def test_a_default_part_left_out_stays_out(tmp_path):
    """A Transformer's embedding has a position by default: "none" must be written, or it comes back."""
    recipe = resolve("transformer", ["predict.embed.position=none"])
    read = again(recipe, tmp_path)
    assert read.model.settings["predict"].settings["embed"].settings["position"] is None
    assert read == recipe


@pytest.mark.parametrize(
    "about",
    [
        {"title": 'A "quoted" \\ title'},
        {"title": "two\nlines"},
        {"title": "Übung # 3 日本"},
        {"shows": "tab\there"},
        {"title": "bell \x07 and \x7f"},
        {"shows": ""},
        {"shows": 'what "it" sees'},
        {},
    ],
)
def test_about_is_written_and_read_again(tmp_path, about):
    recipe = changed(resolve("tutorial"), **about)
    assert again(recipe, tmp_path).about == recipe.about


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (True, "true"),
        (False, "false"),
        (0.1, "0.1"),
        (1e-7, "1e-07"),
        (2.0, "2.0"),
        (float("inf"), "inf"),
        ("a", '"a"'),
        ('"', '"\\""'),
        ((2, 3), "[2, 3]"),
        ([("a",), ()], '[["a"], []]'),
    ],
)
def test_values_by_hand(value, text):
    assert toml(value) == text


TEXTS = some.text(some.characters(exclude_categories=["Cs"]))
VALUES = some.recursive(
    some.booleans() | some.integers(-(2**63), 2**63 - 1) | some.floats(allow_nan=False) | TEXTS,
    lambda inner: some.lists(inner, max_size=3),
    max_leaves=5,
)


@given(VALUES)
@example("\x7f")
@settings(max_examples=100, deadline=None, database=None)
def test_any_value_is_read_again(value):
    found = tomllib.loads(f"value = {toml(value)}")["value"]
    assert found == value
    assert type(found) is type(value)
