"""The door to every view: text with what it was read from, files by their names, notebooks."""

import csv
import json
import re

import pytest
import torch

from regard.align.alignment import Alignment
from regard.errors import UnknownName, UsageError
from regard.show.views import (
    HONEST,
    VIEWS,
    View,
    compare_text,
    record_text,
    save_compare,
    save_record,
    save_records,
)
from show.pairs import ALIGNMENT, record

NOTE = "read from layer 1, head 2 of 2 x 3 (AER 20.0 % on 7 pairs, against gold)"


def figures(path):
    """The documents inside a page."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(text)["figures"]


def test_an_alignment_prints_itself():
    told = str(ALIGNMENT)
    assert told.splitlines()[1] == "the  ▓▓ ░░░░           le 0.70"
    assert told.splitlines()[-1] == "read from layer 1 (not measured)"
    assert "read from" not in str(Alignment(ALIGNMENT.matrix, ALIGNMENT.source, ALIGNMENT.target))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_says_what_it_was_read_from(view):
    told = record_text(record(), View(view))
    assert told.startswith("le chat  ->  the cat sits\n\n")
    assert NOTE in told
    assert re.search(r"confidence \d+ %  coverage \d+ %  focus out \d+ % \(-\d", told)
    assert told.endswith(HONEST)
    assert max(map(len, told.splitlines())) <= 80
    assert "\x1b" not in told


def test_what_is_asked_is_what_is_shown():
    ours = record()
    told = record_text(ours, View(kind="encoder-self", layer=0, heads=(2,)))
    assert "read from encoder-self attention, layer 1, head 3 of 1 x 3 (not measured)" in told
    assert "confidence" not in told, "coverage means nothing within one sentence"
    assert "hat" in record_text(ours, View(pieces=True))
    with pytest.raises(UnknownName, match="Did you mean 'lines'"):
        View("line")


def test_two_models_under_their_names():
    told = compare_text(record(model="a"), record(model="b"), View())
    assert [line for line in told.splitlines() if line in ("a", "b")] == ["a", "b"]
    assert compare_text(record(), record(), View()).startswith("small (first)\n")


# --- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [ALIGNMENT, record()], ids=["alignment", "record"])
def test_every_kind_of_file(thing, tmp_path):
    for name, start in {"a.html": b"<!doctype html>", "a.PNG": b"\x89PNG", "a.svg": b"<?xml", "a.pdf": b"%PDF"}.items():
        assert thing.save(tmp_path / "new" / name) == tmp_path / "new" / name
        assert (tmp_path / "new" / name).read_bytes().startswith(start)
    shown = thing if isinstance(thing, Alignment) else thing.alignment()
    again = Alignment.from_json(json.loads(thing.save(tmp_path / "a.json").read_text(encoding="utf-8")))
    assert torch.equal(again.matrix, shown.matrix)
    with thing.save(tmp_path / "a.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["", *shown.source]
    assert str(shown).splitlines()[1] in thing.save(str(tmp_path / "a.txt")).read_text(encoding="utf-8")


def test_json_has_the_evidence(tmp_path):
    told = json.loads(ALIGNMENT.save(tmp_path / "a.json").read_text())
    assert told["evidence"]["coverage"]["value"] == pytest.approx(ALIGNMENT.evidence.coverage.value)
    assert told["evidence"]["coverage"]["share"] == pytest.approx(ALIGNMENT.evidence.coverage.share)


def test_a_page_of_a_record_has_all_of_it(tmp_path):
    (told,) = figures(record().save(tmp_path / "a.html", "a title"))
    assert told["title"] == "a title"
    assert [each["kind"] for each in told["attention"]] == ["cross", "cross", "encoder-self", "decoder-self"]
    view = View(kind="decoder-self")
    (told,) = figures(save_record(record(), tmp_path / "b.html", view=view))
    assert told["chosen"] == {"kind": "decoder-self", "layer": 0, "heads": [0, 1]}


@pytest.mark.parametrize("view", ["matrix", "lines", "heads"])
def test_figures_of_a_record(view, tmp_path):
    path = save_record(record(), tmp_path / "a.svg", view=View(view))
    assert path.read_bytes().startswith(b"<?xml")


def test_the_views_make_different_figures(tmp_path):
    torch.manual_seed(7)
    ours = record()
    found = {save_record(ours, tmp_path / f"{view}.svg", view=View(view)).read_bytes() for view in VIEWS}
    assert len(found) == len(VIEWS)


@pytest.mark.parametrize("thing", [ALIGNMENT, record()], ids=["alignment", "record"])
@pytest.mark.parametrize("name", ["a.doc", "a", "a.htm"])
def test_a_name_that_says_nothing(thing, name, tmp_path):
    with pytest.raises(UsageError, match=r"ends in \.html, \.png, \.svg, \.pdf, \.json, \.csv, \.txt"):
        thing.save(tmp_path / name)
    assert not (tmp_path / name).exists()


def test_many_sentences_are_one_page(tmp_path):
    ours = [record(), record(("un", "chien"))]
    told = figures(save_records(ours, tmp_path / "a.html", View()))
    assert [each["source"]["text"] for each in told] == ["le chat", "un chien"]
    with pytest.raises(UsageError, match=r"ends in \.html"):
        save_records(ours, tmp_path / "a.png", View())


def test_two_models_in_a_file(tmp_path):
    one, other = record(model="a"), record(model="b")
    told = figures(save_compare(one, other, tmp_path / "a.html"))
    assert [each["model"] for each in told] == ["a", "b"]
    assert save_compare(one, other, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    both = json.loads(save_compare(one, other, tmp_path / "a.json").read_text())
    assert list(both) == ["a", "b"]
    assert both["b"]["matrix"] == other.alignment().matrix.tolist()
    assert NOTE in save_compare(one, other, tmp_path / "a.txt").read_text(encoding="utf-8")
    with pytest.raises(UsageError, match=r"ends in"):
        save_compare(one, other, tmp_path / "a.csv")


# --- notebooks ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thing", [ALIGNMENT, record()], ids=["alignment", "record"])
def test_in_a_notebook(thing):
    told = thing._repr_html_()
    assert told.lstrip().startswith("<iframe")
    assert "sandbox" in told


def test_a_record_prints_its_alignment():
    ours = record()
    assert str(ours) == str(ours.alignment())
