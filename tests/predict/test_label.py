"""A label over pooled or attended states."""

from dataclasses import replace

import pytest
import torch

from regard.attend import Choice
from regard.errors import ShapeError, UsageError
from regard.hooks import loss_terms
from regard.predict.label import redundancy
from regard.types import Grid, Padded
from small import model, pictures, words

LABEL = ["predict.part=label"]
GRID = ["embed.part=pixels", "encode.part=grid", "encode.hidden=8", "encode.layers=2"]
BOTH = ["encode.direction=both"]
SELF = ["encode.part=transformer", "encode.feed=13", "encode.attend.heads=2"]
# The arms that are compared: how states become one vector, and what stands below.
ARMS = {
    **{pool: [f"predict.pool={pool}", "attend=none"] for pool in ("mean", "max", "last", "summary")},
    **{f"{pool}, both ways": [f"predict.pool={pool}", "attend=none", *BOTH] for pool in ("mean", "last", "summary")},
    "attention": [],
    "attention, both ways": BOTH,
    "several queries": ["predict.queries=4", "predict.penalty=1.0", *BOTH],
    "several queries, heads": ["predict.queries=3", "attend.part=heads", "attend.heads=2"],
    "self-attention": SELF,
    "self-attention, mean": [*SELF, "predict.pool=mean", "attend=none"],
    "convolution": ["encode.part=convolve"],
}


@pytest.mark.parametrize("arm", ARMS)
def test_padding_changes_no_label(arm):
    built = model([*LABEL, *ARMS[arm]], target=5)
    source = words(31, (7, 5, 2))
    together = built.label(source)
    assert together.logits.shape == (3, 5)
    for row, length in enumerate((7, 5, 2)):
        alone = built.label(Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length]))
        assert torch.allclose(alone.logits[0], together.logits[row], atol=1e-5)


@pytest.mark.parametrize("pool", ["attend", "mean", "max", "summary"])
def test_a_picture_is_labelled_the_same_alone_and_in_a_batch(pool):
    built = model([*LABEL, *GRID, f"predict.pool={pool}", *([] if pool == "attend" else ["attend=none"])], 3, 5)
    sizes = [(13, 17), (11, 7), (5, 12)]
    source = pictures(sizes)
    together = built.label(source).logits
    assert together.shape == (3, 5)
    for row, (height, width) in enumerate(sizes):
        alone = Grid(source.data[row : row + 1, :, :height, :width], source.mask[row : row + 1, :height, :width])
        assert torch.allclose(built.label(alone).logits[0], together[row], atol=1e-5)


@pytest.mark.parametrize("pool", ["attend", "mean", "max"])
def test_what_stands_at_padding_is_never_pooled(pool):
    """Not even if it is larger than all that is real."""
    built = model([*LABEL, f"predict.pool={pool}", *([] if pool == "attend" else ["attend=none"])], target=5)
    memory = built.read(words(31, (7, 5, 2)))
    hidden = ~memory.mask.unsqueeze(-1)
    loud = replace(memory, values=memory.values.masked_fill(hidden, 1e3), keys=memory.keys.masked_fill(hidden, 1e3))
    assert torch.allclose(built.predict(loud).logits, built.predict(memory).logits, atol=1e-6)


def test_the_largest_of_numbers_below_zero_is_not_the_zero_of_padding():
    built = model([*LABEL, "predict.pool=max", "attend=none"], target=5)
    memory = built.read(words(31, (7, 5, 2)))
    below = replace(memory, values=(memory.values - 2) * memory.mask.unsqueeze(-1))
    wanted = torch.stack([row[mask].amax(0) for row, mask in zip(below.values, below.mask, strict=True)])
    assert (wanted < 0).all()
    assert torch.allclose(built.predict(below).logits, built.predict.score(wanted), atol=1e-6)


@pytest.mark.parametrize("pool", ["mean", "max", "last", "summary"])
def test_what_is_pooled_by_hand(pool):
    built, source = model([*LABEL, f"predict.pool={pool}", "attend=none"], target=5), words(31, (7, 5, 2))
    memory = built.read(source)
    rows = [values[mask] for values, mask in zip(memory.values, memory.mask, strict=True)]
    found = {
        "mean": [each.mean(0) for each in rows],
        "max": [each.amax(0) for each in rows],
        "last": [each[-1] for each in rows],
        "summary": memory.summary,
    }
    vector = torch.stack(tuple(found[pool]))
    assert torch.allclose(built.label(source).logits, built.predict.score(vector), atol=1e-5)


def test_several_queries_look_each_with_its_own_eyes():
    built = model([*LABEL, "predict.queries=3"], target=5)
    looked = built.label(words(31, (7, 5, 2))).looked[0]
    assert looked.weights.shape == (3, 3, 7)
    assert not torch.allclose(looked.weights[0, 0], looked.weights[0, 1])


def test_the_last_state_of_both_directions_has_read_everything():
    """Forwards at the last word, backwards at the first, in the top layer."""
    built, source = model([*LABEL, *ARMS["last, both ways"], "encode.layers=2"], target=5), words(31, (7, 5, 2))
    values = built.read(source).values
    ends = torch.stack([torch.cat((values[row, last, :4], values[row, 0, 4:])) for row, last in enumerate((6, 4, 1))])
    assert torch.allclose(built.label(source).logits, built.predict.score(ends), atol=1e-6)


@pytest.mark.parametrize("queries", [1, 3])
def test_one_word_gets_all_the_attention(queries):
    looked = model([*LABEL, f"predict.queries={queries}"], target=5).label(words(31, (1,))).looked[0]
    assert torch.equal(looked.weights, torch.ones(1, queries, 1))


def test_one_word_is_pooled_to_itself():
    source = words(31, (1,))
    for pool in ("attend", "mean", "max", "last", "summary"):
        built = model([*LABEL, f"predict.pool={pool}", *([] if pool == "attend" else ["attend=none"])], target=5)
        wanted = built.predict.score(built.read(source).values[:, 0])
        assert torch.allclose(built.label(source).logits, wanted, atol=1e-6), pool


class LastKey(Choice):
    """All the weight on the last key that may be looked at."""

    def forward(self, scores, allowed, gates=None, real=None):
        last = allowed.sum(-1, keepdim=True) - 1
        return torch.zeros_like(scores).scatter(-1, last.expand(*scores.shape[:-1], 1), 1.0)


def test_weights_on_the_last_word_are_its_state():
    """A look at one word alone is the pool "last", so that what attention adds is the choice of the word."""
    looks, last = (model([*LABEL, *changes], target=5) for changes in ([], ARMS["last"]))
    last.load_state_dict({name: each for name, each in looks.state_dict().items() if name in last.state_dict()})
    looks.predict.attend.choice = LastKey()
    source = words(31, (7, 5, 2))
    assert torch.allclose(looks.label(source).logits, last.label(source).logits, atol=1e-6)


def test_redundancy_by_hand():
    """Two queries at one key: A A^T is all ones, and I leaves two of four; at two keys nothing; half and half 3/4."""
    same, apart, shared = [[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5], [1.0, 0.0]]
    assert redundancy(torch.tensor([same, apart, shared])).tolist() == [2.0, 0.0, 0.75]
    one = torch.tensor([[[0.5, 0.5]]])  # a single query is drawn to one key: (1/2 - 1)^2
    assert redundancy(one).tolist() == [0.25]
    weights = torch.rand(2, 3, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(redundancy, weights)


@pytest.mark.parametrize("looks", [[], ["attend.part=heads", "attend.heads=2"]])
def test_the_penalty_is_the_mean_over_the_examples(looks):
    built = model([*LABEL, "predict.queries=3", "predict.penalty=0.5", *looks], target=5)
    source = words(31, (7, 5, 2))
    with loss_terms() as extra:
        found = built.label(source).looked[0]
    assert extra(torch.zeros(3)).item() == 0, "in use nothing is paid"
    expected = 0.5 * redundancy(found.weights).mean()
    built.train()
    twice = Padded(source.data.repeat(2, 1), source.mask.repeat(2, 1))
    for each in (source, twice):
        with loss_terms() as extra:
            built.label(each)
        assert extra(torch.zeros(len(each.mask))).item() == pytest.approx(expected.item(), rel=1e-5)
    extra(torch.zeros(6)).backward()
    assert built.predict.query.grad.any()


def test_without_a_penalty_nothing_is_told():
    built = model([*LABEL, "predict.queries=3"], target=5).train()
    with loss_terms() as extra:
        built.label(words(31, (7, 5, 2)))
    assert not extra.told


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


def test_a_last_state_needs_an_encoder_that_has_one():
    with pytest.raises(ShapeError, match='pool = "last" needs an encoder that ends with a state') as error:
        model([*LABEL, *SELF, "predict.pool=last", "attend=none"], target=5)
    assert 'pool = "summary"' in error.value.hint


def test_a_penalty_needs_queries():
    with pytest.raises(UsageError, match='penalty = 0.5 keeps the looks of queries apart, and pool = "mean" has none'):
        model([*LABEL, "predict.pool=mean", "attend=none", "predict.penalty=0.5"], target=5)


def test_a_pool_that_does_not_attend_refuses_an_attention():
    with pytest.raises(UsageError, match='pool = "mean" does not attend'):
        model([*LABEL, "predict.pool=mean"], target=5)
