"""What the README says works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_runs_and_its_comments_are_true():
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["looked"].context.shape == (2, 3, 4)
    assert names["looked"].weights.shape == (2, 3, 5)
    assert names["seen"].weights("cross").shape == (2, 1, 6, 7)


@pytest.mark.parametrize(
    "command", re.findall(r"^    (regard (?:systems|recipe|parts)[^ ]*(?: [\w.=-]+)*)", README, re.MULTILINE)
)
def test_the_commands_run(command):
    done = subprocess.run([sys.executable, "-m", *command.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_two_commands_are_targets_of_the_makefile():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = re.findall(r"^    make (\w+)", README, re.MULTILINE)
    assert commands == ["quickstart", "test"]
    assert set(commands) <= set(targets)


def test_the_tree_is_the_tree():
    lines = re.findall(r"^      ((?:[\w.]+/? )*[\w.]+/?) {2,}", README, re.MULTILINE)
    told = [name.rstrip("/") for line in lines for name in line.split()]
    found = {path.name for path in (ROOT / "src/regard").iterdir() if not path.name.startswith("_")}
    assert set(told) == found - {"py.typed", "version.py"}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)]+)\)", README))
def test_the_links_lead_somewhere(link):
    assert (ROOT / link).is_file()
