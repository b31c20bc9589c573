"""The side and the goal that CONTRIBUTING.md writes down: they are trained, used, saved and loaded as they stand."""

import re
from pathlib import Path

import pytest
from datasets import Dataset

from regard import registry
from regard.data.corpus import Corpus
from regard.learn.folder import RunFolder
from regard.learn.run import Budget
from regard.learn.train import run
from regard.recipe import resolve
from regard.registry import load_file
from regard.task import Goal, Side
from regard.tasks.complete import complete
from regard.tasks.job import silent
from regard.tasks.objects import open_model
from regard.tasks.setup import kept_parts, set_up

TEXT = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = TEXT.partition("## Add a side, a goal\n")[2].partition("\n## ")[0]
SMALL = """
[embed]
part = "tokens"
width = 16
[encode]
part = "recurrent"
hidden = 16
[predict]
part = "label"
pool = "last"
[train]
rate = 0.02
tokens = 97
precision = "fp32"
tensorboard = false
"""


def block(language):
    """The only block of a language in the section."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", SECTION, re.DOTALL)
    return found


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    registry.load()
    monkeypatch.setattr(registry, "_parts", {kind: dict(parts) for kind, parts in registry._parts.items()})
    (tmp_path / "number.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "number.toml").write_text(block("toml") + SMALL, encoding="utf-8")
    load_file(tmp_path / "number.py")
    return resolve(tmp_path / "number.toml")


def corpus():
    """How often `a` stands in a line."""
    lines = [" ".join("a" if (start >> place) & 1 else "b" for place in range(2 + start % 4)) for start in range(61)]
    rows = {"source": lines, "target": [str(line.split().count("a")) for line in lines]}
    return Corpus("counts", "text", "number", {"train": Dataset.from_dict(rows), "val": Dataset.from_dict(rows)})


def test_it_is_short():
    assert len([line for line in block("python").splitlines() if line.strip()]) <= 60


@pytest.mark.usefixtures("unchecked")
def test_it_is_trained_and_used(recipe, tmp_path):
    made = set_up(recipe, corpus(), None, 5, silent)
    assert isinstance(made.parts.target, Side)
    assert all(hasattr(made.parts.goal, name) for name in dir(Goal) if not name.startswith("_"))
    home = RunFolder(tmp_path / "run", files=made.files)
    outcome = run(made.model, made.batches, made.settings, home, budget=Budget(steps=200), aims=made.aims)
    assert outcome.metric == "exact_match"
    assert outcome.best > 90
    complete(home, recipe, corpus(), outcome, made.parts.goal.finish, silent)
    model = open_model(home.folder)
    assert [each.text for each in model.answer(["a b a", "b b"])] == ["2", "0"]
    assert "count" in repr(model)
    assert kept_parts(home, recipe.task()).specs == made.parts.specs
