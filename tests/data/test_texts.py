"""Texts as people hand them over."""

import numpy as np
import pytest

from regard.data.texts import texts_of
from regard.errors import UsageError


def test_one_text_or_many():
    assert texts_of("lines", "a b") == ["a b"]
    assert (
        texts_of("lines", ["a", "", "日本"])
        == texts_of("lines", (each for each in ("a", "", "日本")))
        == ["a", "", "日本"]
    )
    assert texts_of("lines", np.array(["a", "b"])) == ["a", "b"]
    assert texts_of("lines", []) == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (None, r'lines: expected a text or a list of texts; found None\.\n  Write ""'),
        (b"x", r"lines: expected a text or a list of texts; found bytes b'x'\.\n  Decode them first"),
        (3.5, r"lines: expected a text or a list of texts; found float 3\.5\.$"),
        (["a", "b", None], r'lines\[2\]: expected a text; found None\.\n  Write ""'),
        (["a", b"x"], r"lines\[1\]: expected a text; found bytes b'x'\.\n  Decode them first"),
        ([7], r"lines\[0\]: expected a text; found int 7\.$"),
        (["a", ["b"]], r"lines\[1\]: expected a text; found list \['b'\]\.$"),
        (["a", "x\udcff"], r"lines\[1\]: expected text that UTF-8 can hold; found '\\udcff' at place 2"),
    ],
)
def test_anything_else_is_refused_by_its_place(given, told):
    with pytest.raises(UsageError, match=told):
        texts_of("lines", given)
