"""Recorded results: every table has its command and says its state; arms begin alike where the docs say so."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from regard.compare.arms import read_arms
from regard.recipe import resolve

HOME = Path(__file__).parents[1]
COMMAND = re.compile(r"^    (?:python (benchmarks/[\w/.]+)|make ([\w-]+)|regard \w+)", re.MULTILINE)
STATE = re.compile(r"[Aa]s of \d+ November 20\d\d")
ALIKE = ("embed.width", "embed.deviation", "predict.embed.width", "predict.embed.deviation")


def sections(page):
    """The headings of a page and what stands under each, down to the next."""
    _, *found = re.split(r"^##+ (.+)$", (HOME / "docs" / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(found[::2], found[1::2], strict=True))


def recorded(page):
    """Its sections with a table, but for those that list what there is."""
    return {name: text for name, text in sections(page).items() if "| --- |" in text and "| command |" not in text}


@pytest.mark.parametrize("page", ["speed.md", "proofs.md"])
def test_every_recorded_table_has_its_command_and_its_state(page):
    found = recorded(page)
    assert found
    assert [name for name, text in found.items() if not COMMAND.search(text)] == []
    assert [name for name, text in found.items() if not STATE.search(text)] == []


@pytest.mark.parametrize("page", ["speed.md", "proofs.md"])
def test_every_command_that_is_named_exists(page):
    rules = (HOME / "Makefile").read_text() + (HOME / "proofs.mk").read_text()
    for text in sections(page).values():
        for script, target in COMMAND.findall(text):
            assert not script or (HOME / script).exists(), script
            assert not target or re.search(rf"^{target}:", rules, re.MULTILINE), target


def compared(proof):
    """The arms of a proof, resolved, with the settings that all of them share, as `make` would run it."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    command = ["make", "-n", proof, f"VENV={Path(sys.prefix)}", "--assume-old", f"{Path(sys.prefix)}/installed"]
    told = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=True).stdout
    words = next(shlex.split(line) for line in told.replace("\\\n", " ").splitlines() if " compare " in line)
    words = words[words.index("compare") + 1 :]
    arms = [word for at, word in enumerate(words) if not word.startswith("-") and not words[at - 1].startswith("-")]
    shared = [words[at + 1] for at, word in enumerate(words) if word == "-s"]
    return {arm.label: resolve(arm.recipe, [*shared, *arm.settings]) for arm in read_arms(arms, shared)}


def value(recipe, name):
    """A setting of a resolved recipe."""
    found = recipe.model
    for word in name.split("."):
        found = found.settings[word]
    return found


@pytest.mark.parametrize("proof", ["proof-phrasebook", "proof-europarl", "proof-luong"])
def test_arms_begin_alike(proof):
    """Token vectors as wide and as large at first, and trained in the same way."""
    arms = compared(proof)
    assert len(arms) > 1
    for name in ALIKE:
        assert len({value(recipe, name) for recipe in arms.values()}) == 1, name
    assert len({repr(recipe.train()) for recipe in arms.values()}) == 1


def test_with_and_without_attention_have_as_many_parameters():
    sizes = [
        sum(weight.numel() for weight in recipe.build(3000, 3000).parameters())
        for recipe in compared("proof-phrasebook").values()
    ]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.02)
