"""The whole flow: embed -> encode -> attend -> predict."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.inputs import Episodes
from regard.recipe import Recipe
from regard.registry import Maker, find, part, settings
from regard.task import Spec
from regard.types import (
    Batch,
    Codes,
    Encoded,
    Filled,
    Grid,
    Labelled,
    Memory,
    Padded,
    PixelLogits,
    Rendered,
    State,
    Stepped,
    Tagged,
    Taught,
    Widths,
)

NOTHING = Widths(0, 0, 0)  # of the memory that a model without a source has


@part("model", "flow")
class Model(nn.Module):
    """Embed the source, encode it, attend to it, predict.

    Settings:
        embed: how the source becomes vectors; "none" for a model without a source.
        encode: how the vectors become a memory; "none" for a model without a source.
        attend: how the memory is looked at; "none" for a decoder that does not attend.
        predict: how the memory becomes an output.
        share: use one table for the vectors of source and target; they must share a vocabulary.
        initialise: how the weights begin; "none" leaves them as each part drew them.
    """

    recipe: Recipe | None = None

    def __init__(
        self,
        source: Spec | int,
        target: Spec | int,
        *,
        embed: Maker | None,
        encode: Maker | None,
        attend: Maker | None = None,
        predict: Maker,
        share: bool = False,
        initialise: Maker | None = None,
    ) -> None:
        super().__init__()
        self.specs = Spec.of(source), Spec.of(target)
        self.embed: Any = _made(embed, self.specs[0].size, self.specs[0])
        self.encode: Any = _made(_framed(encode, self.specs[0]), getattr(self.embed, "width", 0), self.specs[0])
        widths = getattr(self.encode, "widths", NOTHING)
        self.predict = _framed(predict, self.specs[1])(self.specs[1].size, widths, attend)
        if share:
            self._share()
        if initialise is not None:
            initialise()(self)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many pieces, channels or classes source and target have."""
        return self.specs[0].size, self.specs[1].size

    def read(self, source: Padded | Grid | Episodes) -> Memory:
        """The source as a memory; of a model without one, a memory of nothing for each row. Codes are one already."""
        if isinstance(source, Codes):
            return Memory.of_codes(source)
        if self.encode is None:
            return self.nothing_read(len(source.data))
        return self.encode(self.embed(source))

    def nothing_read(self, rows: int) -> Memory:
        """The memory of a model without a source: no positions, and a summary of no numbers."""
        blank = next(self.parameters()).new_zeros(rows, 0)
        return Memory(blank.unsqueeze(-1), blank.unsqueeze(-1), blank.bool(), blank)

    def teach(self, batch: Batch, samples: int = 1) -> Taught:
        """Every step of the target at once: position t is predicted from the pieces before it.

        What is read once may be taught several times, for parts that draw: then all items follow one another as often.
        """
        seen = Padded(batch.target.data[:, :-1], batch.target.mask[:, 1:])
        memory = self.nothing_read(len(batch)) if batch.source is None else self.read(batch.source)
        if samples > 1:
            seen = Padded(seen.data.repeat(samples, 1), seen.mask.repeat(samples, 1))
            memory = memory.reorder(torch.arange(len(batch), device=memory.mask.device).repeat(samples))
        return self.predict.teach(seen, memory)

    def label(self, source: Padded | Grid | Episodes) -> Labelled:
        """The scores of the classes, for a model that predicts a label."""
        return self.predict.label(self.read(source))

    def tag(self, source: Padded | Grid) -> Tagged:
        """The scores of the classes at each position of the source, for a model that predicts tags."""
        return self.predict.tag(self.read(source))

    def segment(self, source: Grid) -> PixelLogits:
        """The scores of the classes at each pixel, for a model that segments images."""
        return self.predict.segment(self.read(source))

    def fill(self, source: Padded) -> Filled:
        """The score of every piece at each position of the source, for a model that finds hidden pieces."""
        return self.predict.fill(self.read(source))

    def vector(self, source: Padded | Grid) -> Encoded:
        """A vector for each source, for a model that encodes."""
        return self.predict.vector(self.read(source))

    def image(self, source: Padded | Grid) -> Rendered:
        """An image for each source, for a model that makes images."""
        return self.predict.image(self.read(source))

    def start(self, source: Padded | Grid) -> State:
        """Read the source; the state before the first piece."""
        return self.predict.start(self.read(source))

    def step(self, token: Int[Tensor, " B"], state: State) -> Stepped:
        """One piece further."""
        return self.predict.step(token, state)

    def _share(self) -> None:
        source, target = (getattr(each, "table", None) for each in (self.embed, getattr(self.predict, "embed", None)))
        if source is None or target is None:
            raise ShapeError("share = true needs token vectors on both sides.", hint="Write share = false.")
        if source.weight.shape != target.weight.shape:
            raise ShapeError(
                f"share = true needs one vocabulary and one width; the source table is "
                f"{tuple(source.weight.shape)}, the target table {tuple(target.weight.shape)}.",
                hint="Use a joint tokenizer and the same width in [embed] and [predict.embed].",
            )
        target.weight = source.weight  # every module that holds the target's table now holds the source's numbers


def _framed(part: Any, spec: Spec) -> Any:
    """A part that reads or makes whole images of one `frame` takes that of its side, where the recipe does not say."""
    if not isinstance(part, Maker) or not spec.shape or "frame" not in settings(find(part.kind, part.name)):
        return part
    told = part.settings.get("frame")
    return part if told and any(told) else replace(part, settings={**part.settings, "frame": spec.shape})


def _made(part: Maker | None, given: int, source: Spec) -> Any:
    """The part, if there is to be one; some have settings that what is read decides (`settings_of`)."""
    if part is None:
        return None
    settings_of = getattr(find(part.kind, part.name), "settings_of", None)
    if settings_of is None or not source.shape:
        return part(given)
    return replace(part, settings={**part.settings, **settings_of(source)})(given)


def parameters(model: Model) -> int:
    """How many numbers a model learns."""
    return sum(weight.numel() for weight in model.parameters())
