"""ONNX Runtime behind the same door: two graphs in the places of a model's parts, under our own search.

The encoder's graph reads, the step's graph writes one piece more; beams, penalties, prefixes and records are then
those of every model. What is carried from step to step is a row of tensors that nobody here needs to understand.

Letters: B batch, S source, T target, V vocabulary, H heads.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.data.tokenizer import END, START
from regard.engine import MANIFEST, read_manifest
from regard.engine.pytorch import Searched
from regard.errors import ModelError, ShapeError, UsageError
from regard.model import Model
from regard.task import Spec
from regard.types import Attended, Grid, Memory, Padded, State, Stepped, Taught

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime

NAME = "onnx"
FORMAT = 1  # of the folder: the names of graphs, inputs and outputs, and what they mean
BATCH, SOURCE, PAST = "batch", "source", "past"  # sizes that are known when a graph runs
STEP = "step"  # how many pieces are written
FRESH = "next."  # before the name of an output that is an input of the next step
WEIGHTS = "weights."  # before the number of a layer


@dataclass(frozen=True)
class Port:
    """A tensor that goes into a graph or comes out of it; an axis is a size, or the name of one."""

    type: str
    axes: tuple[int | str, ...]


@dataclass(frozen=True)
class Graph:
    """A file of the folder, and what goes in and out."""

    file: str
    inputs: dict[str, Port]
    outputs: dict[str, Port]

    @classmethod
    def told(cls, known: dict[str, Any]) -> Graph:
        """As JSON has it."""
        ports = (
            {name: Port(port["type"], tuple(port["axes"])) for name, port in known[side].items()}
            for side in ("inputs", "outputs")
        )
        return cls(str(known["file"]), *ports)


@dataclass(frozen=True)
class Manifest:
    """What an exported folder says of itself, enough to run it from any language.

    sizes: of the vocabularies.  positions: the longest source and target, None where there is no end.
    """

    quantization: str
    sizes: tuple[int, int]
    positions: tuple[int | None, int | None]
    encoder: Graph
    step: Graph
    regard: str = ""  # the version that exported it
    tokenizers: dict[str, str] = field(default_factory=dict)  # the checksum of each file
    agreement: dict[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """As `export.json` holds it."""
        ids = {"start": START, "end": END}
        text = json.dumps({"engine": NAME, "format": FORMAT, "ids": ids, **asdict(self)}, indent=2) + "\n"
        return re.sub(r"\[[^][{}]*\]", lambda found: " ".join(found[0].split()), text)  # a list on a line

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """The manifest of a folder; keys that are not ours are left alone."""
        told = read_manifest(folder)
        if told.get("format") != FORMAT:
            raise ModelError(
                f"{folder / MANIFEST}: expected format {FORMAT}; found {told.get('format')}.",
                hint="Export the model again, or install the version of Regard that exported it.",
            )
        try:
            encoder, step = Graph.told(told["encoder"]), Graph.told(told["step"])
            sizes, positions = ((told[name][0], told[name][1]) for name in ("sizes", "positions"))
            rest = told["regard"], told.get("tokenizers", {}), told["agreement"]
            return cls(told["quantization"], sizes, positions, encoder, step, *rest)
        except (AttributeError, KeyError, TypeError, IndexError) as error:
            raise ModelError(f"{folder / MANIFEST}: {error!r}.", hint="Export the model again.") from error


@dataclass(frozen=True)
class Carried(State):
    """What the graphs hand on, in the order of the step's inputs."""

    tensors: tuple[Tensor, ...]


@dataclass(frozen=True)
class Begun(Memory):
    """A source that is read: all there is to attend to is already in the first state."""

    first: tuple[Tensor, ...] = ()


class Reader(nn.Module):
    """The encoder's graph in the place of an encoder."""

    def __init__(self, session: onnxruntime.InferenceSession, longest: int | None) -> None:
        super().__init__()
        self.session, self.longest = session, longest

    def forward(self, source: Padded | Grid) -> Begun:
        """Read a batch."""
        if not isinstance(source, Padded):
            raise UsageError("the engine onnx reads text; these sources are images.")
        _check_room("source", source.data.shape[1], self.longest)
        found = _run(self.session, {"source": source.data, "mask": source.mask})
        nothing = found[0].new_empty(*source.mask.shape, 0, dtype=torch.float)
        return Begun(nothing, nothing, source.mask, nothing[:, 0], first=found)


class Writer(nn.Module):
    """The step's graph in the place of a decoder."""

    def __init__(self, session: onnxruntime.InferenceSession, graph: Graph, longest: int | None) -> None:
        super().__init__()
        self.session, self.longest = session, longest
        self.names = [name for name in graph.inputs if name not in ("token", STEP)]
        self.made = list(graph.outputs)
        self.attends = any(name.startswith(WEIGHTS) for name in graph.outputs)

    def start(self, memory: Memory) -> Carried:
        """The state that came with the memory."""
        if not isinstance(memory, Begun):
            raise TypeError(f"an exported decoder starts from its own encoder, not from {type(memory).__name__}")
        return Carried(0, memory.first)

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One piece further."""
        if not isinstance(state, Carried):
            raise TypeError(f"an exported decoder steps from its own state, not from {type(state).__name__}")
        _check_room("target", int(state.step) + 1, self.longest)
        carried = dict(zip(self.names, state.tensors, strict=True))
        found = dict(
            zip(
                self.made,
                _run(self.session, {"token": token, STEP: torch.tensor(state.step), **carried}),
                strict=True,
            )
        )
        after = tuple(found.get(FRESH + name, before) for name, before in carried.items())
        looked = tuple(_attended(weights) for name, weights in found.items() if name.startswith(WEIGHTS))
        return Stepped(found["logits"], Carried(state.step + 1, after), looked)

    def teach(self, target: Padded, memory: Memory) -> Taught:
        """All steps, each given the right previous piece."""
        state: State = self.start(memory)
        done = []
        for place in range(target.data.shape[1]):
            done.append(self.step(target.data[:, place], state))
            state = done[-1].state
        layers = zip(*(one.looked for one in done), strict=True)
        looked = tuple(_attended(torch.cat([each.weights for each in layer], 2)) for layer in layers)
        return Taught(torch.stack([one.logits for one in done], 1), looked)


class Onnx(Searched):
    """An exported model."""


def open_folder(folder: Path, threads: int | None = None) -> Onnx:
    """The engine of an exported folder."""
    manifest = Manifest.read(folder)
    sessions = [session(folder / graph.file, threads) for graph in (manifest.encoder, manifest.step)]
    longest_source, longest_target = manifest.positions
    model = Model.__new__(Model)  # the flow of every model, with graphs for parts
    nn.Module.__init__(model)
    model.specs = (Spec(manifest.sizes[0]), Spec(manifest.sizes[1]))
    model.embed, model.encode = nn.Identity(), Reader(sessions[0], longest_source)
    model.predict = Writer(sessions[1], manifest.step, longest_target)
    return Onnx(model.eval())


def session(path: Path, threads: int | None = None) -> onnxruntime.InferenceSession:
    """A graph, ready to run on `threads` (else on as many as PyTorch has)."""
    runtime = library()
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads or torch.get_num_threads(), 3
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class in common but this
        raise ModelError(f"{path}: ONNX Runtime cannot read it: {error}", hint="Export the model again.") from error


def library() -> Any:
    """The package, or how to get it."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelError(
            "the engine onnx needs the package onnxruntime.", hint="pip install 'regard[export]'"
        ) from error
    return onnxruntime


def _run(session: onnxruntime.InferenceSession, given: dict[str, Tensor]) -> tuple[Tensor, ...]:
    """All outputs of a graph, in its order."""
    arrays: dict[str, np.ndarray[Any, Any]] = {name: tensor.numpy() for name, tensor in given.items()}
    return tuple(torch.from_numpy(each) for each in session.run(None, arrays))


def _attended(weights: Tensor) -> Attended:
    """Weights whose context stayed in the graph."""
    return Attended(weights.new_empty(*weights.shape[:-1], 0), lambda: weights)


def _check_room(side: str, length: int, longest: int | None) -> None:
    """Refuse what is longer than the positions that were exported."""
    if longest is not None and length > longest:
        raise ShapeError(
            f"this exported model knows {longest:,} positions of a {side}; one has {length:,} or more.",
            hint="Cut the sentence." if side == "source" else f"Write max_length = {longest - 1} or less.",
        )
