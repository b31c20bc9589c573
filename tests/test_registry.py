"""The registry: parts by kind and name, what an owner gives, what a recipe may write, parts of a user's own."""

import inspect
import sys
from typing import Annotated

import pytest
from annotated_types import Gt
from torch import nn

from regard import registry
from regard.attend.additive import Additive
from regard.errors import ShapeError, UnknownName, UsageError
from regard.registry import KINDS, REQUIRED, Maker, build, find, given, load_file, maker, names, part, settings, summary

EVERY_PART = [(kind, name) for kind in KINDS for name in names(kind)]


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})


class Sample(nn.Module):
    """A score for tests: nothing but a signature.

    Settings:
        width: of something,
            told over two lines.
        sharp: whether it is.
        choice: a part inside.
        other_scope: a part that may be left out.

    A paragraph after the settings is none of them.
    """

    def __init__(
        self,
        query: int,
        key: int,
        *,
        width: Annotated[int, Gt(0)],
        sharp: bool = True,
        choice: Maker = maker("choice", "soft"),
        other_scope: Maker | None = None,
    ) -> None:
        super().__init__()


def test_every_kind_has_parts_and_every_part_is_found():
    for kind in KINDS:
        assert names(kind), f"no {kind} is registered"
    for kind, name in EVERY_PART:
        assert find(kind, name) is names(kind)[name]


def test_the_parts_that_the_design_promises():
    assert set(names("score")) >= {"dot", "scaled_dot", "general", "additive", "cosine", "location"}
    assert set(names("scope")) >= {"global", "causal", "local_m", "local_p"}
    assert set(names("choice")) >= {"soft", "hard", "sigmoid", "gated"}
    assert set(names("attend")) >= {"attention", "heads"}
    assert set(names("encode")) >= {"recurrent", "transformer", "convolve", "grid"}
    assert set(names("position")) >= {"sinusoid", "learned"}
    assert set(names("predict")) >= {"bahdanau", "luong", "google", "plain", "tutorial", "transformer", "label"}
    assert set(names("readout")) >= {"linear", "tied", "maxout"}


def test_names_are_sorted_and_a_copy():
    found = names("score")
    assert list(found) == sorted(found)
    found.clear()
    assert names("score")


@pytest.mark.parametrize(("kind", "name"), EVERY_PART)
def test_every_part_is_given_what_its_kind_says(kind, name):
    cls = find(kind, name)
    assert given(cls) == KINDS[kind][1]
    parameters = inspect.signature(cls).parameters.values()
    assert all(p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in parameters), "*args hide what a part takes"


@pytest.mark.parametrize(("kind", "name"), EVERY_PART)
def test_default_parts_are_registered_under_the_kind_their_setting_is_named_after(kind, name):
    for setting in settings(find(kind, name)).values():
        if setting.kind is None:
            continue
        assert setting.kind in KINDS, f"{setting.name} holds a part of no known kind"
        if isinstance(setting.default, Maker):
            assert setting.default.kind == setting.kind
            known = settings(find(setting.default.kind, setting.default.name))
            assert set(setting.default.settings) <= set(known)


def test_settings_of_a_sample():
    found = settings(Sample)
    assert list(found) == ["width", "sharp", "choice", "other_scope"]
    assert found["width"].default is REQUIRED
    assert found["width"].type == Annotated[int, Gt(0)]
    assert (found["sharp"].type, found["sharp"].default) == (bool, True)
    assert [each.kind for each in found.values()] == [None, None, "choice", "scope"]
    assert [each.about for each in found.values()] == [
        "of something, told over two lines.",
        "whether it is.",
        "a part inside.",
        "a part that may be left out.",
    ]
    assert summary(Sample) == "A score for tests: nothing but a signature."
    assert given(Sample) == ("query", "key")


def test_register_and_find():
    assert part("score", "sample")(Sample) is Sample
    assert find("score", "sample") is Sample


def test_registering_again_after_a_reload_replaces():
    part("score", "sample")(Sample)
    twin = type("Sample", (Sample,), {"__module__": Sample.__module__, "__qualname__": Sample.__qualname__})
    part("score", "sample")(twin)
    assert find("score", "sample") is twin


def test_wrong_kind():
    with pytest.raises(UnknownName, match="no kind of part is called 'scor'.*\n.*Did you mean 'score'"):
        part("scor", "sample")(Sample)
    with pytest.raises(UnknownName, match="Did you mean 'encode'"):
        names("encod")


def test_two_classes_cannot_share_a_name():
    part("score", "sample")(Sample)

    class Other(Sample):
        """Another."""

    with pytest.raises(UsageError, match=r"'sample' is registered twice.*\n.*another name"):
        part("score", "sample")(Other)
    assert find("score", "sample") is Sample


def test_a_class_of_the_same_name_elsewhere_cannot_slip_in():
    """A user's `class Additive` must not silently take the place of ours."""
    twin = type("Additive", (Additive,), {"__module__": "users_own", "__qualname__": "Additive"})
    with pytest.raises(UsageError, match="registered twice"):
        part("score", "additive")(twin)
    assert find("score", "additive") is Additive


def test_a_part_must_take_what_its_owner_gives():
    class Forgetful(nn.Module):
        """A score that forgets the star."""

        def __init__(self, query: int, key: int, hidden: int = 3) -> None:
            super().__init__()

    with pytest.raises(UsageError, match=r"'query', 'key', 'hidden'.*every score is given \('query', 'key'\).*\n.*\*"):
        part("score", "forgetful")(Forgetful)
    assert "forgetful" not in names("score")


def test_find_offers_the_nearest():
    with pytest.raises(
        UnknownName, match=r"no score is called 'aditive'; there are additive, .*\n.*Did you mean 'additive'"
    ):
        find("score", "aditive")


def test_build_by_hand():
    built = build("score", "additive", query=3, key=5, hidden=7)
    assert isinstance(built, Additive)
    assert built.of_query.weight.shape == (7, 3)
    assert built.of_key.weight.shape == (7, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"query": 3, "key": 5, "hiden": 7},
            r"has no 'hiden'; it takes query, key, hidden, uniform\.\n.*Did you mean 'hidden'",
        ),
        ({"query": 3}, r"the score 'additive' needs 'key'"),
    ],
)
def test_build_says_what_is_wrong(arguments, message):
    with pytest.raises(UsageError, match=message):
        build("score", "additive", **arguments)


def test_build_passes_on_what_a_part_refuses():
    with pytest.raises(ShapeError, match=r"3.*5|5.*3"):
        build("score", "dot", query=3, key=5)


def test_a_maker_builds_again_and_again():
    make = maker("score", "additive", hidden=7)
    assert make == Maker("score", "additive", {"hidden": 7})
    first, second = make(3, 5), make(3, 5)
    assert first is not second
    assert first.of_key.weight.shape == (7, 5)


def test_a_setting_may_be_called_name_or_kind():
    class Named(nn.Module):
        """A score with awkward settings."""

        def __init__(self, query: int, key: int, *, name: str = "x", kind: int = 3) -> None:
            super().__init__()
            self.name, self.kind = name, kind

    part("score", "named")(Named)
    built = build("score", "named", query=3, key=5, name="y", kind=7)
    made = maker("score", "named", name="z", kind=11)(3, 5)
    assert (built.name, built.kind, made.name, made.kind) == ("y", 7, "z", 11)


USERS = '''
"""A user's parts."""
from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.attend.score import Score
from regard.registry import part


@dataclass(frozen=True)
class Note:
    """Users write dataclasses too."""

    size: int = 3


@part("score", "reversed_dot")
class ReversedDot(Score):
    """The dot product with the query read backwards."""

    def __init__(self, query: int, key: int) -> None:
        super().__init__()

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return query.flip(-1) @ keys.mT
'''


def test_a_users_file_registers_parts(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(USERS)
    load_file(path)
    assert summary(find("score", "reversed_dot")) == "The dot product with the query read backwards."


def test_a_users_file_hides_no_module(tmp_path):
    """A file called json.py may be given, and `import json` means what it meant."""
    path = tmp_path / "json.py"
    path.write_text(USERS)
    before = sys.modules["json"]
    load_file(path)
    assert sys.modules["json"] is before
    assert "reversed_dot" in names("score")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("absent.py", None, r"absent\.py is not a file"),
        ("notes.txt", "x", r"notes\.txt is not a Python file"),
        ("broken.py", "def (:", r"broken\.py could not be run: SyntaxError"),
        ("raising.py", "1 / 0", r"raising\.py could not be run: ZeroDivisionError: division by zero"),
        ("wrong.py", "from regard.registry import part\npart('scor', 'x')(int)", "no kind of part is called 'scor'"),
    ],
)
def test_a_users_file_that_cannot_be_used(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=message):
        load_file(path)


def test_installed_packages_announce_their_parts(monkeypatch):
    class Entry:
        def load(self):
            part("score", "sample")(Sample)

    monkeypatch.setattr(registry, "_loaded", [])
    monkeypatch.setattr(registry, "entry_points", lambda group: [Entry()] if group == "regard.parts" else [])
    assert find("score", "sample") is Sample
