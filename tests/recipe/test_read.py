"""Reading recipes: names and files, lines, `extends`, and settings from the command line."""

import pytest

from regard.errors import RecipeError, UnknownName
from regard.recipe import NAMED, read, resolve
from regard.recipe.read import find
from regard.recipe.tree import Leaf, Table, lay_over, nest


@pytest.fixture
def recipe(tmp_path):
    """Write a recipe's text; hand back its path."""

    def written(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def plain(table):
    """A tree as nested dictionaries."""
    return {key: plain(each) if isinstance(each, Table) else each.value for key, each in table.entries.items()}


def places(table):
    """A tree as nested dictionaries of the lines where things were written."""
    return {
        key: places(each) if isinstance(each, Table) else each.where.rsplit(":", 1)[-1]
        for key, each in table.entries.items()
    }


def problems(*asked):
    """Every problem of a recipe."""
    with pytest.raises(RecipeError) as caught:
        resolve(*asked)
    return caught.value.problems


# --- names and files ---------------------------------------------------------------------------------------


def test_a_name_a_file_and_a_model_folder(tmp_path, recipe):
    assert find("rnnsearch") == NAMED["rnnsearch"]
    assert find(recipe("x = 1")) == tmp_path / "mine.toml"
    recipe("x = 1", "recipe.toml")
    assert find(tmp_path) == tmp_path / "recipe.toml"
    assert find(str(tmp_path)) == tmp_path / "recipe.toml"


@pytest.mark.parametrize("name", ["rnnserch", "nowhere/rnnsearch.toml", "", "."])
def test_an_unknown_recipe(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match="no recipe or recipe file is called.*classify.*transformer"):
        read(name)


def test_an_unknown_recipe_offers_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'rnnsearch'"):
        read("rnnserch")


# --- lines -------------------------------------------------------------------------------------------------

LINES = """\
share = true  # the first line

[embed]  # a comment
part = "tokens"
width=5

[ attend ]
part = "attention"
score = { part = "additive", hidden = 7 }
scope.part = "local_m"
"dropout" = 0.25

[predict.embed]
width = 3
"""


def test_every_key_knows_its_line(recipe):
    tree = read(recipe(LINES))
    assert places(tree) == {
        "share": "1",
        "embed": {"part": "4", "width": "5"},
        "attend": {"part": "8", "score": {"part": "9", "hidden": "9"}, "scope": {"part": "10"}, "dropout": "11"},
        "predict": {"embed": {"width": "14"}},
    }
    assert tree.entries["embed"].where.endswith("mine.toml:3")
    assert tree.entries["predict"].entries["embed"].where.endswith("mine.toml:13")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[embed\npart = 1\n", 1),
        ("[embed]\npart = \n", 2),
        ("[embed]\npart = tokens\n", 2),
        ("[embed]\nwidth = 3\nwidth = 5\n", 3),
        ("[embed]\n\n[embed]\n", 3),
        ('[embed]\n\npart = "tokens', 3),  # the reader says "at end of document", which is a line too
    ],
)
def test_bad_syntax_has_a_line(recipe, text, line):
    path = recipe(text)
    (found,) = problems(path)
    assert found.where == f"{path}:{line}"
    assert found.key == "TOML"


def test_not_utf8(tmp_path):
    path = tmp_path / "latin.toml"
    path.write_bytes('[about]\ntitle = "Übung"\n'.encode("latin-1"))
    (found,) = problems(path)
    assert found.where == str(path)
    assert "not UTF-8 at byte 17" in found.message
    assert found.advice == "Save the file as UTF-8."


# --- extends -----------------------------------------------------------------------------------------------


def test_extends_changes_what_it_names_and_keeps_the_rest(recipe):
    below = plain(read("rnnsearch"))
    above = plain(read(recipe('extends = "rnnsearch"\n[encode]\nlayers = 3\n')))
    below["encode"]["layers"] = 3
    del below["reproduce"]  # what extends a system is another, and the trial is not its own
    assert above == below


def test_extends_a_file_beside_it(recipe, monkeypatch, tmp_path):
    recipe("[embed]\nwidth = 3\ndropout = 0.5\n", "base.toml")
    path = recipe('extends = "base.toml"\n[embed]\nwidth = 5\n')
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    tree = read(path)
    assert plain(tree) == {"embed": {"width": 5, "dropout": 0.5}}
    assert tree.entries["embed"].entries["width"].where == f"{path}:3"
    assert tree.entries["embed"].entries["dropout"].where == f"{tmp_path / 'base.toml'}:3"


def test_extends_goes_on(recipe):
    recipe("[embed]\nwidth = 3\nscale = true\n", "one.toml")
    recipe('extends = "one.toml"\n[embed]\nwidth = 5\ndropout = 0.25\n', "two.toml")
    path = recipe('extends = "two.toml"\n[embed]\ndropout = 0.5\n')
    assert plain(read(path)) == {"embed": {"width": 5, "scale": True, "dropout": 0.5}}


def test_another_part_replaces_the_table_below(recipe):
    """Settings of the part that was there would be mistakes in the new one."""
    path = recipe('extends = "rnnsearch"\n[encode]\npart = "transformer"\n[attend.score]\npart = "dot"\n')
    tree = plain(read(path))
    assert tree["encode"] == {"part": "transformer"}
    assert tree["attend"] == {"part": "attention", "score": {"part": "dot"}}


def test_the_same_part_named_again_keeps_its_settings(recipe):
    path = recipe('extends = "rnnsearch"\n[encode]\npart = "recurrent"\nlayers = 2\n')
    assert plain(read(path))["encode"] == plain(read("rnnsearch"))["encode"] | {"layers": 2}


def test_an_unknown_extends(recipe):
    path = recipe('# mine\nextends = "rnnserch"\n')
    found = problems(path)[0]
    assert (found.where, found.key) == (f"{path}:2", "extends")
    assert "no recipe or recipe file is called 'rnnserch'" in found.message
    assert found.advice == "Did you mean 'rnnsearch'?"


@pytest.mark.parametrize("value", ["3", "true", '["rnnsearch"]', '{ name = "rnnsearch" }'])
def test_extends_takes_a_text(recipe, value):
    path = recipe(f"extends = {value}\n")
    found = problems(path)[0]
    assert (found.where, found.key) == (f"{path}:1", "extends")
    assert 'extends = "rnnsearch"' in found.advice


def test_extends_in_a_circle(recipe):
    recipe('extends = "two.toml"\n', "one.toml")
    recipe('\nextends = "three.toml"\n', "two.toml")
    path = recipe('extends = "one.toml"\n', "three.toml")
    found = problems(path)[0]
    assert found.message.endswith("circle: three -> one -> two -> three.")
    assert found.key == "extends"
    alone = recipe('extends = "mine.toml"\n')
    assert problems(alone)[0].message.endswith("circle: mine -> mine.")


def test_bad_syntax_in_what_is_extended(recipe):
    below = recipe("[embed]\nwidth = \n", "base.toml")
    assert problems(recipe('extends = "base.toml"\n'))[0].where == f"{below}:2"


# --- settings from the command line ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("encode.layers=4", 4),
        ("encode.layers = 4 ", 4),
        ("encode.layers=2.5", 2.5),
        ("encode.layers=true", True),
        ("encode.layers=lstm", "lstm"),
        ('encode.layers="lstm"', "lstm"),
        ("encode.layers=a=b", "a=b"),
        ("encode.layers=x y x", "x y x"),
        ("encode.layers=[2, 3]", [2, 3]),
        ("encode.layers=", ""),
    ],
)
def test_values_are_toml_and_else_text(text, value):
    leaf = read("rnnsearch", [text]).entries["encode"].entries["layers"]
    assert leaf == Leaf(value, f"-s {text}")
    assert type(leaf.value) is type(value)


def test_overrides_stand_above_the_file_and_the_last_wins(recipe):
    path = recipe('extends = "rnnsearch"\n[encode]\nlayers = 2\nhidden = 6\n')
    tree = plain(read(path, ["encode.layers=3", "encode.layers=5", "attend.score=dot"]))
    assert (tree["encode"]["layers"], tree["encode"]["hidden"]) == (5, 6)
    assert tree["attend"]["score"] == "dot"


def test_an_inline_table_from_the_command_line():
    text = 'attend.score={part="additive", hidden=7}'
    score = read("luong", [text]).entries["attend"].entries["score"]
    assert score == Table(f"-s {text}", {"part": Leaf("additive", f"-s {text}"), "hidden": Leaf(7, f"-s {text}")})


def test_a_setting_of_a_part_written_as_a_text():
    """score = "general" is short for a table; -s attend.score.x goes into it."""
    assert plain(read("luong", ["attend.score.x=7"]))["attend"]["score"] == {"part": "general", "x": 7}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("encode.layers", "encode.layers"),
        ("", "?"),
        ("=3", "?"),
        ("encode..layers=3", "encode..layers"),
        (".layers=3", ".layers"),
        ("encode.=3", "encode."),
        ("two words=3", "two words"),
    ],
)
def test_not_a_setting(text, key):
    (found,) = problems("rnnsearch", [text])
    assert (found.where, found.key, found.message) == (f"-s {text}", key, "expected key=value.")
    assert "-s encode.layers=2" in found.advice


# --- laying one tree over another --------------------------------------------------------------------------


def test_laying_over_by_hand():
    inner = Table("b", {"part": Leaf("y", "b"), "two": Leaf(2, "b")})
    below = Table("b", {"part": Leaf("x", "b"), "one": Leaf(1, "b"), "in": inner})
    above = Table("a", {"one": Leaf(3, "a"), "in": Table("a", {"part": Leaf("z", "a")})})
    assert plain(lay_over(below, above)) == {"part": "x", "one": 3, "in": {"part": "z"}}
    assert plain(below) == {"part": "x", "one": 1, "in": {"part": "y", "two": 2}}, "what lies below must stay as it was"
    assert lay_over(below, Leaf(5, "a")) == Leaf(5, "a")
    assert lay_over(None, above) is above
    assert lay_over(Leaf(5, "b"), above) is above


def test_nest_by_hand():
    assert nest("a.b.c", 7, "w") == Table("w", {"a": Table("w", {"b": Table("w", {"c": Leaf(7, "w")})})})
