"""Shortlists: learnt from looks; what they change is measured."""

from collections import Counter

import pytest
from datasets import Dataset

from exports import LINES, OTHERS, saved
from regard.data.tokenizer import END
from regard.engine.pytorch import Torch
from regard.errors import ModelError
from regard.export.shortlist import CLEAR, Effect, effect, learn
from regard.search.shortlist import Shortlist
from regard.translate.translator import Translator
from small import model, overrides

PAIRS = Dataset.from_dict({"source": LINES * 3, "target": OTHERS * 3})


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return Translator.load(saved(tmp_path_factory.mktemp("short") / "model", taste=-9.0))


def test_candidates_are_what_looked_at_a_piece(ours):
    found = learn(ours, PAIRS, 3)
    always = found.pop(None)
    assert always[0] == END
    seen = {}
    for each in ours.force(LINES, OTHERS):
        matrix = each.record.alignment(pieces=True).matrix
        for row, target in enumerate(each.record.target.ids[:-1]):
            for column, source in enumerate(each.record.source.ids):
                if matrix[row, column] >= CLEAR:
                    seen.setdefault(source, []).append(target)
    assert found.keys() == seen.keys()
    for source, candidates in found.items():
        assert len(candidates) == min(3, len(set(seen[source])))
        assert set(candidates) <= set(seen[source])
        worst = min(seen[source].count(piece) for piece in candidates)
        assert all(seen[source].count(piece) <= worst for piece in set(seen[source]) - set(candidates))


def test_the_most_frequent_pieces_are_candidates_everywhere(ours, monkeypatch):
    """Each target piece that is written often enough, most often first; only so many, and only of the pairs read."""
    counts = Counter(piece for line in OTHERS for piece in ours.target.encode(line).ids)
    everywhere = learn(ours, PAIRS, 1)[None]
    assert everywhere[0] == END
    assert set(everywhere[1:]) == set(counts)
    often = [counts[piece] for piece in everywhere[1:]]
    assert often == sorted(often, reverse=True)
    assert often[0] > often[-1]
    monkeypatch.setattr("regard.export.shortlist.EVERYWHERE", 3)
    assert learn(ours, PAIRS, 1)[None] == everywhere[:4]
    monkeypatch.setattr("regard.export.shortlist.PAIRS", 2)
    monkeypatch.setattr("regard.export.shortlist.EVERYWHERE", 100)
    monkeypatch.setattr("regard.export.shortlist.TOGETHER", 1)
    few = {piece for line in OTHERS[:2] for piece in ours.target.encode(line).ids}
    assert set(learn(ours, PAIRS, 1)[None]) == {END, *few}


def test_a_model_that_does_not_attend_has_none(ours):
    blind = Translator(
        model(overrides("predict", "plain"), len(ours.source), len(ours.target)), ours.source, ours.target
    )
    with pytest.raises(ModelError, match="does not attend"):
        learn(blind, PAIRS, 3)


def test_a_list_of_everything_changes_nothing(ours):
    every = Shortlist.of(range(len(ours.target)), {}, len(ours.source))
    found = effect(Translator(Torch(ours.model, every), ours.source, ours.target), ours, LINES)
    assert (found.sentences, found.outputs, found.links) == (len(LINES), 1.0, 1.0)
    assert found.computing > 0


def test_a_list_of_nothing_changes_all_that_was_written(ours):
    nothing = Shortlist.of([END], {}, len(ours.source))
    found = effect(Translator(Torch(ours.model, nothing), ours.source, ours.target), ours, LINES)
    written = [each.text for each in ours.translate(LINES)]
    assert any(written)
    assert found.outputs == pytest.approx(written.count("") / len(LINES))
    assert found.links < 1.0


def test_an_effect_in_words():
    told = str(Effect(sentences=1200, outputs=0.875, links=0.9375, computing=0.4))
    assert told == "87.5% of 1,200 outputs and 93.8% of their links as without it, for 40% of the computing"
