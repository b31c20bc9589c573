"""The five shapes of recurrent networks: which steps have an input, and which have a loss.

Nothing is declared: a model is built from a recipe and asked. An input is a word of the source, or an image; it stands
at the step at which it is read. An output is a row of scores; it stands at the step of the last input that changes it,
and a decoder's as many steps later as words that it has written already change it. (What a decoder has written it also
reads; that is no input from outside.)
"""

from dataclasses import dataclass, replace

import pytest
import torch
from torch.nn import functional

from regard.types import Batch, Grid, Padded
from small import SOURCE, TARGET, model, pictures, words

LENGTH, WRITTEN = 5, 4
PIXELS = ["embed.part=pixels", "encode.part=grid", "encode.hidden=8", "encode.layers=2", "attend=none"]
PLAIN = ["predict.part=plain", "predict.hidden=8", "predict.embed.width=8"]
READS = ["encode.part=recurrent", "encode.cell=lstm", "attend=none"]


@dataclass(frozen=True)
class Shape:
    """What makes a shape: a recipe's tables, whether it reads an image; and the masks over time that must come out."""

    recipe: tuple[str, ...]
    image: bool
    has_input: tuple[int, ...]
    has_loss: tuple[int, ...]


SHAPES = {
    "one to one": Shape((*PIXELS, "predict.part=label", "predict.pool=mean"), True, (1,), (1,)),
    "one to many": Shape((*PIXELS, *PLAIN, "predict.bridge=project"), True, (1, 0, 0, 0), (1, 1, 1, 1)),
    "many to one": Shape((*READS, "predict.part=label", "predict.pool=last"), False, (1, 1, 1, 1, 1), (0, 0, 0, 0, 1)),
    "many to many, aligned": Shape((*READS, "predict.part=tag"), False, (1, 1, 1, 1, 1), (1, 1, 1, 1, 1)),
    "many to many, unaligned": Shape((*READS, *PLAIN), False, (1, 1, 1, 1, 1, 0, 0, 0), (0, 0, 0, 0, 1, 1, 1, 1)),
    "many to many, unaligned, attending": Shape(
        (*READS[:2], "predict.part=luong"), False, (1, 1, 1, 1, 1, 0, 0, 0), (0, 0, 0, 0, 1, 1, 1, 1)
    ),
}


def build(shape):
    return model(shape.recipe, 3 if shape.image else SOURCE, TARGET)


def pair(shape, lengths=(LENGTH,), written=(WRITTEN,)):
    source = pictures([(13, 17 - row) for row in range(len(lengths))]) if shape.image else words(SOURCE, lengths)
    return Batch(source, words(TARGET, [each + 1 for each in written]))


def scores(built, batch):
    """The scores of all outputs of a model of any shape: (batch, outputs, classes)."""
    if hasattr(built.predict, "teach"):
        return built.teach(batch).logits
    found = built.predict(built.read(batch.source)).logits
    return found if found.dim() == 3 else found.unsqueeze(1)


def other(ids, place):
    """The same words but one."""
    changed = ids.clone()
    changed[:, place] = (changed[:, place] - 3) % 20 + 4
    return changed


def inputs(batch):
    """The same batch with another input, for every input that there is."""
    if isinstance(batch.source, Grid):
        yield replace(batch, source=Grid(1 - batch.source.data, batch.source.mask))
        return
    for place in range(batch.source.data.shape[1]):
        yield replace(batch, source=Padded(other(batch.source.data, place), batch.source.mask))


def fed(batch):
    """The same batch with another word written, for each that a decoder reads after it was written."""
    for place in range(1, batch.target.data.shape[1] - 1):
        yield replace(batch, target=Padded(other(batch.target.data, place), batch.target.mask))


def changes(built, batch, others):
    """Which outputs change with what: (what was changed, outputs)."""
    before = scores(built, batch)
    found = [(scores(built, each) != before).any(-1)[0] for each in others]
    return torch.stack(found) if found else torch.zeros(0, before.shape[1], dtype=torch.bool)


def masks_over_time(built, batch):
    """has_input and has_loss, as the built model has them."""
    read = changes(built, batch, inputs(batch))
    written = changes(built, batch, fed(batch)) if hasattr(built.predict, "teach") else read[:0]
    assert read.any(1).all(), "an input that changes no output"
    assert read.any(0).all(), "an output that no input changes"
    last = torch.where(read, torch.arange(len(read))[:, None], 0).amax(0)
    steps = last + written.sum(0)
    assert len(set(steps.tolist())) == len(steps), "two outputs at one step"
    time = torch.arange(int(steps.max()) + 1)
    return (time < len(read)).int().tolist(), torch.isin(time, steps).int().tolist()


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_its_pair_of_masks(name):
    shape = SHAPES[name]
    built = build(shape)
    has_input, has_loss = masks_over_time(built, pair(shape))
    assert tuple(has_input) == shape.has_input
    assert tuple(has_loss) == shape.has_loss


def test_no_two_shapes_are_the_same():
    pairs = [(each.has_input, each.has_loss) for each in SHAPES.values()]
    assert len(set(pairs)) == 5


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_learns(name):
    """A loss at every output, and a gradient for every weight."""
    shape = SHAPES[name]
    built = build(shape).train()
    batch = pair(shape, (5, 3), (4, 2))
    found = scores(built, batch)
    goal = torch.randint(TARGET, found.shape[:2])
    functional.cross_entropy(found.flatten(0, 1), goal.flatten()).backward()
    assert torch.isfinite(found).all()
    idle = [key for key, weight in built.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert not idle
    assert all(torch.isfinite(weight.grad).all() for weight in built.parameters())


@pytest.mark.parametrize("direction", ["both", "backward"])
def test_reading_backwards_every_tag_may_know_the_end(direction):
    """The aligned shape has its masks only where the encoder reads forwards: else a tag waits for the last word."""
    built = model([*READS, f"encode.direction={direction}", "predict.part=tag"])
    batch = Batch(words(SOURCE, (LENGTH,)), words(TARGET, (3,)))
    read = changes(built, batch, inputs(batch))
    assert read[-1].all()
