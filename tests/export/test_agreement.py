"""How two models are held against one another: equal, apart, and apart by a hair."""

from dataclasses import replace

import pytest
import torch

from exports import LINES, saved, tokenizers
from regard.errors import ModelError
from regard.export.agreement import agreement, made_up_lines, must_be_exact
from regard.translator import Translator


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
