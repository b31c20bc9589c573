"""The two graphs of a model that writes: `encoder` reads a source, `step` writes one piece more.

    encoder: source, mask -> the first state
    step:    token, step, the state -> logits, what of the state is new, the weights of each layer

The state is whatever the decoder's own state holds, tensor by tensor (see `flat`). What grows with each step is empty
in the first state, so that the encoder's outputs are the step's inputs from the beginning. What no step changes (the
prepared memory) is an input only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from regard.embed.position import Sinusoid
from regard.engine.onnx import BATCH, FRESH, PAST, SOURCE, STEP, WEIGHTS, Graph, Port
from regard.export.onnx.flat import named_tensors, with_tensors
from regard.export.onnx.operators import traceable
from regard.export.onnx.trace import write_graph
from regard.hooks import Looked, hook
from regard.model import Model
from regard.search.penalty import heads_apart
from regard.types import Padded, State, Stepped

POSITIONS = 1024  # at least so many of a sinusoid, which itself has no end
ROWS, LENGTH, WRITTEN = 2, 3, 2  # sizes of the example that is traced; any others do as well afterwards


@dataclass(frozen=True)
class Layout:
    """The tensors of a decoder's state.

    state: one after some steps.  ports: its tensors; an axis that follows a size has its name.
    fresh: those that a step makes anew.  heads: of each layer that looks at the source.
    """

    state: State
    ports: dict[str, Port]
    fresh: tuple[str, ...]
    heads: tuple[int, ...]

    @classmethod
    def of(cls, model: Model) -> Layout:
        """Look at states of several sizes to find out which axis follows which."""
        state, stepped = _walked(model, LENGTH)
        known, new = dict(named_tensors(state)), dict(named_tensors(stepped.state))
        longer = dict(named_tensors(_walked(model, LENGTH + 1)[0]))
        ports = {
            name: Port(_type(found), _axes(found.shape, longer[name].shape, new[name].shape))
            for name, found in known.items()
        }
        fresh = tuple(name for name in ports if new[name] is not known[name])
        return cls(state, ports, fresh, tuple(heads_apart(each.weights).shape[1] for each in stepped.looked))

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Those of the state."""
        return dict(named_tensors(self.state))


def _walked(model: Model, length: int) -> tuple[State, Stepped]:
    """The state after some steps, and one step more."""
    source, mask, token = _example(length)
    with torch.no_grad(), _in_the_open():
        state = model.start(Padded(source, mask))
        for _ in range(WRITTEN):
            state = model.step(token, state).state
        return state, model.step(token, state)


def _example(length: int = LENGTH) -> tuple[Tensor, Tensor, Tensor]:
    """A source, its mask, and a piece for each row."""
    source = torch.ones(ROWS, length, dtype=torch.long)
    return source, source.bool(), source[:, 0]


def _axes(shape: torch.Size, longer: torch.Size, later: torch.Size) -> tuple[int | str, ...]:
    """Rows come first. Then what a longer source changes is the source's, and what a step changes is the past's."""
    rest = zip(shape[1:], longer[1:], later[1:], strict=True)
    return (BATCH, *(SOURCE if size != long else PAST if size != late else size for size, long, late in rest))


def _type(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


class Encoder(nn.Module):
    """Everything that `model.start` makes. `example` is what it is traced with, `graph` what goes in and out."""

    def __init__(self, model: Model, layout: Layout) -> None:
        super().__init__()
        self.model, self.layout = model, layout
        self.example = _example()[:2]
        pair = (BATCH, SOURCE)
        first = {name: _past_of(0, port) for name, port in layout.ports.items()}
        self.graph = Graph("encoder.onnx", {"source": Port("int64", pair), "mask": Port("bool", pair)}, first)

    def forward(self, source: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
        """The first state's tensors, in the layout's order."""
        with _in_the_open():
            found = dict(named_tensors(self.model.start(Padded(source, mask))))
        return tuple(found[name] if name in found else self._nothing(name, source) for name in self.layout.ports)

    def _nothing(self, name: str, source: Tensor) -> Tensor:
        """What is not there before the first step: an empty past."""
        sizes = {BATCH: source.shape[0], SOURCE: source.shape[1], PAST: 0}
        shape = [sizes[axis] if isinstance(axis, str) else axis for axis in self.layout.ports[name].axes]
        return torch.zeros(shape, dtype=self.layout.tensors[name].dtype)


class Step(nn.Module):
    """One piece further. `example` is what it is traced with, `graph` what goes in and out."""

    def __init__(self, model: Model, layout: Layout) -> None:
        super().__init__()
        self.model, self.layout = model, layout
        self.example = (_example()[2], layout.state.step, *layout.tensors.values())
        asked = {"token": Port("int64", (BATCH,)), STEP: Port("int64", ()), **layout.ports}
        logits = Port(_type(next(model.parameters())), (BATCH, model.sizes[1]))
        fresh = {FRESH + name: _past_of(f"{PAST} + 1", layout.ports[name]) for name in layout.fresh}
        looked = {
            f"{WEIGHTS}{layer}": Port("float32", (BATCH, heads, 1, SOURCE)) for layer, heads in enumerate(layout.heads)
        }
        self.graph = Graph("step.onnx", asked, {"logits": logits, **fresh, **looked})

    def forward(self, token: Tensor, step: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The logits, the new tensors of the state, the weights of each layer."""
        state = with_tensors(self.layout.state, dict(zip(self.layout.ports, tensors, strict=True)))
        with _in_the_open():
            stepped = self.model.step(token, replace(state, step=step))
        new = dict(named_tensors(stepped.state))
        looked = (heads_apart(each.weights) for each in stepped.looked)
        return (stepped.logits, *(new[name] for name in self.layout.fresh), *looked)


@contextmanager
def _in_the_open() -> Iterator[None]:
    """Attention whose weights are made once, for the context and for the outputs: as when someone watches."""
    with hook(Looked, lambda event: None):
        yield


def _past_of(length: int | str, port: Port) -> Port:
    return Port(port.type, tuple(length if axis == PAST else axis for axis in port.axes))


def write_graphs(model: Model, folder: Path) -> tuple[tuple[Graph, Graph], tuple[int | None, int | None]]:
    """Trace a model and write its two graphs; what goes in and out of each, and the longest source and target."""
    layout, copy = Layout.of(model), traceable(model)
    for each in copy.modules():
        if isinstance(each, Sinusoid):
            each(0, POSITIONS // 2)  # its table doubles what it is asked for, in Python, which a graph has not
    encoder, step = Encoder(copy, layout), Step(copy, layout)
    read = write_graph(encoder, encoder.example, encoder.graph, folder)
    wrote = write_graph(step, step.example, step.graph, folder)
    source = [each[SOURCE] for each in (read, wrote) if SOURCE in each]
    target = [wrote[name] + 1 for name in (STEP, PAST) if name in wrote]  # the first step is step 0, with a past of 0
    return (encoder.graph, step.graph), (min(source, default=None), min(target, default=None))
