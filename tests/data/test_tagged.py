"""Tagged sentences: as many tags as words, one reading a sentence, and words that need what stands around."""

from __future__ import annotations

from collections import Counter, defaultdict

from regard.data.tagged import TAGS, generate


def test_as_many_tags_as_words():
    pairs = list(generate(split="train", size=503))
    assert all(len(pair.source.split()) == len(pair.target.split()) for pair in pairs)
    assert {tag for pair in pairs for tag in pair.target.split()} == set(TAGS)
    assert all(pair.source.endswith(" .") and pair.target.endswith(" PUNCT") for pair in pairs)


def test_the_most_frequent_tag_of_a_word_is_often_wrong():
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in generate(split="train", size=2_003):
        for word, tag in zip(pair.source.split(), pair.target.split(), strict=True):
            counts[word][tag] += 1
    assert set(counts["that"]) == {"DET", "SCONJ"} and set(counts["to"]) == {"ADP", "PART"}
    assert set(counts["light"]) == {"ADJ", "NOUN", "VERB"} and set(counts["her"]) == {"DET", "PRON"}
    right = total = 0
    for pair in generate(split="test", size=503):
        for word, tag in zip(pair.source.split(), pair.target.split(), strict=True):
            right += counts[word].most_common(1)[0][0] == tag
            total += 1
    assert 0.75 < right / total < 0.9


def test_two_neighbours_on_either_side_tell():
    """Counting tags by word, two words before and two after answers nearly all that was seen: the rest is rare."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for pair in generate(split="train", size=7_001):
        words = ["", "", *pair.source.split(), "", ""]
        for place, tag in enumerate(pair.target.split()):
            counts[tuple(words[place : place + 5])][tag] += 1
    repeated = [tags for tags in counts.values() if tags.total() > 1]
    assert len(repeated) > 500
    assert sum(tags.most_common(1)[0][1] for tags in repeated) / sum(tags.total() for tags in repeated) > 0.995
