"""`regard reproduce`: the list, and what is asked wrongly. A whole trial is in tests/tasks/test_reproduce.py."""

import json

import pytest

from regard.cli.reproduce import reproduce, tell
from regard.errors import UsageError
from regard.recipe.reproduce import systems


def test_the_list_has_every_system_with_its_minutes_and_its_claim(capsys):
    reproduce(listed=True)
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["system", "minutes", "claim"]
    found = [line.split(maxsplit=2) for line in lines]
    assert found == [[name, f"{table.minutes:g}", table.claim] for name, table in systems().items()]
    reproduce(listed=True, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["rnnsearch"]["claim"] == systems()["rnnsearch"].claim


def test_a_system_must_be_named():
    with pytest.raises(UsageError, match="--list"):
        reproduce()


def test_samples_are_left_to_the_log(capsys):
    tell("luong", "  step 7  loss 1.0")
    tell("luong", "a b c  ->  c b a")
    assert capsys.readouterr().err == "luong: step 7  loss 1.0\n"


def test_a_result_is_written_for_machines(monkeypatch, capsys):
    class Result:
        def as_dict(self):
            return {"holds": True}

        def __str__(self):
            return "The claim holds."

    asked = []
    monkeypatch.setattr(
        "regard.tasks.reproduce.reproduce", lambda *words, **more: asked.append((words, more)) or Result()
    )
    reproduce("gnmt", minutes=3.0, seed=5, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"holds": True}
    assert asked[0][0] == ("gnmt",) and asked[0][1]["minutes"] == 3.0 and asked[0][1]["seed"] == 5
    reproduce("gnmt")
    assert capsys.readouterr().out == "The claim holds.\n"
