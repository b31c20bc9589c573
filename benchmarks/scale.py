"""How time and memory grow: with the length of sentences, the vocabulary, the corpus, and the beam.

    python benchmarks/scale.py                         all four; the figure goes to docs/pictures/scale.svg
    python benchmarks/scale.py --only length --sizes 16,64,256 --json scale.json
    python benchmarks/scale.py --quick --picture scale.png

With --json a file that is there is added to, and the figure shows all axes that it has: they can be run one by one.

An update is one step of training without the optimiser, forward and back. Calls are measured in turn, one thread,
medians; memory is what PyTorch's allocator held at most above the start (see measure.py), or, for a corpus, the most
that a process held which did nothing else. The last column is the power that the last step of the row grows by: 1 is
in proportion, 2 is with the square, 0 is not at all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import corpora
import setting
import torch
from measure import Cost, costs
from turns import Side, arguments, in_turn, numbers, read, report, row

from regard.data.tokenizer import END, START
from regard.evaluate.figure import UNDATED, line_style
from regard.learn.loss import sequence_loss
from regard.model import Model
from regard.search import Options, beam_search
from regard.types import Batch, Padded

SIZES = {
    "length": [16, 64, 256, 1024, 4096],
    "vocabulary": [1_000, 4_000, 16_000, 64_000],
    "corpus": [10_000, 100_000, 1_000_000, 5_000_000],
    "beam": [1, 2, 4, 8, 16, 32],
}
QUICK = {"length": [16, 64], "vocabulary": [1_000, 4_000], "corpus": [10_000, 100_000], "beam": [1, 4]}
PIECES, STEPS, ROWS = 1_000, 15, 8
LABELS = {
    "length": "pieces of source and target",
    "vocabulary": "pieces in the vocabulary",
    "corpus": "pairs of sentences",
    "beam": "width of the beam",
}
STAGES = ("store it", "learn pieces", "first 100 batches")


@dataclass
class Curve:
    """One line: seconds by the clock and of the processor, and bytes, for each size."""

    clock: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: list[float] = field(default_factory=list)

    def add(self, clock: float, cpu: float, peak: float) -> None:
        """One size further."""
        self.clock.append(clock)
        self.cpu.append(cpu)
        self.peak.append(peak)


Curves = dict[str, Curve]
Found = dict[str, tuple[list[int], Curves]]


def words(rows: int, length: int, size: int) -> Padded:
    """Sentences of random pieces, all of one length, each with its end."""
    data = torch.randint(4, size, (rows, length))
    data[:, -1] = END
    return Padded(data, torch.ones(rows, length, dtype=torch.bool))


def pairs(rows: int, length: int, size: int) -> Batch:
    """Pairs of such sentences."""
    target = words(rows, length + 1, size)
    target.data[:, 0] = START
    return Batch(words(rows, length, size), target)


def update(model: Model, batch: Batch) -> None:
    """The loss of a batch and the gradient of every weight."""
    model.train()
    sequence_loss(model, batch, smoothing=0.1).total.backward()
    model.zero_grad()  # after, not before: gradients of another round are no memory of this one


def translate(model: Model, source: Padded, beam: int, steps: int = STEPS) -> Any:
    """Outputs of just so many steps."""
    options = Options(beam=beam, min_length=steps - 1, max_length=steps - 1, stretch=math.inf)
    return beam_search(model, source, options, start=START, end=END)


def calls(axis: str, shape: str, size: int) -> dict[str, Callable[[], Any]]:
    """What is measured at one size of an axis."""
    torch.manual_seed(0)
    if axis == "length":
        model = setting.build(shape, PIECES)
        return {
            "update": partial(update, model, pairs(1, size, PIECES)),
            f"translate, {STEPS} steps": partial(translate, model, words(1, size, PIECES), 1),
        }
    if axis == "vocabulary":
        model = setting.build(shape, size)
        return {
            "update": partial(update, model, pairs(ROWS, 16, size)),
            f"translate, {STEPS} steps": partial(translate, model, words(ROWS, 16, size), 1),
        }
    model = setting.build(shape, PIECES)
    return {f"translate, {STEPS} steps": partial(translate, model, words(ROWS, 16, PIECES), size)}


def grown(axis: str, sizes: Sequence[int], shapes: Sequence[str], rounds: int) -> Curves:
    """The curves of one axis; all shapes and works of a size are measured in turn."""
    found: Curves = {}
    for size in sizes:
        every = {f"{shape}, {name}": call for shape in shapes for name, call in calls(axis, shape, size).items()}
        measured: dict[str, Cost] = costs(every, rounds)
        for name, cost in measured.items():
            found.setdefault(name, Curve()).add(cost.clock, cost.cpu, cost.peak)
    return found


def corpus(sizes: Sequence[int]) -> Curves:
    """The curves of a corpus taken in, a process for each size; each can be taken in only once."""
    found = {name: Curve() for name in STAGES}
    for size in sizes:
        with TemporaryDirectory(dir=_roomy()) as folder:
            home = Path(folder)
            corpora.write_text(home, size)
            job = {"folder": folder, "cache": str(home / "cache"), "pairs": size, "pieces": 8_000, "batches": 100}
            (measured,) = in_turn([Side(f"{size:,} pairs", "corpora", {**job, "threads": 1})], 1, warm=0)
        for name, (clock, cpu, peak) in zip(STAGES, measured.rounds[0]["stages"], strict=True):
            found[name].add(clock, cpu, peak - measured.about["idle"])
    return found


def _roomy() -> Path:
    """A place for large files: beside what is kept, not in a memory disk."""
    setting.home().mkdir(parents=True, exist_ok=True)
    return setting.home()


def power(sizes: Sequence[int], values: Sequence[float]) -> float:
    """The power of the size that the last step grew by."""
    if min(values[-2:]) <= 0:
        return 0.0
    return math.log(values[-1] / values[-2]) / math.log(sizes[-1] / sizes[-2])


def tables(axis: str, sizes: Sequence[int], found: Curves) -> None:
    """Two Markdown tables: milliseconds of the processor, and MB."""
    for title, unit, name in (("milliseconds of the processor", 1e3, "cpu"), ("peak MB", 1e-6, "peak")):
        print(f"**{LABELS[axis]}: {title}**\n")
        row(["", *(f"{size:,}" for size in sizes), "power"])
        row(["---"] * (len(sizes) + 2))
        for label, curve in found.items():
            values = getattr(curve, name)
            row([label, *(f"{value * unit:,.1f}" for value in values), f"{power(sizes, values):.2f}"])
        print(flush=True)


def draw(found: Found, path: Path) -> None:
    """Time above, memory below, a column an axis; both scales logarithmic, so that a power is a slope."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(found), 6.4), layout="constrained")
    grid = figure.subplots(2, len(found), squeeze=False)
    labels = list(dict.fromkeys(label for _, curves in found.values() for label in curves))
    for column, (axis, (sizes, curves)) in enumerate(found.items()):
        for axes, name, unit in zip(grid[:, column], ("cpu", "peak"), (1.0, 1e-6), strict=True):
            for label, curve in curves.items():
                values = [max(value * unit, 1e-4) for value in getattr(curve, name)]
                axes.plot(sizes, values, **line_style(labels.index(label)), label=label, markersize=4)
            axes.set(xscale="log", yscale="log")
            axes.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize="small")
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        grid[0, column].set_title(axis)
        grid[1, column].set_xlabel(LABELS[axis])
        grid[1, column].legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), frameon=False, fontsize="small")
    grid[0, 0].set_ylabel("seconds of the processor")
    grid[1, 0].set_ylabel("peak MB")
    path.parent.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": "regard"}):
        figure.savefig(path, dpi=120, metadata=UNDATED[path.suffix.lower()])


def kept(path: Path | None) -> Found:
    """The axes that a file of an earlier run has."""
    told = json.loads(path.read_text(encoding="utf-8")) if path and path.is_file() else {}
    return {
        axis: (told[axis]["sizes"], {name: Curve(**curve) for name, curve in told[axis]["curves"].items()})
        for axis in SIZES
        if axis in told
    }


def main() -> None:
    """Measure what was asked for."""
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=SIZES, help="one axis instead of all")
    parser.add_argument("--sizes", type=numbers, help="with --only: other sizes than those of the axis")
    parser.add_argument("--picture", type=Path, default=Path("docs/pictures/scale.svg"), help="file for the figure")
    asked = read(parser)
    if asked.sizes and not asked.only:
        parser.error("--sizes are those of one axis: add --only.")
    torch.set_num_threads(1)
    found = kept(asked.json)
    for axis in [asked.only] if asked.only else SIZES:
        sizes = list(asked.sizes or (QUICK if asked.quick else SIZES)[axis])
        curves = corpus(sizes) if axis == "corpus" else grown(axis, sizes, asked.shapes, asked.rounds)
        tables(axis, sizes, curves)
        found[axis] = (sizes, curves)
    draw({axis: found[axis] for axis in SIZES if axis in found}, asked.picture)
    told = {
        axis: {"sizes": sizes, "curves": {name: vars(curve) for name, curve in curves.items()}}
        for axis, (sizes, curves) in found.items()
    }
    report(told, asked.json)


if __name__ == "__main__":
    main()
