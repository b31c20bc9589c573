"""The figures of the lectures (docs/lectures.md), each made by a function of its own.

    python benchmarks/figures.py [--only NAME] [--models DIR] [--quick] [--pictures DIR] [--numbers DIR]

`cost` and `gradients` measure; the others draw what trained models did, and are left out with a line that says what is
missing where there is none. DIR is where `make proofs` leaves its models, or one report or
one model folder. Numbers are written as JSON into runs/lectures. --quick is small and writes to runs/lectures/quick.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cost as layers
import gradients as reach
import torch

from regard.align.alignment import Alignment
from regard.errors import MissingData
from regard.evaluate import Bucket, Score, draw_lengths
from regard.evaluate.figure import line_style
from regard.show.canvas import new_figure, write_figure
from regard.show.heads import draw_heads
from regard.show.matrix import matrix_size, plot_matrix, rule
from regard.translate.translator import Translator

# The example of Bahdanau et al. (2015), as people write it and as the phrasebook does.
AGREEMENT = (
    "The agreement on the European Economic Area was signed in August 1992.",
    "the agreement on the European Economic Area was signed in August 1992 .",
)
# Each with a noun before its adjective in French, and together l', le and la for one English word.
ORDER = (
    "the man saw the black cat .",
    "the woman opened the green door .",
    "the girl saw the honest architect .",
)
REPORTS = ("", "phrasebook", "multi30k", "europarl")  # "" is the folder that was given, itself
PHRASEBOOK = ("phrasebook/arms/rnnsearch-small/run", "rnnsearch")
TRANSFORMER = ("positions/arms/positions/run", "transformer")
POSITIONS = "positions/report.json"
Found = dict[str, Any]


@dataclass(frozen=True)
class Places:
    """Where models are found, and where pictures and numbers go."""

    models: Path
    pictures: Path
    numbers: Path
    quick: bool = False

    def picture(self, name: str) -> Path:
        """The file of a picture."""
        return self.pictures / f"lecture-{name}.png"

    def keep(self, name: str, found: Found) -> None:
        """Write what was measured."""
        self.numbers.mkdir(parents=True, exist_ok=True)
        (self.numbers / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")

    def model(self, *names: str) -> Translator:
        """The first model there is: the folder that was given, itself, or one of these in it."""
        for name in ("", *names):
            folder = self.models / name
            if any((place / "weights.safetensors").is_file() for place in (folder, folder / "best")):
                return Translator.load(folder)
        raise MissingData(
            f"no English-French model in {self.models}: expected {' or '.join(names)}, or a model folder itself.",
            hint="Train one: make proof-phrasebook. Or name one: --models runs/en-fr.",
        )


# --- measured ----------------------------------------------------------------------------------------------


def cost(places: Places) -> list[Path]:
    """Time, memory and longest path of four kinds of layer over the length of the sequence."""
    found = layers.measure(**layers.QUICK if places.quick else {})
    layers.tell(found)
    places.keep("cost", found)
    return [draw_cost(found, places.picture("cost"))]


def draw_cost(found: Found, path: Path) -> Path:
    """Three panels, all on log scales."""
    figure = new_figure(12.6, 4.6)
    panels = figure.subplots(1, 3)
    for number, (name, kind) in enumerate(found["kinds"].items()):
        fused = name == layers.FUSED
        times = [one["cpu"] * 1e3 for one in kind["costs"]]
        bytes_ = [one["peak"] / 1e6 for one in kind["costs"]]
        series = (times, bytes_) if fused else (times, bytes_, kind["path"])  # which kernel computes changes no wiring
        for panel, numbers in zip(panels, series, strict=False):
            style = line_style(number) | {"linestyle": "--" if fused else "-"}
            panel.plot(found["lengths"], numbers, label=name, **style)
    _dress(panels[0], "Time of a layer", "length of the sequence", "milliseconds of the processor")
    _dress(panels[1], "Memory of a layer", "length of the sequence", "megabytes at most")
    _dress(panels[2], "Longest path", "length of the sequence", "operations from first to last")
    for panel in panels:
        panel.set_xscale("log", base=2)
        panel.set_xticks(found["lengths"][::2], [str(length) for length in found["lengths"][::2]])
    named = panels[0].get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=len(named[0]), frameon=False, fontsize=12)
    return write_figure(figure, path)


def gradients(places: Places) -> list[Path]:
    """How much of the gradient is left, step by step back, in recurrent layers and through attention."""
    found = reach.measure(**reach.QUICK if places.quick else {})
    reach.tell(found)
    places.keep("gradients", found)
    return [draw_gradients(found, places.picture("gradients"))]


def draw_gradients(found: Found, path: Path) -> Path:
    """One curve a kind over the distance, on a log scale."""
    figure = new_figure(7.6, 4.6)
    axes = figure.subplots()
    for number, (name, kind) in enumerate(found["kinds"].items()):
        every = max(1, len(kind["sizes"]) // 10)
        axes.plot(kind["sizes"], label=reach.NAMES[name], markevery=every, **line_style(number))
    _dress(axes, "How far back learning reaches", "steps back, T - t", "size of the gradient for $x_t$")
    axes.legend(frameon=False, fontsize=12)
    return write_figure(figure, path)


def _dress(axes: Any, title: str, along: str, up: str, scale: str = "log") -> None:
    """Names in letters that can be read at half their size, a scale upwards, and nothing more."""
    axes.set_yscale(scale)
    axes.set_title(title, fontsize=14)
    axes.set_xlabel(along, fontsize=12)
    axes.set_ylabel(up, fontsize=12)
    axes.tick_params(labelsize=11)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)


# --- from trained models -----------------------------------------------------------------------------------


def lengths(places: Places) -> list[Path]:
    """BLEU by length with and without attention, one picture for each report of `regard compare`."""
    files = [places.models / name / "report.json" for name in REPORTS]
    reports = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    if not reports:
        raise MissingData(
            f"no report.json of a comparison in {places.models}, nor in {', '.join(REPORTS[1:])} there.",
            hint="Make one: make proof-phrasebook, or regard compare rnnsearch seq2seq --data D --out REPORT.",
        )
    return [_draw_report(report, places) for report in reports]


def _draw_report(report: Found, places: Places) -> Path:
    name = Path(report["plan"]["data"]).name
    series = {arm["arm"]["label"]: [_bucket(each) for each in arm["lengths"]] for arm in report["arms"]}
    return draw_lengths(series, places.picture(f"lengths-{name}"), title=f"BLEU by source length: {name}")


def _bucket(found: Found) -> Bucket:
    return Bucket(found["low"], found["high"], found["count"], Score(**found["score"]))


def alignment(places: Places) -> list[Path]:
    """The sentence of Bahdanau's figure, in the model's own translation."""
    model = places.model("en-fr", *PHRASEBOOK)
    # A model reads best what is written as its lessons were; it is the surer of what it reads better.
    best = max(model.translate(list(AGREEMENT)), key=lambda translation: translation.score)
    shown = seen(best.alignment, model)
    print(best.text)
    return [draw_matrices([shown], places.picture("alignment"))]


def order(places: Places) -> list[Path]:
    """Nouns before their adjectives, and l', le, la for one English word: three sentences side by side."""
    model = places.model(*PHRASEBOOK, "en-fr")
    found = model.translate(list(ORDER))
    shown = [seen(each.alignment, model) for each in found]
    print("\n".join(each.text for each in found))
    return [draw_matrices(shown, places.picture("order"))]


def heads(places: Places) -> list[Path]:
    """Every head of a Transformer: where its encoder looks in the source, and where its decoder does."""
    model = places.model(*TRANSFORMER)
    record = model.look(ORDER[1])
    return [draw_heads(record, places.picture(f"heads-{kind}"), kind) for kind in ("encoder-self", "cross")]


def positions(places: Places) -> list[Path]:
    """A Transformer that is told where each word stands, and one that is not, while they learn."""
    file = places.models / POSITIONS
    if not file.is_file():
        raise MissingData(f"no {POSITIONS} in {places.models}.", hint="Make it: make proof-positions.")
    figure = new_figure(7.6, 4.6)
    axes = figure.subplots()
    for number, arm in enumerate(json.loads(file.read_text(encoding="utf-8"))["arms"]):
        minutes, scores = zip(*((seconds / 60, values["bleu"]) for seconds, values in arm["curve"]), strict=True)
        axes.plot(minutes, scores, label=arm["arm"]["label"], **line_style(number))
    _dress(axes, "With positions, and without", "minutes of training", "BLEU of the validation pairs", scale="linear")
    axes.legend(frameon=False, fontsize=12)
    return [write_figure(figure, places.picture("positions"))]


def seen(alignment: Alignment | None, model: Translator) -> Alignment:
    """The alignment, which a model without attention does not have."""
    if alignment is None:
        raise MissingData(
            f"the model '{model.name}' does not attend, so there is nothing to draw.",
            hint="Name one that does: --models runs/en-fr.",
        )
    return alignment


def draw_matrices(alignments: Sequence[Alignment], path: Path) -> Path:
    """Matrices side by side as Bahdanau et al. drew theirs: source on top, target at the left, white for one."""
    sizes = [matrix_size(each) for each in alignments]
    figure = new_figure(sum(width for width, _ in sizes) + 1.0, max(height for _, height in sizes))
    axes = figure.subplots(1, len(alignments), squeeze=False, width_ratios=[width for width, _ in sizes])[0]
    for ax, each in zip(axes, alignments, strict=True):
        plot_matrix(each, ax, white=True)
        ax.set_anchor("N")
        ax.tick_params(labelsize=12)
        for label in (ax.xaxis.label, ax.yaxis.label):
            label.set_size(11)
    bar = figure.colorbar(axes[-1].images[-1], ax=list(axes), shrink=0.6)
    bar.set_label(f"weight\n({rule(alignments[-1])})", fontsize=11)
    return write_figure(figure, path)


# --- the command -------------------------------------------------------------------------------------------

FIGURES: dict[str, Callable[[Places], list[Path]]] = {
    "cost": cost,
    "gradients": gradients,
    "lengths": lengths,
    "alignment": alignment,
    "order": order,
    "heads": heads,
    "positions": positions,
}


def main(words: Sequence[str] | None = None) -> None:
    """Make what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=FIGURES, help="one figure instead of all")
    parser.add_argument("--models", type=Path, default=Path("runs/proofs"), help="trained models and reports")
    parser.add_argument("--quick", action="store_true", help="small: to see that it runs, not what it shows")
    parser.add_argument("--pictures", type=Path, help="folder for the pictures; docs/pictures, unless --quick")
    parser.add_argument("--numbers", type=Path, help="folder for what was measured; runs/lectures")
    asked = parser.parse_args(words)
    numbers = asked.numbers or Path("runs/lectures/quick" if asked.quick else "runs/lectures")
    pictures = asked.pictures or (numbers if asked.quick else Path("docs/pictures"))
    places = Places(asked.models, pictures, numbers, asked.quick)
    torch.set_num_threads(1)
    for name in [asked.only] if asked.only else FIGURES:
        try:
            made = FIGURES[name](places)
        except MissingData as missing:
            print(f"{name}: left out: {missing}", flush=True)
        else:
            print(f"{name}: {', '.join(map(str, made))}\n", flush=True)


if __name__ == "__main__":
    main()
