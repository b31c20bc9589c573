"""From a module to an ONNX file that holds for every size: PyTorch's exporter, kept quiet, with its errors in words."""

from __future__ import annotations

import logging
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnx
import torch
from jaxtyping import config
from torch import nn
from torch.export import Dim, ExportedProgram

from regard.engine.onnx import STEP, Graph
from regard.errors import ModelError, RegardError

HINT = "Use the model as it is, in its own folder: regard translate MODEL runs every part there is."


def write_graph(module: nn.Module, given: tuple[Any, ...], graph: Graph, folder: Path) -> dict[str, int]:
    """Trace a module and write its graph; the most that its Python code allows of a size, where there is a most."""
    try:
        with quietly(), _unchecked(), torch.no_grad():
            program = torch.export.export(module, given, dynamic_shapes=_open_sizes(graph), strict=False)
            made = torch.onnx.export(
                program, input_names=list(graph.inputs), output_names=list(graph.outputs), verbose=False
            )
    except RegardError:
        raise
    except Exception as error:
        raise ModelError(
            f"{graph.file}: {_place(error, module)} cannot be written as an ONNX graph for every size: "
            f"{type(error).__name__}: {_first_line(error)}",
            hint=HINT,
        ) from error
    if made is None:
        raise ModelError(f"{graph.file}: PyTorch wrote no graph.", hint=HINT)
    _name_sizes(made.model.graph, graph)
    proto = made.model_proto
    del proto.graph.value_info[:]  # shapes inside the graph, in the tracer's names; a runtime finds them by itself
    onnx.save(proto, folder / graph.file)
    return _bounds(program, graph)


def _open_sizes(graph: Graph) -> tuple[Any, ...]:
    """Which sizes may be anything; those of the state come as one, as the step's signature has them."""
    found: list[Any] = [
        Dim.DYNAMIC if name == STEP else {n: Dim.DYNAMIC for n, axis in enumerate(port.axes) if isinstance(axis, str)}
        for name, port in graph.inputs.items()
    ]
    return (*found[:2], tuple(found[2:])) if STEP in graph.inputs else tuple(found)


def _name_sizes(made: Any, graph: Graph) -> None:
    """Our names for the open sizes of what goes in and out, in place of the tracer's."""
    for values, ports in ((made.inputs, graph.inputs), (made.outputs, graph.outputs)):
        for value, port in zip(values, ports.values(), strict=True):
            for number, axis in enumerate(port.axes):
                value.shape[number] = axis


def _bounds(program: ExportedProgram, graph: Graph) -> dict[str, int]:
    """What checks like "a sentence has at most so many positions" have come to: they run while tracing, not later."""
    values = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    found: dict[str, int] = {}
    for given, (name, port) in zip(program.graph_signature.user_inputs, graph.inputs.items(), strict=True):
        value = values[given]
        sizes = ((name, value),) if name == STEP else zip(map(str, port.axes), value.shape, strict=True)
        for axis, size in sizes:
            bound = program.range_constraints.get(size.node.expr) if isinstance(size, torch.SymInt) else None
            if bound is not None and bound.upper.is_Integer:
                found[axis] = min(int(bound.upper), found.get(axis, int(bound.upper)))
    return found


def _place(error: Exception, module: nn.Module) -> str:
    """The innermost part in which the tracer stopped, as recipes spell its way."""
    names = {id(each): name for name, each in module.named_modules()}
    frames = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(error.__traceback__))
    ways = [(names[id(each)].removeprefix("model").lstrip("."), each) for each in frames if id(each) in names]
    found = next(((way, each) for way, each in reversed(ways) if way), None)
    return "the model" if found is None else f"{found[0]} ({type(found[1]).__name__})"


def _first_line(error: Exception) -> str:
    return next((line for line in str(error).splitlines() if line.strip()), "no reason was given")


@contextmanager
def _unchecked() -> Iterator[None]:
    """Without the checks of shapes that a test run adds: a size that is asked whether it is two is two from then on."""
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the notes that exporters make on themselves: what they cannot do they raise."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
