"""A tag for every position."""

import pytest
import torch

from regard.registry import maker
from regard.types import Padded, Tagged
from small import GATED, model, pictures, words

TAG = ["predict.part=tag"]
WAYS = {
    "plain": ["attend=none"],
    "attention": [],
    "heads": ["attend.part=heads", "attend.heads=2"],
    "local": ["attend.scope=local_m", "attend.scope.reach=1"],
    "transformer": ["encode.part=transformer", "encode.feed=13", "encode.attend.heads=2", "attend=none"],
    "gated": ["encode.part=gated", "encode.encode.hidden=8", "encode.auxiliary_encode.hidden=4", *GATED],
}


def tag(built, source):
    return built.predict(built.read(source))


@pytest.mark.parametrize("way", WAYS)
def test_padding_changes_no_tag(way):
    built, source = model([*TAG, *WAYS[way]], target=5), words(31, (7, 5, 2))
    together = tag(built, source)
    assert isinstance(together, Tagged)
    assert together.logits.shape == (3, 7, 5)
    for row, length in enumerate((7, 5, 2)):
        alone = tag(built, Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length]))
        assert torch.allclose(alone.logits[0], together.logits[row, :length], atol=1e-5)


def test_a_tag_by_hand():
    built, source = model([*TAG, "attend=none"], target=5), words(31, (7, 5, 2))
    found = tag(built, source)
    assert torch.allclose(found.logits, built.predict.score(built.read(source).values), atol=1e-6)
    assert found.looked == ()
    assert not built.predict.attends


def test_each_position_asks_with_its_own_key():
    built, source = model(TAG, target=5), words(31, (7, 5, 2))
    memory, found = built.read(source), tag(built, source)
    (looked,) = found.looked
    assert looked.weights.shape == (3, 7, 7)
    attend = built.predict.attend
    one = attend(memory.keys[:, 4:5], attend.prepare(memory.keys, memory.values, memory.mask))
    assert torch.allclose(looked.weights[:, 4:5], one.weights, atol=1e-6)
    beside = torch.cat((memory.values[:, 4], one.context[:, 0]), -1)
    assert torch.allclose(found.logits[:, 4], built.predict.score(beside), atol=1e-5)
    assert built.predict.attends


def test_positions_stand_where_they_stand():
    built = model([*TAG, *WAYS["local"]], target=5)
    (looked,) = tag(built, words(31, (5,))).looked
    assert (looked.weights[0] > 0).int().tolist() == [
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [0, 1, 1, 1, 0],
        [0, 0, 1, 1, 1],
        [0, 0, 0, 1, 1],
    ]


def test_a_draw_for_padding_is_not_rewarded():
    """Hard attention hears which positions are real."""
    built, source = model([*TAG, "attend.choice=hard"], target=5), words(31, (7, 5, 2))
    heard = []
    built.predict.attend.choice.register_forward_pre_hook(lambda module, given: heard.append(given[3]))
    tag(built, source)
    assert torch.equal(heard[0], source.mask)


def test_one_word_gets_a_tag():
    built = model(TAG, target=5)
    assert tag(built, words(31, (1,))).logits.shape == (1, 1, 5)


def test_the_cells_of_an_image_are_tagged():
    grid = ["embed.part=pixels", "encode.part=grid", "encode.hidden=8", "encode.layers=2"]
    built = model([*TAG, *grid, "attend=none"], source=3, target=5)
    assert tag(built, pictures([(13, 17), (11, 7)])).logits.shape == (2, 20, 5)


def test_the_gradients_of_tags_are_right():
    part = maker("predict", "tag")(2, model(target=5).encode.widths, maker("attend", "attention")).double()
    memory = model().double().read(words(31, (3, 2)))

    def run(values):
        return part(type(memory)(values, values, memory.mask, memory.summary)).logits[memory.mask]

    values = memory.values.detach().requires_grad_()
    assert torch.autograd.gradcheck(run, values, fast_mode=True)
