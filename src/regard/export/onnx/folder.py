"""`regard export --to onnx`: trace, check, quantise if asked, check again, and only then put it in its place.

Every decoder that writes text can go: recurrent or Transformer, with any score, scope and choice. The folder keeps
our tokenizers, so that text is handled as before, and says in `export.json` what goes in and out of each graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

import torch

from regard.engine.onnx import Manifest, library
from regard.engine.place import fresh_folder
from regard.engine.tokenizers import checksums
from regard.errors import ModelError, UnknownName, UsageError
from regard.export.agreement import Agreement
from regard.export.request import (
    FULL,
    KEPT,
    Exported,
    Say,
    Wish,
    checked,
    checked_twice,
    keep,
    lines_to_check,
    open_model,
)
from regard.version import __version__

Quantization = Literal["float32", "int8"]


def export(model: str | Path, out: str | Path, wish: Wish | None = None, say: Say = lambda line: None) -> Exported:
    """Write the model of a folder as a folder for ONNX Runtime; it is there only if it passed its check."""
    _check_packages()
    from regard.export.onnx.graphs import write_graphs  # imports what was just looked for

    wish, out = wish or Wish(FULL), Path(out)
    _check_wish(wish)
    home, ours = open_model(model)
    lines, real = lines_to_check(ours, wish)
    with fresh_folder(out, source=home, force=wish.force) as fresh:
        keep(home, fresh, (*KEPT, "recipe.toml"))
        graphs, positions = write_graphs(ours.model, fresh)
        manifest = Manifest(FULL, ours.model.sizes, positions, *graphs, regard=__version__, tokenizers=checksums(home))

        def written(kind: str) -> Agreement:
            if kind != FULL:
                _quantize([fresh / each.file for each in graphs])
            return checked(ours, fresh, replace(manifest, quantization=kind), lines)

        agreed = checked_twice(written, wish, real, say)
    size = sum((out / each.file).stat().st_size for each in graphs)
    return Exported(out, size, (home / "weights.safetensors").stat().st_size, *agreed)


def _check_wish(wish: Wish) -> None:
    if wish.quantization not in get_args(Quantization):
        raise UnknownName("quantization for ONNX", wish.quantization, get_args(Quantization))
    if wish.shortlist:
        raise UsageError(
            "ONNX graphs score every piece, and have no shortlist.", hint="Leave it out, or export --to torch."
        )


def _check_packages() -> None:
    """What is needed to write graphs, beside what is needed to run them."""
    library()
    for name in ("onnx", "onnxscript"):
        if find_spec(name) is None:
            raise ModelError(f"--to onnx needs the package {name}.", hint="pip install 'regard[export]'")
    if not hasattr(torch.onnx, "ops"):
        raise ModelError(f"--to onnx needs PyTorch 2.8 or newer; found {torch.__version__}.")


def _quantize(paths: Sequence[Path]) -> None:
    """Matrices in eight bits, each column with a scale of its own; what they are multiplied with is scaled as it comes.

    Unsigned, because the products of unsigned by signed numbers overflow on processors without VNNI.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from regard.export.onnx.trace import quietly

    for path in paths:
        graph = onnx.load(path).graph
        vectors = {each.name for each in graph.initializer if len(each.dims) < 2}  # they have no columns
        spared = [node.name for node in graph.node if node.op_type == "MatMul" and vectors.intersection(node.input)]
        draft = path.with_suffix(".draft")
        with quietly():
            quantize_dynamic(path, draft, weight_type=QuantType.QUInt8, per_channel=True, nodes_to_exclude=spared)
        draft.replace(path)
