"""How two models are held against one another: equal, apart, and apart by a hair."""

from dataclasses import replace

import pytest
import torch

from exports import LINES, saved, tokenizers
from regard.align.record import Aligner
from regard.engine.pytorch import Torch
from regard.errors import ModelError
from regard.export.agreement import CLOSE, Agreement, agreement, made_up_lines, must_be_exact
from regard.search import Options
from regard.translate.translator import Translator


def test_a_model_agrees_with_itself_and_not_with_another(tmp_path):
    one, same, other = (
        Translator.load(saved(tmp_path / name, seed=seed)) for name, seed in (("one", 7), ("same", 7), ("other", 11))
    )
    equal = agreement(one, same, LINES)
    assert equal == replace(equal, sentences=len(LINES), outputs=1.0, likely=1.0, links=1.0, furthest=0.0, weights=0.0)
    assert equal.record < 1e-4  # beam and force order their sums differently, and these random weights are large
    must_be_exact(equal)
    found = agreement(one, other, LINES)
    assert found.likely < 1
    assert found.weights > 0.01
    with pytest.raises(ModelError, match="not the same model"):
        must_be_exact(found)


def test_other_weights_alone_are_no_agreement(tmp_path):
    """The same scores, and links read from another head: only the weights tell."""
    one, other = (Translator.load(saved(tmp_path / name)) for name in ("one", "other"))
    other.aligner = Aligner("cross", 0, (2,))
    found = agreement(one, other, LINES)
    assert (found.outputs, found.likely, found.furthest) == (1.0, 1.0, 0.0)
    assert found.record < CLOSE < found.weights
    apart = [
        float((mine.record.alignment(pieces=True).matrix - theirs.record.alignment(pieces=True).matrix).abs().max())
        for mine, theirs in zip(*(each.force(LINES, written(one)) for each in (one, other)), strict=True)
    ]
    assert found.weights == pytest.approx(max(apart))
    assert found.links < 1
    with pytest.raises(ModelError, match="not the same model"):
        must_be_exact(found)


def written(translator):
    return [each[0].text for each in translator.search(LINES, Options(beam=1))]


class Forgetful(Torch):
    """Writes what the model writes, and records the looks of another place of the source."""

    def search(self, source, options, *, record, tokens=None):
        found = super().search(source, options, record=record, tokens=tokens)
        return [
            [replace(each, weights=tuple(layer.roll(1, -1) for layer in each.weights)) for each in outputs]
            for outputs in found
        ]


def test_a_beam_that_records_other_looks_alone_is_no_agreement(tmp_path):
    """The same scores, and the same looks when forced: only what the beam recorded tells."""
    one = Translator.load(saved(tmp_path / "one"))
    other = Translator(Forgetful(one.model), one.source, one.target, one.aligner)
    found = agreement(one, other, LINES)
    assert (found.outputs, found.likely, found.links, found.furthest, found.weights) == (1.0, 1.0, 1.0, 0.0, 0.0)
    assert found.record > 0.1
    with pytest.raises(ModelError, match="not the same model"):
        must_be_exact(found)


@pytest.mark.parametrize("guard", ["furthest", "weights", "record"])
def test_each_guard_stops_an_export_by_itself(guard):
    fine = Agreement(5, outputs=0.8, likely=1.0, links=1.0, likelihood=0.0, furthest=0.0, weights=0.0, record=0.0)
    must_be_exact(fine)
    must_be_exact(replace(fine, **{guard: CLOSE}))
    with pytest.raises(ModelError):
        must_be_exact(replace(fine, **{guard: 1.01 * CLOSE}))
    with pytest.raises(ModelError):
        must_be_exact(replace(fine, likely=0.8))


def test_a_tie_may_fall_either_way(tmp_path):
    """Two models whose best first pieces differ by a hair: not equal outputs, but no fault of either."""
    one, other = (Translator.load(saved(tmp_path / name)) for name in ("one", "other"))
    for each, first, second in ((one, 280, 281), (other, 281, 280)):
        with torch.no_grad():
            each.model.predict.readout.bias.zero_()
            each.model.predict.embed.table.weight[281] = each.model.predict.embed.table.weight[280]
            each.model.predict.readout.bias[first] = 50.0
            each.model.predict.readout.bias[second] = 50.0 - 2e-4
    found = agreement(one, other, LINES[:2])
    assert found.outputs == 0
    assert found.likely == 1
    assert found.furthest < 1e-3


def test_made_up_lines_are_always_the_same():
    lines = made_up_lines(tokenizers()[0])
    assert lines == made_up_lines(tokenizers()[0])
    assert len(lines) > 40
    assert all(line.strip() for line in lines)
