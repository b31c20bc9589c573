"""Sheets of photographs on which a person judges whether a word looks at what it names.

    python benchmarks/pointing_page.py FOLDER RUN --out sheets [--images 50] [--split test] [--beam 3]

FOLDER is what `flickr8k.py` wrote. Of each image, in the order of the split, the model's caption is taken, and of that
the first noun of a small list that a reference names too: what is judged is where the word looks, not whether it is
right. A sheet of ten shows the image, bright where the noun looked; a white frame around the cell with the largest
weight; and a dashed yellow one around the largest cell of the mean map of all nouns drawn, which knows nothing of the
image: what is hit by chance. For each frame the judge says: on the object, beside it, or cannot tell. `nouns.json`
tells images, nouns and frames; write the verdicts into it (`"word": "on"`, `"mean": "beside"`) and count them:

    python benchmarks/pointing_page.py --count sheets/nouns.json
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flickr8k_table import load_captioner, open_split
from jaxtyping import Float

from regard.data.pictures import read_picture
from regard.data.places import Box
from regard.errors import RegardError
from regard.evaluate.pointing import peak_box
from regard.search import Options
from regard.show.canvas import new_figure
from regard.show.pictured import smooth_weights
from regard.tasks.captioner import Caption

ANIMALS = ("dog", "dogs", "puppy", "horse", "cat", "bird")
PEOPLE = (
    "man",
    "men",
    "woman",
    "women",
    "boy",
    "boys",
    "girl",
    "girls",
    "child",
    "children",
    "baby",
    "people",
    "person",
)
RIDERS = ("biker", "cyclist", "rider", "skateboarder", "surfer", "skier", "snowboarder", "climber", "player", "players")
THINGS = (
    "bike",
    "bicycle",
    "motorcycle",
    "car",
    "truck",
    "boat",
    "ball",
    "frisbee",
    "skateboard",
    "surfboard",
    "swing",
)
NOUNS = frozenset((*ANIMALS, *PEOPLE, *RIDERS, *THINGS, "slide", "bench", "guitar", "kite", "stick"))
ACROSS, DOWN = 5, 2  # images of a sheet
SIDE, LARGE = 2.6, (512, 512)  # inches of an image, and pixels that are enough for it
VERDICTS = ("on", "beside", "cannot tell")


@dataclass(frozen=True)
class Pointed:
    """A noun of a caption, and its weights over the cells of the image."""

    image: str
    noun: str
    text: str
    weights: Float[np.ndarray, "i j"]


def first_noun(words: Sequence[str], references: Sequence[str]) -> int | None:
    """The place of the first noun of the list that some reference has too; None without."""
    right = {word for each in references for word in each.lower().split()}
    return next((place for place, word in enumerate(words) if word.lower() in NOUNS & right), None)


def pointed(found: Sequence[Caption], references: Sequence[Sequence[str]], most: int) -> list[Pointed]:
    """The first so many images whose captions have such a noun."""
    kept: list[Pointed] = []
    for caption, right in zip(found, references, strict=True):
        place = first_noun(caption.words, right)
        if place is not None and caption.word_grid is not None and len(kept) < most:
            kept.append(Pointed(str(caption.source), caption.words[place], caption.text, caption.word_grid[place]))
    return kept


def draw(some: Sequence[Pointed], mean: Box, first: int, path: Path) -> None:
    """A sheet."""
    figure = new_figure(SIDE * ACROSS, (SIDE + 0.5) * DOWN)
    axes = figure.subplots(DOWN, ACROSS, squeeze=False).flatten()
    for ax in axes:
        ax.set_axis_off()
    for number, (ax, each) in enumerate(zip(axes, some, strict=False), first):
        picture = np.asarray(read_picture(each.image, 3, LARGE))
        height, width = picture.shape[:2]
        ax.imshow(picture)
        veil = np.zeros((height, width, 4))
        veil[..., 3] = 0.45 * (1 - smooth_weights(each.weights, height, width))
        ax.imshow(veil)
        for box, style in ((peak_box(each.weights), ("white", "-", 2.2)), (mean, ("yellow", "--", 1.2))):
            frame(ax, box, (height, width), style)
        ax.set_title(f"{number}: {each.noun}", fontsize=11)
        words = each.text.split()
        ax.text(0.5, -0.02, "\n".join((" ".join(words[:7]), " ".join(words[7:14]))), transform=ax.transAxes, fontsize=7,
                ha="center", va="top", parse_math=False)  # fmt: skip
    figure.savefig(path, dpi=95)


def frame(ax: Any, box: Box, size: tuple[int, int], style: tuple[str, str, float]) -> None:
    """A frame around a part of an image."""
    from matplotlib.patches import Rectangle

    (left, top, right, bottom), (height, width) = box, size
    corner = left * width - 0.5, top * height - 0.5
    wide, high = (right - left) * width, (bottom - top) * height
    colour, line, thick = style
    ax.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=colour, linestyle=line, linewidth=thick))


def count(path: Path) -> str:
    """How often the judge said what, of each frame."""
    rows = json.loads(path.read_text(encoding="utf-8"))["nouns"]
    told = []
    for frame_of in ("word", "mean"):
        found = Counter(row.get(frame_of) for row in rows)
        judged = sum(found[verdict] for verdict in VERDICTS)
        told.append(
            f"{frame_of}: " + ", ".join(f"{verdict} {found[verdict]}" for verdict in VERDICTS) + f" of {judged}"
        )
    return "\n".join(told)


def main() -> None:
    """Draw the sheets, or count verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("run", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=Path("sheets"))
    parser.add_argument("--images", type=int, default=50)
    parser.add_argument("--split", default="test")
    parser.add_argument("--beam", type=int, default=3)
    parser.add_argument("--count", type=Path, metavar="FILE", help="count the verdicts of a file")
    asked = parser.parse_args()
    if asked.count:
        print(count(asked.count))
        return
    if asked.folder is None or asked.run is None:
        parser.error("FOLDER and RUN are wanted, or --count FILE")
    try:
        images, references = open_split(asked.folder, asked.split, 3 * asked.images)
        model = load_captioner(asked.run)
        found = [best[0] for best in model.search(images, Options(beam=asked.beam))]
        kept = pointed(found, references, asked.images)
        if not kept:
            raise RegardError("no caption has a noun with a map: is this a model that attends?")
    except RegardError as wrong:
        sys.exit(f"pointing_page.py: {wrong}")
    asked.out.mkdir(parents=True, exist_ok=True)
    mean = peak_box(np.mean([each.weights for each in kept], 0))
    for first in range(0, len(kept), ACROSS * DOWN):
        path = asked.out / f"sheet-{first // (ACROSS * DOWN) + 1}.png"
        draw(kept[first : first + ACROSS * DOWN], mean, first + 1, path)
    rows = [
        {"number": number, "image": each.image, "noun": each.noun, "frame": peak_box(each.weights)}
        for number, each in enumerate(kept, 1)
    ]
    told = {"mean frame": mean, "looked through": images.index(kept[-1].image) + 1, "nouns": rows}
    (asked.out / "nouns.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print(f"{len(kept)} nouns of the first {told['looked through']} images on sheets in {asked.out}")


if __name__ == "__main__":
    main()
