"""Checking recipes: every mistake is found before anything is built, all at once, with file, line, key and advice."""

import re

import pytest

from regard import registry
from regard.errors import RecipeError
from regard.recipe import resolve
from regard.recipe.check import as_table, check
from regard.recipe.tree import Leaf, Table
from regard.registry import KINDS, Maker, names, part, settings

HEAD = 'extends = "rnnsearch"\n'  # the first line of most recipes here; what is wrong begins at line 2


@pytest.fixture
def recipe(tmp_path):
    def written(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def problems(*asked):
    with pytest.raises(RecipeError) as caught:
        resolve(*asked)
    return caught.value.problems


# What is written below the first line; the line of the mistake; its key; what the message says; the advice.
# fmt: off
MISTAKES = {
    "misspelt part": ('[encode]\npart = "recurent"', 3, "encode.part",
        f"no encode is called 'recurent'; there are {', '.join(names('encode'))}.",
        "Did you mean 'recurrent'?"),
    "misspelt part as text": ('attend.score = "aditive"', 2, "attend.score.part",
        "no score is called 'aditive'", "Did you mean 'additive'?"),
    "misspelt inner part": ('[attend.scope]\npart = "locl_m"', 3, "attend.scope.part",
        "no scope is called 'locl_m'", "Did you mean 'local_m'?"),
    "a part of another kind": ('[attend]\nscore = "maxout"', 3, "attend.score.part",
        "no score is called 'maxout'", None),
    "nothing like it": ('[attend]\nscore = "zzz"', 3, "attend.score.part",
        "no score is called 'zzz'; there are additive", None),
    "a number for a part's name": ("[encode]\npart = 3", 3, "encode.part", "no encode is called '3'", None),
    "a table for a part's name": ('[encode.part]\nname = "x"', 2, "encode.part", "no encode is called 'a table'", None),
    "misspelt setting": ("[encode]\nlayer = 2", 3, "encode.layer",
        "the encode 'recurrent' has no setting 'layer'; it has hidden, layers, cell", "Did you mean 'layers'?"),
    "misspelt setting in an inline table": (
        '[attend]\nscore = { part = "additive", hiden = 7 }', 3, "attend.score.hiden",
        "the score 'additive' has no setting 'hiden'", "Did you mean 'hidden'?"),
    "a setting where there are none": ('[attend]\nscore = { part = "dot", hidden = 7 }', 3, "attend.score.hidden",
        "the score 'dot' has no setting 'hidden'", None),
    "a setting of the part that was replaced": (
        '[attend]\nscope = { part = "global", reach = 3 }', 3, "attend.scope.reach",
        "the scope 'global' has no setting 'reach'", None),
    "misspelt stage": ("[encod]\nlayers = 2", 2, "encod",
        "the model 'flow' has no setting 'encod'", "Did you mean 'encode'?"),
    "text for a number": ('[encode]\nlayers = "three"', 3, "encode.layers",
        'expected a whole number greater than 0; found "three".', "Write layers = 1."),
    "a number in quotes": ('[encode]\nlayers = "3"', 3, "encode.layers", 'found "3".', "Write layers = 1."),
    "a bool for a whole number": ("[encode]\nlayers = true", 3, "encode.layers", "found true.", "Write layers = 1."),
    "a fraction for a whole number": ("[encode]\nlayers = 2.5", 3, "encode.layers", "found 2.5.", "Write layers = 1."),
    "a list for a number": ("[encode]\nlayers = [2]", 3, "encode.layers", "found [2].", "Write layers = 1."),
    "a date for a number": ("[encode]\nlayers = 2015-04-07", 3, "encode.layers",
        'found "2015-04-07".', "Write layers = 1."),
    "zero of something": ("[encode]\nlayers = 0", 3, "encode.layers",
        "a whole number greater than 0; found 0.", "Write layers = 1."),
    "a bool for a number": ("[encode]\ndropout = true", 3, "encode.dropout",
        "expected a number at least 0 and less than 1; found true.", "Write dropout = 0.0."),
    "a share of one": ("[encode]\ndropout = 1", 3, "encode.dropout",
        "at least 0 and less than 1; found 1.", "Write dropout = 0.0."),
    "a negative share": ("[encode]\ndropout = -0.1", 3, "encode.dropout", "found -0.1.", "Write dropout = 0.0."),
    "no number at all": ("[encode]\ndropout = nan", 3, "encode.dropout", "found NaN.", "Write dropout = 0.0."),
    "above one": ('[attend]\nchoice = { part = "hard", baseline = 1.5 }', 3, "attend.choice.baseline",
        'one of "learned", "others" or a number at least 0 and at most 1; found 1.5.', "Write baseline = 0.9."),
    "a word nearly right": ('[attend]\nchoice = { part = "hard", baseline = "lerned" }', 3, "attend.choice.baseline",
        'found "lerned".', 'Write baseline = "learned".'),
    "not above zero": ('[attend.choice]\npart = "gated"\ntemperature = 0.0', 4, "attend.choice.temperature",
        "expected a number greater than 0; found 0.0.", "Write temperature = 1.0."),
    "a number for true or false": ("[encode]\nresidual = 1", 3, "encode.residual",
        "expected true or false; found 1.", "Write residual = false."),
    "text for true or false": ('[encode]\nresidual = "yes"', 3, "encode.residual",
        'expected true or false; found "yes".', "Write residual = false."),
    "bad literal": ('[encode]\ndirection = "bth"', 3, "encode.direction",
        'expected one of "forward", "backward", "both", "bottom"; found "bth".', 'Write direction = "both".'),
    "a literal like none of them": ('[encode]\ndirection = "zzz"', 3, "encode.direction",
        'found "zzz".', 'Write direction = "forward".'),
    "a number for a literal": ("[encode]\ncell = 3", 3, "encode.cell",
        'expected one of "tanh", "gru", "lstm"; found 3.', 'Write cell = "gru".'),
    "a table for a value": ("[encode.layers]\ncount = 3", 2, "encode.layers", "found a table.", "Write layers = 1."),
    "a value for a table": ("encode = 3", 2, "encode", "expected an encode; found 3.", "Write a table [encode]"),
    "false for an optional part": ("attend = false", 2, "attend",
        "expected an attend; found false.", "Write a table [attend]"),
    "none where a part must be": ('encode = "none"', 2, "encode", "'text' is there to be read.", "Name a part"),
    "tables in a list": ('[[encode]]\npart = "recurrent"', 2, "encode",
        "expected an encode; found [", "Write a table [encode]"),
    "what the owner gives": ("[encode]\nwidth = 7", 3, "encode.width",
        "the encode 'recurrent' is given 'width' by its owner; a recipe cannot set it.", "Take the line out."),
    "what the model is given": ("source = 7", 2, "source",
        "the model 'flow' is given 'source' by its owner", "Take the line out."),
    "what no part of it says": ("[embed]\nposition = { width = 3 }", 3, "embed.position",
        "the table does not say which position it is; there are learned, sinusoid.", 'Write part = "learned".'),
    "another model": ('part = "flo"', 2, "part", "no model is called 'flo'", "Did you mean 'flow'?"),
    "about is a value": ('about = "mine"', 2, "about", "expected a table.", "Write [about]"),
    "about misspelt": ('[about]\ntitel = "x"', 3, "about.titel",
        "no such entry; there are title, paper, shows.", "Did you mean 'title'?"),
    "about a number": ("[about]\npaper = 2015", 3, "about.paper", "expected a text.", 'Write paper = "..."'),
    "about a table": ("[about.paper]\nyear = 2015", 2, "about.paper", "expected a text.", 'Write paper = "..."'),
}
# fmt: on


@pytest.mark.parametrize("name", MISTAKES)
def test_one_mistake(recipe, name):
    text, line, key, message, advice = MISTAKES[name]
    path = recipe(f"{HEAD}{text}\n")
    (found,) = problems(path)
    assert found.where == f"{path}:{line}"
    assert found.key == key
    assert message in found.message
    assert advice in found.advice if advice else found.advice is None
    assert str(found).startswith(f"{path}:{line}: {key}: ")


def test_all_at_once(recipe):
    """Every mistake that can stand beside the others, in one file: none hides another."""
    path = recipe(
        HEAD
        + """
share = "yes"
colour = 3

[about]
titel = "x"
task = 3

[embed]
width = -3
position = "sinusoids"

[encode]
part = "recurrent"
layer = 2
width = 7
hidden = "wide"
direction = "sideways"

[attend]
score = { part = "additive", hiden = 7, uniform = 2 }
scope = { part = "locl_m" }
choice = 3

[predict.cell]
part = "gruu"
"""
    )
    found = {each.key: int(each.where.rsplit(":", 1)[1]) for each in problems(path)}
    assert found == {
        "share": 3,
        "colour": 4,
        "about.titel": 7,
        "task.verb": 8,
        "embed.width": 11,
        "embed.position.part": 12,
        "encode.layer": 16,
        "encode.width": 17,
        "encode.hidden": 18,
        "encode.direction": 19,
        "attend.score.hiden": 22,
        "attend.score.uniform": 22,
        "attend.scope.part": 23,
        "attend.choice": 24,
        "predict.cell.part": 27,
    }


def test_a_mistake_on_the_command_line_hides_none_in_the_file(recipe):
    path = recipe(f"{HEAD}[encode]\nlayer = 2\n")
    found = problems(path, ["encode.hidden", "attend.droput=0.5"])
    assert {(each.where, each.key) for each in found} == {
        (f"{path}:3", "encode.layer"),
        ("-s encode.hidden", "encode.hidden"),
        ("-s attend.droput=0.5", "attend.droput"),
    }


@pytest.mark.parametrize(
    ("override", "key", "message", "advice"),
    [
        ("encod.layers=2", "encod", "the model 'flow' has no setting 'encod'", "Did you mean 'encode'?"),
        ("encode.layer=2", "encode.layer", "has no setting 'layer'", "Did you mean 'layers'?"),
        (
            "encode.layers=two",
            "encode.layers",
            'expected a whole number greater than 0; found "two".',
            "Write layers = 1.",
        ),
        ("encode.layers=", "encode.layers", 'found "".', "Write layers = 1."),
        ("encode.layers.deep=2", "encode.layers", "found a table.", "Write layers = 1."),
        ("encode=3", "encode", "expected an encode; found 3.", "Write a table [encode]"),
        ("attend.score=dott", "attend.score.part", "no score is called 'dott'", "Did you mean 'dot'?"),
        ("about.paper=3", "about.paper", "expected a text.", 'Write paper = "..."'),
        ("about.task=3", "task.verb", "expected a text", 'Write verb = "translate"'),
    ],
)
def test_a_mistake_on_the_command_line(override, key, message, advice):
    (found,) = problems("rnnsearch", [override])
    assert (found.where, found.key) == (f"-s {override}", key)
    assert message in found.message
    assert advice in found.advice


def test_missing_tables(recipe):
    path = recipe('[embed]\npart = "tokens"\n')
    found = problems(path)
    assert [each.key for each in found] == ["encode", "predict"]
    assert all(each.where == str(path) for each in found)
    assert "missing" in found[0].message
    assert ", ".join(names("encode")) in found[0].message
    assert found[0].advice == 'Add a table [encode] with part = "...".'


def test_an_override_is_not_blamed_for_what_the_file_lacks(recipe):
    path = recipe('[embed]\npart = "tokens"\n[encode]\nlayers = 2\n')
    found = problems(path, ["embed.width=7", "encode.hidden=6"])
    assert {each.key: each.where for each in found} == {"encode": f"{path}:3", "predict": str(path)}


def test_an_empty_recipe(recipe):
    assert {each.key for each in problems(recipe(""))} == {"embed", "encode", "predict"}


def test_tables_without_a_part(recipe):
    path = recipe("[embed]\nwidth = 3\n[encode]\n[predict]\n")
    found = problems(path)
    lines = {"embed": 1, "encode": 3, "predict": 4}
    assert {each.key: each.where for each in found} == {key: f"{path}:{line}" for key, line in lines.items()}
    assert "does not say which embed it is; there are episode, pixels, tokens." in found[0].message


def test_mistakes_below_the_recipe_are_told_where_they_stand(recipe):
    below = recipe(f"{HEAD}[encode]\nlayer = 2\n", "base.toml")
    (found,) = problems(recipe('extends = "base.toml"\n[encode]\nhidden = 6\n'))
    assert found.where == f"{below}:3"


# --- every part of the registry ----------------------------------------------------------------------------

COUNTS = [
    (kind, name, setting.name)
    for kind in KINDS
    for name in names(kind)
    for setting in settings(names(kind)[name]).values()
    if setting.type is int or getattr(setting.type, "__origin__", None) is int
]


@pytest.mark.parametrize(("kind", "name", "setting"), COUNTS)
def test_no_count_may_be_negative(kind, name, setting):
    """Otherwise the mistake would come to light as some error of PyTorch's, far from its line."""
    found = []
    check(kind, Table("x", {"part": Leaf(name, "x"), setting: Leaf(-3, "x:7")}), "here", found)
    mine = [each for each in found if each.key == f"here.{setting}"]
    assert [each.where for each in mine] == ["x:7"]
    assert "found -3" in mine[0].message


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in names(kind)])
def test_every_default_passes_its_own_check(kind, name):
    cls = names(kind)[name]
    defaults = {s.name: s.default for s in settings(cls).values() if s.default is not registry.REQUIRED}
    found = []
    made = check(kind, as_table(Maker(kind, name, defaults), "x"), "here", found)
    assert [each for each in found if "missing" not in each.message] == []
    assert made.name == name


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in KINDS for name in names(kind)])
def test_every_setting_is_described_in_words(kind, name):
    """A wrong value's message must not show Python's own spelling of a type."""
    for setting in settings(names(kind)[name]).values():
        if setting.kind is not None:
            continue
        found = []
        check(kind, Table("x", {"part": Leaf(name, "x"), setting.name: Leaf({"no": "such"}, "x")}), "here", found)
        message = next(each.message for each in found if each.key == f"here.{setting.name}")
        assert not re.search(r"typing|Annotated|<class|Literal|\bint\b|\bstr\b|\bbool\b", message), message


def test_a_part_of_a_users_own_is_checked_the_same_way(recipe, monkeypatch):
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})

    @part("score", "mine")
    class Mine:
        """Mine."""

        def __init__(self, query: int, key: int, *, sizes: tuple[int, ...], name: str = "x") -> None:
            self.sizes = sizes

    (found,) = problems(recipe(f'{HEAD}[attend]\nscore = "mine"\n'))
    assert (found.key, found.message[:7]) == ("attend.score.sizes", "missing")
    good = resolve(recipe(f'{HEAD}[attend.score]\npart = "mine"\nsizes = [3, 5]\n'))
    assert good.model.settings["attend"].settings["score"] == Maker("score", "mine", {"sizes": (3, 5), "name": "x"})
    (found,) = problems(recipe(f'{HEAD}[attend.score]\npart = "mine"\nsizes = [3, "5"]\nname = "y"\n'))
    assert found.key == "attend.score.sizes"
    (found,) = problems(recipe(f'{HEAD}[attend.score]\npart = "mine"\nsizes = []\nname = 3\n'))
    assert found.message == "expected a text; found 3."
