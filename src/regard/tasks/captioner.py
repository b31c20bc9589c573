"""A captioner as a person uses it: images in; captions, their scores and what each word looked at out.

Letters: T pieces and the end, W words, i rows and j columns of cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.data.places import Box, read_places
from regard.data.tokenizer import Pieces
from regard.evaluate.counts import Counted, Reference
from regard.evaluate.pointing import count_pointing, peak_box
from regard.model import Model
from regard.search import Hypothesis, Options
from regard.search.loop import in_use
from regard.search.options import Number, Sampling
from regard.show.captioned import Captioned
from regard.task import Side
from regard.tasks.classifier import images_of, pixels_of
from regard.tasks.references import nearest
from regard.tasks.seen import words_of_pieces
from regard.tasks.writer import Writer


@dataclass(frozen=True)
class Caption:
    """One output: its text, its score, its pieces, and what was looked at while each was written.

    `score` is what outputs are ranked by, `likelihood` the log-likelihood of the pieces and the end. `attention` has a
    tensor (heads, pieces and the end, cells) for each layer that looks at the image; none of a model that does not.
    """

    text: str
    score: float
    likelihood: float
    pieces: tuple[str, ...]
    words: tuple[str, ...]
    source: Any
    attention: tuple[Tensor, ...] = field(default=(), repr=False)
    cells: tuple[int, int] | None = field(default=None, repr=False)  # rows and columns of the image's grid
    owners: tuple[int, ...] = field(default=(), repr=False)  # the word of each piece, and of the end
    side: Side | None = field(default=None, repr=False)
    ids: tuple[int, ...] = field(default=(), repr=False)

    @property
    def probability(self) -> float:
        """That of a piece, as a geometric mean over the pieces and the end."""
        return math.exp(self.likelihood / (len(self.pieces) + 1))

    @property
    def grid(self) -> Float[np.ndarray, "T i j"] | None:
        """How much each piece, and the end, looked at each cell: the last layer, all its heads together.

        None of a model that does not attend, or whose cells are no grid.
        """
        if not self.attention or self.cells is None:
            return None
        return self.attention[-1].float().mean(0).numpy().reshape(-1, *self.cells)

    @property
    def word_grid(self) -> Float[np.ndarray, "W i j"] | None:
        """The same for each word, as a mean over its pieces; without the end."""
        grid = self.grid
        if grid is None:
            return None
        owners = np.array(self.owners)
        found = [grid[owners == word].mean(0) if (owners == word).any() else 0 * grid[0] for word in self._numbers]
        return np.stack(found) if found else grid[:0]

    @property
    def boxes(self) -> tuple[Box, ...] | None:
        """For each word the cell that it looked at most: left, top, right, bottom, from 0 to 1. None as of a grid."""
        grid = self.word_grid
        return None if grid is None else tuple(peak_box(each) for each in grid)

    @property
    def _numbers(self) -> range:
        return range(len(self.words))

    @cached_property
    def seen(self) -> Captioned:
        """The image, and the weights of each word over it."""
        return self.compared(None)

    def compared(self, right: str | None) -> Captioned:
        """The same, beside the right caption."""
        return Captioned(pixels_of(self.side, self.source), self.words, self.word_grid, self.text, right=right)

    def beside(self, reference: Reference) -> Captioned:
        """The same, beside all references of a corpus: an answer that is none of several may be as good as they are."""
        several = () if isinstance(reference, str) or len(reference) < 2 else tuple(reference)
        if several:
            return replace(self.compared(self.text if self.text in several else None), references=several)
        return self.compared(nearest(self.text, reference))

    def drawn(self, right: str | None = None) -> str:
        """For a terminal: the image's name, and the caption."""
        name = self.source if isinstance(self.source, str | Path) else "image"
        return f"{name}  ->  {self.text}"

    def save(self, path: str | Path, right: str | None = None, title: str = "") -> Path:
        """Write the image once for each word, with what it looked at: a .html page, a .png, .svg, .pdf or .txt."""
        from regard.show.answers import save_answers

        return save_answers([self.compared(right)], path, title)

    def _repr_html_(self) -> str:
        from regard.show.answers import embed_answers

        return embed_answers([self.seen])


class Captioner(Writer):
    """A trained model that writes captions of images.

    An image is the path of its file, an open Pillow image, or an array of pixels (height, width, channels).
    """

    verb: ClassVar[str] = "caption"

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        super().__init__(model, source, target, name)
        self._grids: dict[tuple[int, ...], tuple[int, int] | None] = {}

    def caption(
        self,
        images: Any,
        *,
        beam: int = 5,
        nbest: int = 1,
        max_length: int = 200,
        alpha: Number | None = None,
    ) -> Any:
        """The best caption of an image, or of each of a list, in order; with `nbest` more, a list of them for each.

        `alpha` is the length penalty, the model's own where none is given.
        """
        options = Options(beam=max(beam, nbest), nbest=nbest, max_length=max_length, alpha=alpha)
        return self._outputs(images, options)

    def sample(
        self,
        images: Any,
        *,
        draws: int = 1,
        temperature: Number = 1.0,
        top_k: int = 0,
        top_p: Number = 1.0,
        seed: int | None = None,
        max_length: int = 200,
    ) -> Any:
        """A caption that is drawn, piece by piece, for an image or each of a list; with more `draws`, lists of them.

        `temperature`, `top_k` and `top_p` are those of `regard.search.Sampling`. The same `seed` draws the same for the
        same image.
        """
        sampling = Sampling(temperature, top_k, top_p, draws, seed)
        return self._outputs(images, Options(max_length=max_length, sampling=sampling))

    def look(self, cell: Any, target: str | None = None) -> Caption:
        """The caption of one image, or a given one, with all that was looked at."""
        found: Caption = self.answer([cell])[0] if target is None else self.force([cell], [target])[0]
        return found

    def checked(self, cells: Any) -> list[Any]:
        """Images, in a list."""
        return images_of(cells)

    def told(self, cell: Any, item: Any, written: Pieces, found: Hypothesis) -> Caption:
        """What was written for an image."""
        words, owners = words_of_pieces(self.target.tokenizer, written)
        return Caption(
            written.text,
            found.score,
            found.likelihood,
            written.pieces,
            tuple(words[:-1]),
            cell,
            tuple(found.weights),
            self._cells(item) if found.weights else None,
            tuple(owners),
            self.source,
            found.ids,
        )

    def count_pointing(self, images: Any, captions: Sequence[str], places: Sequence[str]) -> Counted | None:
        """How often the words of right captions look at what they name, given its places; None if nobody looks."""
        found = [each.word_grid for each in self.force(images, captions)]
        seen = [each for each in found if each is not None]
        return count_pointing(seen, list(map(read_places, places))) if seen and len(seen) == len(found) else None

    def _outputs(self, images: Any, options: Options) -> Any:
        """What was found for an image or each of many: one output, or a list where several were asked for."""
        many = isinstance(images, list | tuple)
        found = self.search(images if many else [images], options)
        if options.outputs == 1:
            return [best[0] for best in found] if many else found[0][0]
        return found if many else found[0]

    def _cells(self, item: Any) -> tuple[int, int] | None:
        """Rows and columns of the grid that an image is looked at by, as its memory has them."""
        shape = tuple(item.shape)
        if shape not in self._grids:
            with in_use(self.model):
                self._grids[shape] = self.model.read(self.source.collate([item])).grid
        return self._grids[shape]
