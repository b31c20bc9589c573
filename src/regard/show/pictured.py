"""A classified image: its pixels, what each query looked at in it, and what was answered.

Letters: h rows and w columns of pixels, C channels; i rows and j columns of cells, Q queries.
"""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8

from regard.errors import ShapeError
from regard.show.canvas import DOTS, UNDATED, new_figure
from regard.show.fonts import families
from regard.show.labels import cut
from regard.show.shaded import Answered
from regard.show.terminal import SHADES

SIDE = 2.2  # inches of an image
MOST = 7  # queries that are drawn
LONGEST = 40
VEIL = 0.75  # how dark it is where nobody looked: what was looked at stays as it is
VERDICTS = {True: "#00704F", False: "#B4500B", None: "black"}  # colours of right, wrong and unknown
STYLE = ".pictured { max-width: 100%; border-radius: 8px; background: white; }\n"


@dataclass(frozen=True)
class Pictured(Answered):
    """An image, the weights of every query over its cells (None where a model does not attend), and the answer."""

    image: UInt8[np.ndarray, "h w C"]
    weights: Float[np.ndarray, "Q i j"] | None
    answer: str
    probability: float | None = None
    right: str | None = None
    classes: tuple[str, ...] = ()
    probabilities: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.weights is not None and not len(self.weights):
            raise ShapeError("weights: expected those of at least one query; found none.", hint="Write None.")

    def smooth(self, query: int) -> Float[np.ndarray, "h w"]:
        """The weights of a query over the pixels, from 0 to 1: the strongest cell is 1."""
        height, width = self.image.shape[:2]
        return smooth_weights(np.zeros((1, 1)) if self.weights is None else self.weights[query], height, width)

    def remarks(self) -> list[str]:
        """What is to be said below the image."""
        if self.weights is None:
            return ["This model does not attend: no part of the image has a weight."]
        rows, columns = self.weights.shape[1:]
        return [f"What was looked at is bright: weights over {rows} x {columns} cells, the strongest in full light."]


def smooth_weights(
    weights: Float[np.ndarray, "i j"], height: int, width: int, smooth: bool = True
) -> Float[np.ndarray, "h w"]:
    """The weights of cells over the pixels, from 0 to 1: the strongest cell is 1; smooth, or with edges."""
    from PIL import Image

    cells = Image.fromarray((weights / max(float(weights.max()), 1e-9)).astype(np.float32))
    way = Image.Resampling.BILINEAR if smooth else Image.Resampling.NEAREST
    return np.asarray(cells.resize((width, height), way)).clip(0, 1)


def image_url(image: UInt8[np.ndarray, "h w C"]) -> str:
    """An image as an address that holds it whole."""
    from PIL import Image

    kept = io.BytesIO()
    Image.fromarray(image.squeeze(-1) if image.shape[-1] == 1 else image).save(kept, "PNG")
    return f"data:image/png;base64,{base64.b64encode(kept.getvalue()).decode('ascii')}"


def draw_image(
    ax: Any, image: UInt8[np.ndarray, "h w C"], light: Float[np.ndarray, "h w"] | None = None, veiled: float = VEIL
) -> None:
    """An image; with `light`, dark where there is none: by `veiled`, from 0 to 1."""
    ax.imshow(image.squeeze(), cmap="gray", vmin=0, vmax=255, interpolation="nearest")
    ax.set_axis_off()
    if light is not None:
        veil = np.zeros((*light.shape, 4))
        veil[..., 3] = veiled * (1 - light)
        ax.imshow(veil, interpolation="nearest")


def shaded_cells(weights: Float[np.ndarray, "i j"]) -> list[str]:
    """Cells as lines of blocks that are the darker the more they were looked at."""
    shades = weights / max(float(weights.max()), 1e-9) * (len(SHADES) - 1)
    return ["".join(2 * SHADES[round(float(each))] for each in row) for row in shades]


def picture_text(pictured: Pictured) -> str:
    """The answer, and the cells as blocks that are the darker the more they were looked at."""
    parts = [" ".join(pictured.heading())]
    for weights in [] if pictured.weights is None else pictured.weights[:MOST]:
        parts.append("\n".join(shaded_cells(weights)))
    return "\n\n".join(parts) + ("\n\nDarker is more weight." if pictured.weights is not None else "")


def plot_pictured(pictured: Pictured) -> Any:
    """A new figure: the image as the model read it, and once for each query with the light where it looked."""
    queries = [] if pictured.weights is None else range(min(MOST, len(pictured.weights)))
    figure = new_figure(SIDE * (1 + len(queries)) + 0.3, SIDE + 0.7)
    axes = figure.subplots(1, 1 + len(queries), squeeze=False)[0]
    draw_image(axes[0], pictured.image)
    axes[0].set_title("what was read", fontsize=8, color="0.35")
    for query in queries:
        draw_image(axes[1 + query], pictured.image, pictured.smooth(query))
        name = f"what query {query + 1} looked at" if len(queries) > 1 else "what was looked at"
        axes[1 + query].set_title(name, fontsize=8, color="0.35")
    heading = [cut(each, LONGEST) for each in pictured.heading()]
    colour = VERDICTS[pictured.is_right]
    figure.suptitle(" ".join(heading), fontsize=10, color=colour, parse_math=False, fontfamily=families(heading))
    return figure


def picture_html(pictured: Pictured) -> str:
    """The figure, as an image inside a page."""
    return figure_html(plot_pictured(pictured), " ".join(pictured.heading()))


def figure_html(figure: Any, told: str) -> str:
    """A figure, as an image inside a page; `told` is for those who do not see it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DOTS, metadata=UNDATED[".png"])
    data = base64.b64encode(drawn.getvalue()).decode("ascii")
    return f'<img class="pictured" alt="{escape(told)}" src="data:image/png;base64,{data}">'
