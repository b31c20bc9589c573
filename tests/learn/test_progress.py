"""Progress: a bar on a terminal, plain lines anywhere else."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from regard.learn import progress
from regard.learn.events import Saved, Step, Validated
from regard.learn.progress import Bar
from regard.learn.run import Budget

STEP = Step(1234, 61.0, 2.3456, 7890.1, 0.001, 0.5, 3725.0)


def shown(events, *, terminal, budget=None):
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=100, _environ={})
    with Bar(budget or Budget(steps=5000), console) as bar:
        for event in events:
            bar(event)
        if terminal:
            bar.progress.refresh()
    return out.getvalue()


def test_plain_lines_where_there_is_no_terminal(monkeypatch):
    clock = iter([0.0, 20.0, 20.0, 25.0, 31.0, 31.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    told = shown([STEP] * 4, terminal=False)  # at 0, 20, 25 and 31 seconds
    assert told.splitlines() == ["step 1,234  loss 2.346  7,890 tokens/s  1:02:05 left"] * 2


def test_a_bar_on_a_terminal():
    told = shown([STEP], terminal=True)
    assert "step 1,234  loss 2.346  7,890 tokens/s" in told
    assert "1:02:05 left" in told
    assert "\x1b[" in told


@pytest.mark.parametrize("terminal", [True, False])
def test_a_validation_is_told_with_its_samples_as_they_are(terminal):
    found = Validated(500, 83.0, {"bleu": 23.456, "aer": 0.12}, ("un [chat] -> a [red]cat[/red]",), best=True)
    told = shown([found, Saved(500, 84.0, Path("run"))], terminal=terminal)
    assert "step 500, 1:23: bleu 23.46  aer 0.12  (best)" in told
    assert "un [chat] -> a [red]cat[/red]" in told


def test_without_a_budget_nothing_is_said_to_be_left():
    step = Step(1, 1.0, 2.0, 3.0)
    assert "left" not in shown([step], terminal=False, budget=Budget())
    assert "left" not in shown([step], terminal=True, budget=Budget())


def test_it_goes_to_standard_error(capsys):
    with Bar(Budget(steps=3)) as bar:
        bar(Validated(1, 1.0, {"bleu": 1.0}, (), best=False))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "step 1, 0:01: bleu 1" in captured.err


def test_what_steers_a_terminal_is_not_passed_on(capsys):
    with Bar(Budget(steps=3)) as bar:
        bar(Validated(2, 1.0, {"bleu": 1.0}, ("one \x1b[31mred\nsecond line",), True))
    told = capsys.readouterr().err
    assert "\x1b" not in told and "one \N{REPLACEMENT CHARACTER}[31mred\nsecond line" in told
