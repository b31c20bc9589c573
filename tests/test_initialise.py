"""How weights begin: ranges, what is orthogonal, what is zero; and attention that begins exactly uniform."""

import pytest
import torch

from regard.recipe import resolve
from regard.types import Batch
from small import words

SOURCE, TARGET = 31, 37
SMALL = ("embed.width=11", "encode.hidden=14", "attend.score.hidden=5", "predict.hidden=13", "predict.embed.width=11")


def built(recipe, *settings):
    torch.manual_seed(3)
    return resolve(recipe, settings).build(SOURCE, TARGET)


def test_uniform_draws_every_weight_within_its_reach():
    model = built(
        "seq2seq", "initialise.part=uniform", "initialise.reach=0.08", "encode.hidden=17", "predict.hidden=17"
    )
    drawn = torch.cat([weight.flatten() for weight in model.parameters()])
    assert drawn.abs().max() <= 0.08
    assert torch.allclose(drawn.std(), torch.tensor(0.08 / 3**0.5), rtol=0.02), (
        "an even draw deviates by reach / sqrt 3"
    )
    assert drawn.mean().abs() < 0.001


@pytest.mark.parametrize("name", ["luong-paper", "luong-local-m-paper", "luong-local-p-paper"])
def test_luongs_paper_draws_the_matrix_of_its_score_itself(name):
    """What multiplies keys is drawn between -0.1 and 0.1, and not 1 / sqrt D of that."""
    sizes = ("embed.width=11", "encode.hidden=101", "predict.hidden=101", "predict.embed.width=11")
    score = built(name, *sizes, "encode.layers=1", "predict.layers=1").predict.attend.score
    matrix = score.prepare(torch.eye(101).unsqueeze(0)).detach()
    assert matrix.abs().max() <= 0.1
    assert abs(float(matrix.std()) / (0.1 / 3**0.5) - 1) < 0.02


def test_bahdanau_begins_with_uniform_attention():
    model = built("rnnsearch", "initialise=bahdanau", *SMALL).eval()
    with torch.no_grad():
        looked = model.teach(Batch(words(SOURCE, (7, 7)), words(TARGET, (5, 5)))).looked[0].weights
    assert torch.allclose(looked, torch.full_like(looked, 1 / 7), atol=1e-6)


def test_bahdanau_draws_each_kind_of_weight_as_the_paper_says():
    model = built(
        "rnnsearch", "initialise=bahdanau", "encode.hidden=134", "attend.score.hidden=101", "predict.hidden=67"
    )
    named = dict(model.named_parameters())
    assert all((weight == 0).all() for weight in named.values() if weight.dim() == 1)
    recurrent = named["predict.cells.0.recur.weight"]
    for block in recurrent.chunk(3):
        assert torch.allclose(block @ block.T, torch.eye(67), atol=1e-5)
    attention = [weight for name, weight in named.items() if ".attend." in name and weight.dim() == 2]
    assert attention
    assert all(abs(float(weight.detach().std()) / 0.001 - 1) < 0.05 for weight in attention)
    assert abs(float(named["embed.table.weight"].detach().std()) / 0.01 - 1) < 0.05
