"""Every recipe still does what its golden file says (tests/goldens.py; `make golden` writes the files anew)."""

import copy
import json

import pytest

import goldens
from regard.recipe import NAMED

# Hundreds of updates, searches and traces whose parts the contract tests hold to their shapes.
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.mark.parametrize("name", sorted(NAMED))
def test_a_recipe_does_what_it_did(name):
    found = goldens.differences(goldens.kept(name), goldens.observe(name))
    assert found == [], "\n".join(["make golden shows and keeps the difference, if it is meant:", *found[:20]])


def test_every_golden_file_belongs_to_a_recipe():
    assert sorted(path.stem for path in goldens.HOME.glob("*.json")) == sorted(NAMED)


# --- the comparison itself ---------------------------------------------------------------------------------


def leaves(value, way=()):
    """Every plain value of an observation, with the way to it."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if inside is None:
        yield way, value
    else:
        for key, inner in inside:
            yield from leaves(inner, (*way, key))


def changed(value):
    """A value that is another."""
    if isinstance(value, bool) or value is None:
        return "another"
    return value + "x" if isinstance(value, str) else value + 0.01 * max(1, abs(value))


def test_a_change_of_any_value_is_noticed():
    kept = goldens.kept("rnnsearch")
    ways = list(leaves(kept))
    assert len(ways) > 500
    for way, value in ways:
        other = copy.deepcopy(kept)
        place = other
        for key in way[:-1]:
            place = place[key]
        place[way[-1]] = changed(value)
        told = goldens.differences(kept, other)
        tie = way[-1] == "text" and "score" in place
        assert (len(told) == 1) != tie, f"{way}: {told}"


def test_what_is_missing_or_added_is_noticed():
    kept = {"losses": [1.0, 2.0], "links": [[0, 1]]}
    assert goldens.differences(kept, json.loads(json.dumps(kept))) == []
    assert goldens.differences(kept, {"losses": [1.0], "links": [[0, 1]]})
    assert goldens.differences(kept, {"losses": [1.0, 2.0]})
    assert goldens.differences(kept, kept | {"more": 1})


def test_a_tie_is_no_difference_and_a_likelier_text_is():
    kept = {"text": "le chat", "score": -1.0}
    assert goldens.differences(kept, {"text": "un chat", "score": -1.0001}) == []
    assert len(goldens.differences(kept, {"text": "un chat", "score": -0.9})) == 2
