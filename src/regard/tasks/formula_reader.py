"""A reader of formulas as a person uses it: images in; LaTeX, its scores and where each token looked out.

Letters: W tokens, i rows and j columns of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from regard.data.latex import compact, normalise
from regard.data.mathtext import draw_formula
from regard.data.redraw import most_alike
from regard.data.sides.formula import FormulaImage
from regard.data.texts import texts_of
from regard.data.tokenizer import Pieces
from regard.errors import UsageError
from regard.evaluate.metrics import DRAWN
from regard.search import Hypothesis, Options
from regard.search.options import Number
from regard.show.formula import ReadFormula
from regard.tasks.captioner import Caption, Captioner
from regard.tasks.classifier import pixels_of

HALF = 0.5  # of the largest weight: cells below are not in a token's box
Box = tuple[float, float, float, float]  # left, top, right and bottom, in pixels


@dataclass(frozen=True)
class Formula(Caption):
    """One output: LaTeX as tokens with spaces between them, and where each of them looked.

    `latex` is the same without spaces that nobody needs; `words` are the tokens, `word_grid` what each looked at.
    """

    @property
    def latex(self) -> str:
        """As people write it."""
        return compact(self.text.split())

    @property
    def is_drawable(self) -> bool:
        """Whether mathtext can draw it."""
        return draw_formula(self.text) is not None

    @property
    def boxes(self) -> tuple[Box, ...] | None:
        """Where each token looked, in pixels of the image: the box around the cells of half its largest weight."""
        grid = self.word_grid
        if grid is None or not isinstance(self.side, FormulaImage):
            return None
        framed = self.side.framed(self.source)
        return tuple(framed.place(_box(cells)) for cells in grid)

    def compared(self, right: str | None) -> ReadFormula:
        """What is drawn of it, beside the right formula."""
        wanted = None if right is None else normalise(right)
        return ReadFormula(pixels_of(self.side, self.source), self.words, self.word_grid, self.text, right=wanted)


class FormulaReader(Captioner):
    """A trained model that writes the LaTeX of images of formulas.

    An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
    """

    verb: ClassVar[str] = "latex"
    usual: ClassVar[tuple[str, ...]] = DRAWN

    def latex(
        self,
        images: Any,
        *,
        beam: int = 5,
        nbest: int = 1,
        max_length: int = 200,
        alpha: Number | None = None,
        redraw: bool = False,
    ) -> Any:
        """The best formula of an image, or of each of a list, in order; with `nbest` more, a list of them for each.

        `alpha` is the length penalty, the model's own where none is given. With `redraw` every formula of the beam is
        drawn again, and the one that looks like the image is the best.
        """
        many = isinstance(images, list | tuple)
        options = Options(beam=max(beam, nbest), nbest=nbest, max_length=max_length, alpha=alpha)
        found = self.search(images if many else [images], options, redraw=redraw)
        some = [each[0] for each in found] if nbest == 1 else found
        return some if many else some[0]

    def search(
        self, cells: Any, options: Options | None = None, *, record: bool = True, redraw: bool = False
    ) -> list[list[Any]]:
        """The best formulas for each image, best first. `record` keeps what was looked at.

        With `redraw` the one that looks like the image comes first, of all that a beam ends with.
        """
        asked = options or Options()
        if not redraw:
            return super().search(cells, asked, record=record)
        if asked.sampling is not None:
            raise UsageError("redraw chooses among the formulas of a beam.", hint="Leave sampling out.")
        found = super().search(cells, replace(asked, nbest=asked.beam), record=record)
        return [self._seen_first(each)[: asked.nbest] for each in found]

    def _seen_first(self, formulas: Sequence[Formula]) -> list[Formula]:
        """The formulas for an image, the one that looks like it first."""
        (item,) = self.source.encode([formulas[0].source])
        image = item[0].numpy()
        return [formulas[place] for place in most_alike(image, [each.text for each in formulas])]

    def caption(self, images: Any, **asked: Any) -> Any:
        """Not of this model: formulas are no captions."""
        raise AttributeError("a FormulaReader cannot caption: it was trained to latex. Write model.latex(...).")

    def force(self, cells: Any, targets: str | Sequence[str], *, record: bool = True) -> list[Any]:
        """Given formulas as if the model had written them, in order."""
        return super().force(cells, [normalise(each) for each in texts_of("targets", targets)], record=record)

    def told(self, cell: Any, item: Any, written: Pieces, found: Hypothesis) -> Formula:
        """What was written for an image."""
        caption = super().told(cell, item, written, found)
        return Formula(**{each.name: getattr(caption, each.name) for each in fields(caption)})


def _box(weights: Float[np.ndarray, "i j"]) -> Box:
    """Around the cells of at least half the largest weight: left, top, right and bottom, in shares of the grid."""
    rows, columns = np.nonzero(weights >= HALF * weights.max())
    height, width = weights.shape
    found = columns.min() / width, rows.min() / height, (columns.max() + 1) / width, (rows.max() + 1) / height
    left, top, right, bottom = map(float, found)
    return left, top, right, bottom
