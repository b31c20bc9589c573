"""Trials of systems: arms side by side, what is measured, what is said, and going on after a stop."""

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from regard.data.corpus import Corpus
from regard.errors import Interrupted, TrainingError, UnknownName, UsageError
from regard.evaluate import Gold, count_exact
from regard.evaluate.metrics import metric
from regard.recipe.reproduce import Reproduce
from regard.tasks.reproduce import Plan, reproduce, table_of
from regard.tasks.reproduce.measure import (
    Measured,
    Questions,
    _count_links,
    _rows_on,
    difference,
    first_questions,
    measured,
)
from regard.tasks.reproduce.result import Reproduction, told
from regard.tasks.reproduce.train import train_arms
from small import RECIPE

TABLE = Reproduce(
    data="copy", minutes=0.02, claim="it copies", measure="exact_match", at_least=10.0, tested=29, size=53
)


# --- one whole trial ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    """A recipe with a table, and what came of it in hardly any time."""
    home = tmp_path_factory.mktemp("trial")
    recipe = home / "mine.toml"
    recipe.write_text(
        f'extends = "{RECIPE}"\n[about]\npaper = "A paper (2026)"\n[reproduce]\ndata = "copy"\nminutes = 0.02\n'
        'claim = "it copies"\nmeasure = "exact_match"\non = "long"\nat_least = 90.0\nsize = 53\ntested = 29\n'
        f'against = "dropping: {RECIPE} predict.dropout=0.1"\nsettings = ["task.source.pieces=words"]\n'
    )
    return recipe, home / "out", reproduce(str(recipe), out=home / "out", seed=3)


def test_both_arms_are_trained_and_measured_on_the_same_examples(trial):
    recipe, out, result = trial
    assert list(result.arms) == [str(recipe), "dropping"]
    assert result.examples == 29 // 3
    assert result.difference.value == 0.0 and not result.holds, "nothing is learnt in a second"
    assert json.loads((out / "result.json").read_text()) == json.loads(json.dumps(result.as_dict()))
    said = str(result)
    assert "A paper (2026)\nclaim: it copies\nexact match on the longest third of the test examples (9 of copy)" in said
    assert "asked" in said and "at least +90.0 %\nThe claim does not hold here." in said
    assert [path.name for path in result.pictures] == ["lengths.png", "looked.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in result.pictures)


def test_a_rerun_trains_nothing_and_says_the_same(trial, monkeypatch):
    recipe, out, result = trial
    monkeypatch.setattr("regard.tasks.children.sys.executable", "/nowhere")
    assert reproduce(str(recipe), out=out, seed=3).arms == result.arms


def test_other_conditions_are_refused(trial):
    recipe, out, _ = trial
    with pytest.raises(UsageError, match="other conditions: minutes, seed"):
        reproduce(str(recipe), out=out, seed=4, minutes=0.5)


# --- systems by name ---------------------------------------------------------------------------------------


def test_a_system_that_is_none_is_told_what_is_near():
    with pytest.raises(UnknownName, match="rnnsearch"):
        table_of("rnnserch")
    with pytest.raises(UsageError, match="regard reproduce gnmt$"):
        table_of("gnmt-paper")
    with pytest.raises(UsageError, match="variant"):
        table_of("transformer-tiny")


# --- trainings ---------------------------------------------------------------------------------------------

PRETENDED = """
import sys, time
from pathlib import Path
words = sys.argv[3:]
run = Path(words[words.index("--out") + 1])
run.mkdir(parents=True, exist_ok=True)
with (Path({home!r}) / "calls").open("a") as calls:
    calls.write(" ".join(words) + "\\n")
print("step 1", file=sys.stderr, flush=True)
if "--resume" not in words and "slow" in words[1]:
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        (run / "state.safetensors").touch()
        sys.exit(130)
if words[1] == "weak":
    print("regard: no luck", file=sys.stderr)
    sys.exit(1)
"""


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """A home in which trainings pretend; `calls` has their commands."""
    program = tmp_path / "python"
    program.write_text(f"#!{sys.executable}\n" + PRETENDED.format(home=str(tmp_path)))
    program.chmod(0o755)
    monkeypatch.setattr("regard.tasks.children.sys.executable", str(program))
    return tmp_path


def plan(home, system, against=""):
    return Plan(system, replace(TABLE, against=against, changes=("a=1",), settings=("b=2",)), 7.0, 3, home / "out")


def test_the_commands_say_all_that_the_table_does(pretended):
    said = []
    train_arms(plan(pretended, "quick", "the other: strong c=5"), 5.25, lambda *told: said.append(told))
    calls = sorted((pretended / "calls").read_text().splitlines())
    run = pretended / "out" / "arms"
    same = "--size 53 --minutes 5.25 --seed 3 -s b=2 -s"
    assert calls == [
        f"train quick --data copy --out {run}/quick/run {same} a=1",
        f"train strong --data copy --out {run}/the-other/run {same} c=5",
    ]
    assert sorted(said) == [("quick", "step 1"), ("the other", "step 1")]
    train_arms(plan(pretended, "quick", "the other: strong c=5"), 5.25, lambda *told: said.append(told))
    assert len((pretended / "calls").read_text().splitlines()) == 2, "what is done is not done again"


def test_a_training_that_fails_is_told_with_its_last_words(pretended):
    with pytest.raises(TrainingError, match="weak could not be trained: step 1\nregard: no luck"):
        train_arms(plan(pretended, "weak", "strong"), 5.0, lambda *told: None)
    assert (pretended / "out/arms/strong/done").is_file()
    assert not (pretended / "out/arms/weak/done").is_file()


def test_a_stop_saves_and_a_rerun_goes_on(pretended):
    def stop(*told):
        threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()

    began = time.monotonic()
    with pytest.raises(Interrupted, match="a rerun goes on"):
        train_arms(plan(pretended, "slow"), 5.0, stop)
    assert time.monotonic() - began < 30
    train_arms(plan(pretended, "slow"), 5.0, lambda *told: None)
    first, second = (pretended / "calls").read_text().splitlines()
    assert second == f"{first} --resume"


# --- measuring ---------------------------------------------------------------------------------------------


def test_the_long_ones_are_the_longest_third():
    sources = ["a b c", "a", "a b c d", "a b", "a b c d e", "a", "a"]
    assert _rows_on(sources, "long").tolist() == [2, 4]
    assert _rows_on(sources, "all").tolist() == list(range(7))
    assert _rows_on(["a"], "long").tolist() == [0]


def test_examples_are_the_first_of_the_test_split():
    corpus = Corpus.open("reverse", size=53, seed=3)
    found = first_questions(corpus, replace(TABLE, measure="aer", tested=11))
    assert found.sources == list(corpus.split("test")["source"])[:11]
    assert len(found.gold.sure) == 11 and found.targets[0].split() == found.sources[0].split()[::-1]
    assert first_questions(corpus, TABLE).gold is None, "gold links are read where they are measured"


def test_values_differences_and_their_intervals_by_hand():
    ours = count_exact(["a", "b", "c", "d"], ["a", "b", "c", "x"])
    theirs = count_exact(["a", "y", "y", "x"], ["a", "b", "c", "x"])
    assert measured(ours).value == 75.0
    apart = difference(ours, theirs)
    assert apart.value == 25.0
    assert apart.low <= 25.0 <= apart.high and apart.low < apart.high
    same = difference(ours, ours)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0), "both are measured on the same draws"


def test_the_alignment_error_by_hand(monkeypatch):
    links = [[(0, 0), (1, 1)], [(0, 1)]]

    class Links:
        def load(self):
            return Links()

        def force(self, sources, targets, *, spaced):
            alignments = [type("Alignment", (), {"links": lambda self, each=each: each})() for each in links]
            return [type("Forced", (), {"alignment": each})() for each in alignments]

    monkeypatch.setattr(
        "regard.translate.translator.Translator", type("T", (), {"load": staticmethod(lambda run: Links())})
    )
    gold = Gold([((0, 0),), ((0, 0),)], [((1, 1),), ()])
    arm = plan(Path("x"), "a").arms()[0]
    counted = _count_links(arm, Questions(["a b", "a"], ["a b", "a b"], gold, np.arange(2)))
    assert counted.rows.tolist() == [[2, 2, 1, 1], [1, 0, 0, 1]]
    assert counted.value() == pytest.approx(1 - (1 + 2) / (3 + 2))
    with pytest.raises(UsageError, match="gold links"):
        _count_links(arm, Questions([], [], None, np.arange(0)))


# --- what is said ------------------------------------------------------------------------------------------


def result(table, arms, apart=None):
    return Reproduction("mine", "A paper", table, 3, 29, arms, apart, 61.0, (), Path("out"))


def test_the_verdict_says_when_the_interval_reaches_across():
    def said(value, low, high):
        return result(TABLE, {"mine": Measured(value, low, high)}).verdict

    assert said(13.0, 11.0, 17.0) == "The claim holds."
    assert said(13.0, 7.0, 17.0) == "The claim holds, but the interval reaches across what is asked."
    assert said(7.0, 5.0, 11.0) == "The claim does not hold, but the interval reaches across what is asked."
    assert said(7.0, 5.0, 9.0) == "The claim does not hold here."


def test_the_difference_decides_where_there_is_one():
    table = replace(TABLE, against="soft: other", at_least=None, at_most=-3.0, measure="aer")
    found = result(
        table, {"mine": Measured(5.0, 5.0, 5.0), "soft": Measured(9.0, 9.0, 9.0)}, Measured(-4.0, -5.0, -3.5)
    )
    assert found.decisive.value == -4.0 and found.holds and found.clear
    assert "difference  -400.0% [-500.0%, -350.0%]" in str(found)
    assert "asked       at most -300.0%" in str(found)


def test_a_difference_has_its_sign_and_a_value_none():
    found = Measured(3.25, -1.0, 7.5)
    assert told(metric("bleu"), found, signed=True) == "+3.2 [-1.0, +7.5]"
    assert told(metric("bleu"), found) == "3.2 [-1.0, 7.5]"
