"""Agreement and repeats: what a language model has to carry, or to find again."""

from itertools import islice

import pytest

from regard.data import agreement, repeats
from regard.data.builtin import examples
from regard.data.splits import split_of


@pytest.mark.parametrize("name", ["agreement", "agreement-far", "agreement-mixed", "repeats"])
def test_lines_are_decided_by_name_split_and_seed_and_never_shared(name):
    drawn = {split: [each.target for each in examples(name, split=split, size=97)] for split in ("train", "val")}
    assert drawn["train"] == [each.target for each in examples(name, split="train", size=97)]
    assert drawn["train"][:31] == [each.target for each in examples(name, split="train", size=31)]
    assert len(set(drawn["train"])) == 97
    assert not set(drawn["train"]) & set(drawn["val"])
    assert {split_of(line) for line in drawn["val"]} == {"val"}
    assert {each.source for each in examples(name, split="val", size=5)} == {""}


def test_the_verb_agrees_with_the_subject_and_not_with_what_stands_between():
    lines = [each.target for each in agreement.generate(split="train", size=501)]
    distances, misled = set(), 0
    for line in lines:
        words = line.split()
        subject, verb, other = agreement.subject_and_verb(line)
        singular, plural = next(forms for forms in agreement.VERBS if words[verb] in forms)
        assert words[verb] == (plural if words[subject].endswith("s") else singular)
        assert {words[verb], other} == {singular, plural}
        distances.add(verb - subject)
        last = words[verb - 1]
        misled += last.endswith("s") != words[subject].endswith("s")
    assert min(distances) == 1 and max(distances) > 15
    assert misled > 100, "the noun before the verb is no help"


def test_the_far_version_has_three_times_as_many_phrases_between():
    def most(name):
        lines = [each.target for each in examples(name, split="train", size=301)]
        return max(sum(word in agreement.PLACES for word in line.split()) for line in lines)

    assert most("agreement") == 5
    assert most("agreement-far") == 15


def test_in_the_mixed_version_few_phrases_are_likelier_than_many():
    lines = [each.target for each in examples("agreement-mixed", split="train", size=997)]
    counts = [sum(word in agreement.PLACES for word in line.split()) for line in lines]
    shares = [counts.count(count) / len(counts) for count in range(4)]
    assert all(abs(share - 0.4 * 0.6**count) < 0.05 for count, share in enumerate(shares))
    assert 6 < max(counts) <= 15


def test_the_second_half_repeats_the_first():
    for each in islice(repeats.generate(split="test", size=23), 23):
        words = each.target.split()
        assert words[: repeats.LENGTH] == words[repeats.LENGTH + 1 :]
        assert words[repeats.LENGTH] == repeats.AGAIN
