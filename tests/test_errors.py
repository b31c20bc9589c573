"""The errors: the tree that the docstring draws is the tree that the classes make, and messages say what to do."""

import inspect
import re

import pytest

from regard import errors
from regard.errors import Problem, RecipeError, RegardError, ShapeError, UnknownName, UsageError, did_you_mean, nearest

_BRANCH = re.compile(r"^(?P<stem>[ │├└─]*)(?P<name>[A-Z]\w+)\s{2,}(?P<about>\S.*)$")


def drawn():
    """Child -> parent, from the drawing; each level of the tree is four characters further in."""
    parents, above = {}, {}
    for line in inspect.cleandoc(errors.__doc__).splitlines():
        if found := _BRANCH.match(line):
            depth = len(found["stem"]) // 4
            above[depth] = found["name"]
            parents[found["name"]] = above.get(depth - 1) if depth > 1 else None
    return parents


def classes():
    """Child -> parent, from the classes."""
    found = {name: cls for name, cls in vars(errors).items() if inspect.isclass(cls) and issubclass(cls, RegardError)}
    return {name: cls.__base__.__name__ if cls is not RegardError else None for name, cls in found.items()}


def test_the_drawn_tree_is_the_class_tree():
    assert drawn() == classes()
    assert len(drawn()) > 5  # the drawing was found at all


def test_every_error_has_a_docstring_of_its_own():
    for name in classes():
        assert getattr(errors, name).__dict__.get("__doc__"), name


@pytest.mark.parametrize("name", sorted(classes()))
def test_exit_code_says_whose_fault_it_is(name):
    cls = getattr(errors, name)
    assert cls.exit_code == (2 if issubclass(cls, UsageError) else 130 if cls is errors.Interrupted else 1)


def test_message_and_hint():
    bare, hinted = RegardError("it broke."), ShapeError("5 is not 7.", hint="Write 7.")
    assert (bare.message, bare.hint, str(bare)) == ("it broke.", None, "it broke.")
    assert (hinted.message, hinted.hint, str(hinted)) == ("5 is not 7.", "Write 7.", "5 is not 7.\n  Write 7.")


def test_unknown_name_lists_what_there_is_and_offers_the_nearest():
    error = UnknownName("score", "aditive", {"dot": 1, "additive": 2})
    assert str(error) == "no score is called 'aditive'; there are additive, dot.\n  Did you mean 'additive'?"
    assert error.known == ["additive", "dot"]
    assert UnknownName("score", "xyzzy", ["dot"]).hint is None
    assert "there are none" in str(UnknownName("score", "dot", []))


def test_recipe_error_tells_every_problem():
    first = Problem("a.toml:3", "encode.layer", "no such setting.", "Did you mean 'layers'?")
    second = Problem("-s x", "x", "expected key=value.")
    assert str(first) == "a.toml:3: encode.layer: no such setting.\n    Did you mean 'layers'?"
    assert str(second) == "-s x: x: expected key=value."
    both = RecipeError([first, second])
    assert both.problems == (first, second)
    assert str(both) == f"the recipe has 2 mistakes:\n  {first}\n  {second}"
    assert str(RecipeError([second])).startswith("the recipe has one mistake:\n")


@pytest.mark.parametrize(
    ("written", "guess"), [("layer", "layers"), ("hiden", "hidden"), ("layers", "layers"), ("zzz", None)]
)
def test_nearest(written, guess):
    assert nearest(written, ["layers", "hidden", "dropout"]) == guess
    assert did_you_mean(written, ["layers", "hidden", "dropout"]) == (guess and f"Did you mean '{guess}'?")
