"""A label over pooled or attended states."""

import pytest
import torch

from regard.errors import UsageError
from regard.types import Padded
from small import model, words

LABEL = ["predict.part=label"]


@pytest.mark.parametrize("pool", ["attend", "mean", "max", "summary"])
def test_padding_changes_no_label(pool):
    built = model([*LABEL, f"predict.pool={pool}", *([] if pool == "attend" else ["attend=none"])], target=5)
    source = words(31, (7, 5, 2))
    together = built.label(source)
    assert together.logits.shape == (3, 5)
    for row, length in enumerate((7, 5, 2)):
        alone = built.label(Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length]))
        assert torch.allclose(alone.logits[0], together.logits[row], atol=1e-5)


@pytest.mark.parametrize("pool", ["mean", "max", "summary"])
def test_what_is_pooled_by_hand(pool):
    built, source = model([*LABEL, f"predict.pool={pool}", "attend=none"], target=5), words(31, (7, 5, 2))
    memory = built.read(source)
    rows = [values[mask] for values, mask in zip(memory.values, memory.mask, strict=True)]
    found = {"mean": [each.mean(0) for each in rows], "max": [each.amax(0) for each in rows], "summary": memory.summary}
    vector = torch.stack(tuple(found[pool]))
    assert torch.allclose(built.label(source).logits, built.predict.score(vector), atol=1e-5)


def test_several_queries_look_each_with_its_own_eyes():
    built = model([*LABEL, "predict.queries=3"], target=5)
    looked = built.label(words(31, (7, 5, 2))).looked[0]
    assert looked.weights.shape == (3, 3, 7)
    assert not torch.allclose(looked.weights[0, 0], looked.weights[0, 1])


def test_one_word_gets_all_the_attention():
    looked = model(LABEL, target=5).label(words(31, (1,))).looked[0]
    assert torch.equal(looked.weights, torch.ones(1, 1, 1))


def test_queries_begin_about_as_long_as_one():
    torch.manual_seed(3)
    query = model([*LABEL, "predict.queries=101", "encode.hidden=134"], target=5).predict.query.detach()
    assert query.shape == (101, 134)
    assert abs(float(query.norm(dim=-1).mean()) - 1) < 0.02


def test_queries_stand_at_the_first_words():
    """With a window of one word to either side: the first query sees words 0 and 1, the second 0 to 2."""
    built = model([*LABEL, "predict.queries=2", "attend.scope=local_m", "attend.scope.reach=1"], target=5)
    looked = built.label(words(31, (7,))).looked[0]
    assert (looked.weights[0] > 0).int().tolist() == [[1, 1, 0, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 0]]


def test_a_pool_that_does_not_attend_refuses_an_attention():
    with pytest.raises(UsageError, match='pool = "mean" does not attend'):
        model([*LABEL, "predict.pool=mean"], target=5)
