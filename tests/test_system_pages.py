"""docs/systems.md: a section for each system, whose command, minutes and links are true."""

import re
from pathlib import Path

import pytest

from regard.recipe.reproduce import systems

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "systems.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
WORDS = {
    "perplexity": "perplexity",
    "BLEU": "bleu",
    "exact": "exact_match",
    "token by token": "token_match",
    "accuracy": "accuracy",
    "tag": "tag_accuracy",
    "hidden": "fill_accuracy",
    "error": "aer",
    "Dice": "dice",
    "symmetry": "symmetry_error",
    "MSE": "mse",
    "noise": "noise_left",
}


def test_every_system_has_a_section_and_every_section_a_system():
    assert set(SECTIONS) == set(systems())


@pytest.mark.parametrize("name", systems())
def test_a_section_has_the_command_and_what_the_table_states(name):
    body, table = SECTIONS[name], systems()[name]
    assert f"\n    regard reproduce {name}\n" in body
    expected = re.search(r"^\*\*Expected\*\* in ([\d.]+) minutes: (.*)", body, re.MULTILINE)
    assert float(expected[1]) == table.minutes
    assert f"{abs(table.bound):g} " in expected[2], "what is asked"
    assert any(measure == table.measure for word, measure in WORDS.items() if word in expected[2])


def test_links_and_pictures_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", TEXT):
        path, _, anchor = link.partition("#")
        found = DOCS / path
        assert found.is_file(), link
        assert found.suffix != ".png" or found.stat().st_size < 100_000
        if anchor:
            heads = re.findall(r"^#+ (.*)", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}, link
