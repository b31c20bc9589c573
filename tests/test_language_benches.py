"""The benches of language models: what they measure is what they say, on models that are made up."""

import csv
import gzip
import io
import math
import sys
from contextlib import nullcontext
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
import torch

import regard
from answering import trained
from regard.data.agreement import NOUNS
from regard.data.corpus import Corpus
from regard.data.examples.documents import Documents
from regard.recipe import resolve
from regard.tasks.job import silent
from regard.tasks.setup import set_up

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import agreement
import copying
import hidden
import language_arms
import language_models
import language_text

NARROW = ("embed.width=6", "encode.layers=1", "encode.feed=11", "encode.attend.heads=2", "task.examples.length=41")


@cache
def filler(*settings):
    """A BERT that knows nothing: every piece is as likely as every other."""
    corpus = Corpus.open("stories", size=211, reads="text", wants="nothing")
    made = set_up(resolve("bert", [*NARROW, *settings]), corpus, None, 5, silent)
    with torch.no_grad():
        made.model.predict.embed.table.weight.zero_()
        made.model.predict.follows.weight.zero_()
        made.model.predict.follows.bias.copy_(torch.tensor([0.0, 1.0]))
    return SimpleNamespace(model=made.model.eval(), parts=made.parts, size=made.parts.source.spec().size)


def batches(model, pairs=None, count=2):
    return list(islice(hidden.asked(model, "stories", "val", pairs), count))


# --- hidden words ---------------------------------------------------------------------------------------------


def test_who_knows_nothing_of_hidden_pieces_needs_the_logarithm_of_their_number():
    model = filler()
    some = batches(model)
    found = hidden.measure(model, iter(some))
    follows = torch.cat([each.extra["follows"] for each in some]).double()
    assert found.nll == pytest.approx(math.log(model.size), abs=1e-4)
    assert found.accuracy == 0.0  # padding, the first of the alike, is never hidden
    assert found.pairs == pytest.approx(100 * float(follows.mean())) and 0 < found.pairs < 100
    assert found.weights == sum(weight.numel() for weight in model.model.encode.parameters())


def test_all_are_asked_with_the_same_masks_whatever_they_were_taught_with():
    for one, other in zip(batches(filler("task.goal.copies=1")), batches(filler("task.goal.copies=0")), strict=True):
        assert torch.equal(one.source.data, other.source.data) and torch.equal(one.target.data, other.target.data)


def test_a_model_of_next_sentences_can_be_asked_about_their_order():
    model = filler()
    (first,) = batches(model, "order", 1)
    assert isinstance(model.parts.examples, Documents) and model.parts.examples.pairs == "next"
    assert set(first.extra["follows"].tolist()) == {0, 1}


# --- copying --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    """A GPT-2 that looks at all places alike and finds all words alike."""
    model = regard.load(trained(tmp_path_factory.mktemp("copying"), "agreement"))
    with torch.no_grad():
        for weight in model.model.predict.parameters():
            weight.zero_()
    return model


LINE = " ".join([*NOUNS, "near", *NOUNS])  # twenty, each of one piece


def test_both_halves_are_as_unlikely_to_who_finds_nothing_again(writer):
    size = len(writer.target.tokenizer)
    assert copying.halves(writer, [LINE, LINE]) == pytest.approx((math.log(size), math.log(size)), abs=1e-4)


def test_the_weight_on_the_word_to_be_written_is_counted_at_its_place(writer):
    alike = sum(1 / (place + 21) for place in range(1, 21)) / 20  # a query sees all places up to its own
    assert copying.on_the_word(writer, [LINE] * 3) == pytest.approx(100 * alike, rel=1e-4)


# --- agreement ------------------------------------------------------------------------------------------------

LINES = [
    "the keys are lost .",
    f"the key {'near the old doors ' * 4}is lost .",
    f"the key {'near the doors ' * 9}is new .",
]


def test_the_other_form_of_a_verb():
    assert agreement.other_form(LINES[0]) == "the keys is lost ."
    assert agreement.other_form(LINES[1]).split()[-3:] == ["are", "lost", "."]


def test_right_ones_are_counted_by_the_words_between():
    near, middle, far, farthest, over_ten = agreement.by_distance(LINES, [True, False, True])
    assert (near, far, farthest, over_ten) == (100.0, 0.0, 100.0, 50.0) and math.isnan(middle)


def test_the_likelier_form_is_the_one_that_is_told():
    class Model:
        def score(self, lines):
            return [SimpleNamespace(likelihood=float(" are " in line)) for line in lines]

    assert agreement.right(Model(), LINES) == [True, False, False]


class Watched:
    """Weights of made-up looks: all of one line's last word on its subject, of another's on the word after it."""

    kinds: ClassVar = {"decoder-self": 1}

    def weights(self, kind, layer):
        found = torch.zeros(3, 1, 50, 50)
        found[1, 0, 18, 2] = 1.0  # `the key near the old doors ... is`: the word before the verb is the 18th after END
        found[2, 0, 29, 3] = 1.0
        return found


def test_looks_at_the_subject_are_counted_where_words_stand_between(writer, monkeypatch):
    monkeypatch.setattr(agreement, "watch", lambda model: nullcontext(Watched()))
    assert [agreement.subject_and_verb(line)[:2] for line in LINES] == [(1, 2), (1, 18), (1, 29)]
    assert agreement.on_the_subject(writer, LINES) == 50.0


# --- arms -----------------------------------------------------------------------------------------------------


def test_every_arm_of_every_proof_is_a_recipe_that_resolves():
    for proof in language_models.PROOFS.values():
        for arm in proof.arms:
            assert resolve(arm.recipe, arm.settings).task.settings["verb"] and arm.steps >= 1
            assert arm.start is None or arm.start.cut


def test_arms_are_told_apart_by_their_folders(tmp_path):
    arms = {arm for proof in language_models.PROOFS.values() for arm in proof.arms}
    assert len({arm.run(tmp_path, 0) for arm in arms}) == len(arms)


def test_the_state_beside_the_tape_has_no_fewer_weights():
    for proof, size in ((language_arms.LSTMN, 5000), (language_arms.AGREEMENT, 71)):
        tape, state = (
            sum(weight.numel() for weight in resolve(arm.recipe, arm.settings).build(size, size).parameters())
            for arm in proof.arms
        )
        assert tape <= state <= 1.3 * tape


def test_a_table_has_means_deviations_and_differences_by_seed():
    found = {"one": [{"accuracy": 51.0, "weights": 7.0}, {"accuracy": 53.0, "weights": 7.0}],
             "two": [{"accuracy": 47.0, "weights": 5.0}, {"accuracy": 50.0, "weights": 5.0}]}  # fmt: skip
    head, _, one, two, apart = language_models.table(found)
    assert head == "| arm | accuracy | weights |" and one == "| one | 52.00 ± 1.41 | 7.00 |"
    assert two == "| two | 48.50 ± 2.12 | 5.00 |"
    assert apart == "two less one, accuracy: -3.50 ± 0.71 (-4.000, -3.000)"


# --- text -----------------------------------------------------------------------------------------------------


def test_paragraphs_are_sentences_without_headings(tmp_path):
    path = tmp_path / "wiki.tokens.gz"
    path.write_bytes(gzip.compress(b" \n = Head = \n \n one <unk> . ten @-@ year 1 @,@ 000 . \n five . \n"))
    assert list(language_text._paragraphs(path)) == [["one unk .", "ten-year 1,000 ."], ["five ."]]


def test_few_labels_are_as_many_of_either_class():
    rows = [{"split": split, "label": str(place % 2), "text": f"{split} {place}"} for split in ("train", "test")
            for place in range(1201)]  # fmt: skip
    kept = list(csv.DictReader(io.StringIO(language_text._few(rows))))
    assert sum(row["split"] == "test" for row in kept) == 1201
    train = [row["label"] for row in kept if row["split"] == "train"]
    assert (train.count("0"), train.count("1")) == (250, 250)


def test_captions_have_a_space_between_words_and_signs(tmp_path):
    path = tmp_path / "train.en.gz"
    path.write_bytes(gzip.compress(b"Two men, a well-known dog's owner.\n"))
    assert list(language_text._plain(path)) == ["two men , a well-known dog's owner ."]


def test_no_held_out_sentence_is_read_before_it_is_asked(tmp_path):
    (tmp_path / "tatoeba").mkdir()
    lines = b"train\tGo on!\tVa !\ntest\tStop.\tHalte.\n"
    (tmp_path / "tatoeba" / "eng-fra.tsv.gz").write_bytes(gzip.compress(lines))
    rows = [{"split": split, "label": "1", "text": f"{split} text"} for split in ("train", "dev", "test")]
    told = [["A film of war .", "A war ."]]
    found = {split: language_text._sentences(tmp_path, told, rows, split) for split in language_text.LINES}
    assert sorted(found["train"]) == [*["a film of war ."] * 2, "go on !", *["train text"] * 5]
    assert (found["valid"], found["test"]) == (["dev text"], ["test text"])
