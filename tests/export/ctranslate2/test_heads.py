"""The order of heads: any order gives the same model, and the heads asked for come first."""

import pytest
import torch

from regard.attend.heads import Heads
from regard.export.ctranslate2.heads import heads_first
from small import batch, model, overrides

HEADS, WIDTH, QUERIES, KEYS = 5, 35, 3, 11


def looked(attend, query, keys):
    found = attend(query, attend.prepare(keys, keys))
    return found.context, found.weights


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("first", [(), (3,), (4, 1), (2, 0, 4), (4, 3, 2, 1, 0)])
def test_the_context_stays_and_the_weights_move(first, bias):
    attend = Heads(13, 17, 17, heads=HEADS, width=WIDTH, bias=bias)
    query, keys = torch.randn(2, QUERIES, 13), torch.randn(2, KEYS, 17)
    context, weights = looked(attend, query, keys)
    moved_context, moved_weights = looked(heads_first(attend, first), query, keys)
    assert torch.allclose(context, moved_context, atol=1e-6)
    order = [*first, *(head for head in range(HEADS) if head not in first)]
    assert torch.equal(weights[:, order], moved_weights)


def test_two_heads_of_width_one_by_hand():
    attend = Heads(2, 2, 2, heads=2, bias=True)
    with torch.no_grad():
        attend.of_query.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        attend.of_query.bias.copy_(torch.tensor([5.0, 6.0]))
        attend.join.weight.copy_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        attend.join.bias.copy_(torch.tensor([5.0, 6.0]))
    moved = heads_first(attend, (1,))
    assert moved.of_query.weight.tolist() == [[3.0, 4.0], [1.0, 2.0]]
    assert moved.of_query.bias.tolist() == [6.0, 5.0]
    assert moved.join.weight.tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert moved.join.bias.tolist() == [5.0, 6.0]  # what comes out is in the order it was in


def test_the_given_attention_is_left_alone():
    attend = Heads(6, 6, 6, heads=3)
    before = {name: weight.clone() for name, weight in attend.state_dict().items()}
    heads_first(attend, (2,))
    assert all(torch.equal(before[name], weight) for name, weight in attend.state_dict().items())


def test_a_whole_model_is_the_same_with_moved_heads():
    settings = ["attend.part=heads", "attend.heads=4", *overrides("predict", "transformer")]
    made, pairs = model(settings), batch()
    before = made.teach(pairs).logits
    for layer in made.predict.layers:
        layer.attend = heads_first(layer.attend, (3, 1))
    assert torch.allclose(made.teach(pairs).logits, before, atol=1e-5)
