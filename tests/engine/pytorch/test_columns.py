"""Matrices column by column: the same model, in another order in memory."""

import copy

import pytest
import torch

from regard.engine.pytorch.columns import columns_together
from regard.model import load, save
from small import batch, model

KINDS = [[], ["predict.readout=linear"], ["predict.readout=tied"]]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_only_the_order_in_memory_changes(kind, tmp_path):
    plain = model(kind).eval()
    turned = columns_together(copy.deepcopy(plain))
    matrices = [each.weight for each in turned.modules() if type(each) is torch.nn.Linear]
    assert matrices and all(each.stride(0) == 1 for each in [*matrices, turned.predict.readout.product()[0]])
    for (name, one), (other, two) in zip(plain.state_dict().items(), turned.state_dict().items(), strict=True):
        assert name == other
        torch.testing.assert_close(one, two, rtol=0, atol=0)
    save(turned, tmp_path / "m")
    for one, two in zip(plain.parameters(), load(tmp_path / "m").parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=0, atol=0)


def test_it_computes_the_same_and_can_be_trained():
    plain = model([]).eval()
    turned = columns_together(copy.deepcopy(plain))
    pairs = batch()
    losses = []
    for each in (plain, turned):
        optimiser = torch.optim.AdamW(each.parameters(), lr=0.01)
        for _ in range(2):
            logits = each.teach(pairs).logits
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), pairs.target.data[:, 1:].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
