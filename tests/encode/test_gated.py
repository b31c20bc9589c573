"""The encoder with gates: two encoders over one embedded source."""

import pytest
import torch

from regard.encode.gated import GatedEncoder
from regard.encode.image import GridEncoder
from regard.encode.recurrent import RecurrentEncoder
from regard.errors import ShapeError, UsageError
from regard.hooks import loss_terms
from regard.masks import from_lengths
from regard.registry import maker
from regard.types import Padded
from small import ATTENDING, GATED, batch, model, overrides, pictures, words

ENCODERS = {
    "encode": maker("encode", "recurrent", hidden=6, cell="lstm", direction="both"),
    "auxiliary_encode": maker("encode", "recurrent", hidden=3),
}
LABEL = ["predict.part=label", *overrides("encode", "gated")[:1], "encode.encode.hidden=8"]
LABEL += ["encode.auxiliary_encode.hidden=4", *GATED]


def padded(width=5):
    return Padded(torch.randn(3, 7, width), from_lengths(torch.tensor((7, 5, 2))))


def test_the_memory_is_the_backbones_and_the_gates_are_the_auxiliarys():
    encoder, source = GatedEncoder(5, **ENCODERS), padded()
    memory, plain = encoder(source), encoder.encode(source)
    for name in ("keys", "values", "mask", "summary"):
        assert torch.equal(getattr(memory, name), getattr(plain, name))
    assert all(torch.equal(one.hidden, two.hidden) for one, two in zip(memory.final, plain.final, strict=True))
    weight, bias = encoder.judge.weight[0], encoder.judge.bias
    assert torch.allclose(memory.gates, encoder.auxiliary(source).values @ weight + bias, atol=1e-6)
    assert encoder.widths.gates
    assert encoder.widths.values == 6


def test_gates_begin_open():
    encoder = GatedEncoder(5, **ENCODERS)
    assert encoder.judge.bias.item() == 1.0


def test_gates_are_the_same_alone_and_in_a_batch():
    encoder, source = GatedEncoder(5, **ENCODERS), padded()
    together = encoder(source).gates
    for row, length in enumerate((7, 5, 2)):
        alone = encoder(Padded(source.data[row : row + 1, :length], source.mask[row : row + 1, :length]))
        assert torch.allclose(alone.gates[0], together[row, :length], atol=1e-6)


def test_rows_are_put_side_by_side_with_their_gates():
    encoder, source = GatedEncoder(5, **ENCODERS), padded()
    whole = encoder(source)
    short = encoder(Padded(source.data[1:, :5], source.mask[1:, :5]))
    found = encoder(Padded(source.data[:1], source.mask[:1])).concatenate(short).reorder(torch.tensor([2, 0, 1]))
    order = torch.tensor([2, 0, 1])
    real = whole.mask[order]
    assert torch.equal(found.mask, real)
    assert torch.allclose(found.gates[real], whole.gates[order][real], atol=1e-6)


def test_a_model_learns_its_gates_and_looks_through_them():
    built, source = model(LABEL, target=5), words(31, (7, 5, 2))
    built.encode.judge.bias.data.fill_(0.0)
    memory, looked = built.read(source), built.label(source).looked[0]
    shut = (memory.gates <= 0) | ~memory.mask
    assert shut[memory.mask].any() and not shut.all()
    assert torch.equal(looked.gates > 0, ~shut)
    assert torch.equal(looked.weights[:, 0] > 0, ~shut)
    with loss_terms() as extra:
        found = built.train().label(source).logits.square().sum(1)
    (found.sum() + extra(-found)).backward()
    assert all(each.grad.any() for each in built.encode.auxiliary.parameters() if each.grad.dim() > 1)
    assert built.encode.judge.weight.grad.any()


@pytest.mark.parametrize("decoder", ATTENDING)
def test_every_decoder_looks_through_the_gates(decoder):
    changes = [*overrides("encode", "gated", predict=decoder), "attend.score=additive"]
    built, pairs = model(changes), batch()
    built.encode.judge.bias.data.fill_(0.0)
    is_open = (built.read(pairs.source).gates > 0) & pairs.source.mask
    assert is_open.any() and not is_open.all()
    for looked in built.teach(pairs).looked:
        assert torch.equal(looked.gates > 0, is_open)
        assert not looked.weights.masked_select(~is_open.unsqueeze(1)).any()


def test_a_decoder_that_does_not_use_the_gates_says_so():
    built = model([*overrides("encode", "gated"), "attend.choice=soft"])
    with pytest.raises(UsageError, match="the memory comes with gates"):
        built.teach(batch())


def test_images_are_judged_cell_by_cell():
    grid = maker("encode", "grid", hidden=8, layers=2)
    encoder, source = GatedEncoder(3, encode=grid, auxiliary_encode=grid), pictures([(13, 17), (11, 7)])
    assert encoder.sees_images
    memory = encoder(source)
    assert memory.gates.shape == memory.mask.shape
    assert memory.grid == (4, 5)
    assert isinstance(encoder.encode, GridEncoder)


def test_two_grids_of_other_sizes_are_refused():
    shrinks = [maker("encode", "grid", hidden=8, layers=layers) for layers in (2, 3)]
    encoder = GatedEncoder(3, encode=shrinks[0], auxiliary_encode=shrinks[1])
    with pytest.raises(ShapeError, match="it has 6, and the backbone 20"):
        encoder(pictures([(13, 17)]))


def test_what_does_not_look_refuses_gates():
    nothing = [*LABEL[:-2], "attend=none"]
    with pytest.raises(UsageError, match='pool = "mean" does not attend, and the encoder makes gates'):
        model([*nothing, "predict.pool=mean"], target=5)
    with pytest.raises(UsageError, match="a tagger without an \\[attend\\] table does not attend"):
        model([*nothing, "predict.part=tag"], target=5)
    with pytest.raises(UsageError, match="the decoder 'plain' does not attend, and the encoder makes gates"):
        model([*overrides("predict", "plain"), *LABEL[1:-2], "attend=none"])


def test_a_plain_encoder_has_no_gates():
    encoder = RecurrentEncoder(5, hidden=6)
    assert encoder(padded()).gates is None
    assert not encoder.widths.gates
