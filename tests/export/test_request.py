"""What every export is asked and tells: the sentences it is checked with, the two checks, what they cost."""

from dataclasses import replace

import pytest
from datasets import Dataset

from exports import LINES, built, saved, tokenizers
from regard.data.corpus import Corpus
from regard.errors import ModelError, UnknownName, UsageError
from regard.export import request
from regard.export.agreement import Agreement, made_up_lines
from regard.export.request import (
    FEWEST,
    FULL,
    KEPT,
    Wish,
    checked_twice,
    keep,
    lines_to_check,
    open_model,
    warn_of_loss,
)
from regard.translate.translator import SOURCE_FILE, TARGET_FILE, Translator

FINE = Agreement(5, outputs=1.0, likely=1.0, links=1.0, likelihood=0.0, furthest=0.0, weights=0.0, record=0.0)


@pytest.fixture(scope="module")
def ours():
    return Translator(built(), *tokenizers())


def corpus(**splits):
    made = {name: Dataset.from_dict({"source": lines, "target": lines}) for name, lines in splits.items()}
    return Corpus("toy", "de", "en", made)


def test_sentences_that_are_given_come_first_and_none_is_empty(ours):
    wish = Wish(lines=["eins", " ", "", "zwei"])
    assert lines_to_check(ours, wish) == (["eins", "zwei"], True)
    both = replace(wish, corpus=corpus(train=["nie"], val=["drei", "\t", "vier"]))
    assert lines_to_check(ours, both) == (["eins", "zwei", "drei", "vier"], True)


def test_a_corpus_gives_its_first_validation_sentences_or_else_of_training(ours, monkeypatch):
    monkeypatch.setattr(request, "SAMPLE", 3)
    lines = [f"satz {number}" for number in range(5)]
    assert lines_to_check(ours, Wish(corpus=corpus(train=["nie"], val=lines))) == (lines[:3], True)
    assert lines_to_check(ours, Wish(corpus=corpus(train=lines[:2]))) == (lines[:2], True)


def test_without_sentences_they_are_made_up_and_that_is_known(ours):
    assert lines_to_check(ours, Wish()) == (made_up_lines(ours.source), False)
    with pytest.raises(UsageError, match="the sample has no sentence in it"):
        lines_to_check(ours, Wish(lines=["", "  "]))


def test_what_cannot_be_wished_for():
    with pytest.raises(UnknownName, match="int8"):
        Wish("int9")
    with pytest.raises(UsageError, match="learnt from a corpus"):
        Wish(shortlist=5)
    assert Wish(shortlist=5, corpus=corpus(train=LINES)).shortlist == 5


def test_full_precision_is_checked_before_anything_else():
    said, kinds = [], []

    def write(kind):
        kinds.append(kind)
        return FINE if kind == FULL else replace(FINE, outputs=0.5)

    converted, quantized = checked_twice(write, Wish("int8"), True, said.append)
    assert kinds == [FULL, "int8"]
    assert (converted.outputs, quantized.outputs) == (1.0, 0.5)
    assert [line.partition(":")[0] for line in said] == ["float32", "int8", "Warning"]
    kinds.clear()
    said.clear()
    assert checked_twice(write, Wish(FULL), True, said.append) == (FINE, FINE)
    assert kinds == [FULL]
    assert len(said) == 1


def test_a_conversion_that_is_not_exact_goes_no_further():
    kinds = []
    with pytest.raises(ModelError, match="not the same model"):
        checked_twice(lambda kind: kinds.append(kind) or replace(FINE, weights=0.1), Wish("int8"), True, print)
    assert kinds == [FULL]


@pytest.mark.parametrize(
    ("outputs", "real", "told"),
    [
        (FEWEST, True, []),
        (FEWEST - 0.01, True, ["Warning: quantising changed more than 20% of the outputs"]),
        (1.0, False, ["The sentences were made up of random pieces"]),
        (0.0, False, ["The sentences were made up of random pieces"]),
    ],
)
def test_what_quantising_costs_is_said_where_it_is_much_or_not_known(outputs, real, told):
    said = []
    warn_of_loss(replace(FINE, outputs=outputs), real, said.append)
    assert [line[: len(start)] for line, start in zip(said, told, strict=True)] == told


def test_files_are_kept_where_there_are_any(tmp_path):
    home, out = tmp_path / "home", tmp_path / "out"
    for each in (home, out):
        each.mkdir()
    (home / KEPT[0]).write_text("one")
    (home / "scores.json").mkdir()  # no file
    (home / "other").write_text("two")
    keep(home, out)
    assert {each.name: each.read_text() for each in out.iterdir()} == {KEPT[0]: "one"}
    keep(home, out, ("other",))
    assert (out / "other").read_text() == "two"


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    home = saved(tmp_path / "model")
    assert open_model(home)[0] == home
    (home / SOURCE_FILE).write_text((home / TARGET_FILE).read_text())
    with pytest.raises(ModelError):
        open_model(home)
