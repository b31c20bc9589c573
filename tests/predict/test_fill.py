"""The head for hidden pieces: only what is asked for is scored, by the table that embeds."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from regard.errors import UsageError
from regard.predict.fill import Fill
from regard.recipe import resolve
from regard.registry import maker
from regard.types import Memory, Widths
from small import smaller

SIZE, WIDTH = 11, 7


def memory(rows=3, length=5):
    states = torch.randn(rows, length, WIDTH, dtype=torch.float64)
    return Memory(states, states, torch.ones(rows, length, dtype=torch.bool), states.mean(1))


def head(**settings):
    torch.manual_seed(3)
    return Fill(SIZE, Widths(WIDTH, WIDTH, WIDTH), None, **settings).double()


def test_what_is_asked_for_is_what_all_positions_have():
    part, read = head(), memory()
    asked = torch.tensor([[True, False, False, True, False], [False] * 5, [False, False, True, False, False]])
    assert torch.equal(part.fill(read, asked).logits, part(read).logits[asked])
    assert part.fill(read, asked).follows is None
    assert part.fill(read, asked & False).logits.shape == (0, SIZE)


def test_by_hand():
    part, read = head(approximate=True), memory()
    state = read.values[1, 2]
    hidden = F.gelu(part.transform.weight @ state + part.transform.bias, approximate="tanh")
    hidden = (hidden - hidden.mean()) / (hidden.var(correction=0) + 1e-5).sqrt()
    wanted = part.embed.table.weight @ hidden + part.bias
    assert torch.allclose(part(read).logits[1, 2], wanted)
    exact = head(approximate=False)(read).logits
    assert not torch.equal(exact, part(read).logits) and torch.allclose(exact, part(read).logits, atol=0.02)


def test_gradients_are_right():
    part, read = head(pair=True), memory(2, 3)
    asked = torch.tensor([[True, False, True], [False, True, False]])

    def scores(values, summary, *_):
        found = part.fill(Memory(values, values, read.mask, summary), asked)
        return found.logits, found.follows

    given = (read.values.requires_grad_(), read.summary.detach().requires_grad_(), *part.parameters())
    assert torch.autograd.gradcheck(scores, given, fast_mode=True)


def test_the_pair_is_told_by_the_summary():
    part, read = head(pair=True), memory()
    assert torch.allclose(part(read).follows, part.follows(read.summary))
    assert part(read).follows.shape == (3, 2)


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_one_table_goes_in_and_comes_out(name):
    recipe = resolve(name)
    model = smaller(recipe.model)(31, 31)
    assert model.predict.embed.table.weight is model.embed.table.weight
    moved = model.to(torch.float64)
    assert moved.predict.embed.table.weight.data_ptr() == moved.embed.table.weight.data_ptr()
    assert sum(each.shape == (31,) for each in model.predict.parameters()) == 1, "one bias, and no other"


def test_an_attention_is_refused():
    with pytest.raises(UsageError, match="does not attend"):
        Fill(SIZE, Widths(WIDTH, WIDTH, WIDTH), maker("attend", "attention"))


def test_the_loss_of_a_new_model_is_that_of_any_guess():
    torch.manual_seed(1)
    model = resolve("bert").build(4001, 4001).eval()
    states = torch.randn(1, 41, 128)
    logits = model.predict.scores(nn.functional.layer_norm(states, (128,)))
    wanted = torch.randint(4001, (1, 41))
    loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    assert loss.item() == pytest.approx(float(torch.log(torch.tensor(4001.0))), rel=0.05)
