"""An alignment: how much each target word looked at each source word."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.align.symmetrise import POSTERIOR, symmetrise
from regard.errors import BrokenData, ShapeError, UsageError

if TYPE_CHECKING:
    from jaxtyping import Bool, Float
    from torch import Tensor

    from regard.align.evidence import Evidence

START, END = "<s>", "</s>"
# The end of a sentence has a row and a column of its own: models do look there, most of all when a word has no
# counterpart. What a decoder looks back at has the start in the place of the end, since it has not written the end.
FORMAT = "regard-alignment-1"
AGREED = 0.4  # of the root of both directions' weights, from which on a word is linked


class Weights:
    """A field that takes a tensor or a NumPy array, keeps an array, and gives a tensor of the same memory.

    So that what an engine without PyTorch looked at can be read and written without it: it is imported when somebody
    asks for the tensor.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, holder: object, owner: type | None = None) -> Tensor:
        if holder is None:
            raise AttributeError(self.name)  # so a dataclass learns that the field has no default
        import torch

        return torch.from_numpy(vars(holder)[self.name])

    def __set__(self, holder: object, weights: Any) -> None:
        vars(holder)[self.name] = weights if isinstance(weights, np.ndarray) else weights.detach().cpu().numpy()


@dataclass(frozen=True)
class Alignment:
    """Rows are target words, columns source words; the last of each is the end of the sentence.

    A row sums to one where the attention's weights do. Attention is evidence, not proof. `note` says which heads
    the weights were read from and how good those are. Of self-attention (`kind` "encoder-self" or "decoder-self")
    rows and columns are words of one side: rows look, columns are looked at.
    """

    matrix: Float[Any, "T S"] = Weights()
    source: tuple[str, ...]  # type: ignore[misc] # the weights have no default, whatever it looks like
    target: tuple[str, ...]  # type: ignore[misc]
    note: str = ""
    kind: str = "cross"

    def __post_init__(self) -> None:
        expected = (len(self.target), len(self.source))
        if self.numpy().shape != expected:
            raise ShapeError(f"{expected[0]} target and {expected[1]} source words need a matrix of that shape; "
                             f"it has {self.numpy().shape}.")  # fmt: skip

    def links(
        self,
        threshold: float | None = None,
        *,
        reverse: Alignment | None = None,
        method: str = "grow-diag-final",
    ) -> list[tuple[int, int]]:
        """(source word, target word): the best source word of each target word, or all from `threshold` up.

        A target word that looks at the end of the source more than at any word has no link. With `reverse`, the
        alignment of the same pair by a model of the other direction, the links of both are made one by `method`
        (see `regard.align.symmetrise`); by "posterior", a link is where the root of the product of both weights is at
        least `threshold`, 0.4 if none is given.
        """
        if reverse is not None:
            self._check_reverse(reverse)
            if method == POSTERIOR:
                return self._agreed(reverse, AGREED if threshold is None else threshold)
            turned = [(source, target) for target, source in reverse.links(threshold)]
            return symmetrise(self.links(threshold), turned, method)
        rows = self.numpy()[: len(self.target) - 1]
        if threshold is not None:
            return _places(rows[:, :-1] >= threshold)
        best = rows.argmax(-1).tolist() if rows.size else []
        return sorted((s, t) for t, s in enumerate(best) if s < len(self.source) - 1 and rows[t, s] > 0)

    def pharaoh(
        self,
        threshold: float | None = None,
        *,
        reverse: Alignment | None = None,
        method: str = "grow-diag-final",
    ) -> str:
        """The links as one line: `0-0 1-2 ...`, source first."""
        links = self.links(threshold, reverse=reverse, method=method)
        return " ".join(f"{source}-{target}" for source, target in links)

    @property
    def evidence(self) -> Evidence:
        """Coverage, focus and confidence, told from the weights."""
        from regard.align.evidence import Evidence

        return Evidence.of(self.matrix)

    def numpy(self) -> Float[np.ndarray, "T S"]:
        """The matrix as a NumPy array, a row a target word."""
        return vars(self)["matrix"]

    def to_json(self) -> dict[str, Any]:
        """All of it, for `json.dumps`; the links are there for readers, and not read back."""
        told: dict[str, Any] = {"format": FORMAT, "kind": self.kind, "note": self.note}
        told |= {"source": list(self.source), "target": list(self.target)}
        return told | {"matrix": self.numpy().tolist(), "links": [list(link) for link in self.links()]}

    @classmethod
    def from_json(cls, told: Any) -> Alignment:
        """What `to_json` told, again."""
        if not isinstance(told, dict) or told.get("format") != FORMAT:
            found = told.get("format") if isinstance(told, dict) else type(told).__name__
            raise BrokenData(f'an alignment: expected a JSON object with "format": "{FORMAT}"; found {found!r}.')
        try:
            source, target = tuple(map(str, told["source"])), tuple(map(str, told["target"]))
            matrix = np.array(told["matrix"], dtype=np.float32).reshape(len(target), len(source))
            return cls(matrix, source, target, str(told.get("note", "")), str(told.get("kind", "cross")))
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise BrokenData(
                f"an alignment: expected source and target words and a matrix that fits them; {error}."
            ) from error

    def to_csv(self) -> str:
        """A table: the source words in the first line, then a target word and its weights a line."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["", *self.source])
        for word, row in zip(self.target, self.numpy().tolist(), strict=True):
            writer.writerow([word, *(f"{weight:.7f}" for weight in row)])
        return text.getvalue()

    def save(self, path: str | Path, title: str = "") -> Path:
        """Write a file of the kind that its name asks for: .html .png .svg .pdf .json .csv .txt."""
        from regard.show.views import save_alignment

        return save_alignment(self, Path(path), title)

    def _repr_html_(self) -> str:
        from regard.show.views import embed_alignment

        return embed_alignment(self)

    def __repr__(self) -> str:
        return f"Alignment({_start(self.source)!r} to {_start(self.target)!r}, {self.kind}, links={self.pharaoh()!r})"

    def __str__(self) -> str:
        from regard.show.views import alignment_text

        return alignment_text(self)

    def _agreed(self, reverse: Alignment, threshold: float) -> list[tuple[int, int]]:
        """Where both directions look."""
        both = np.sqrt(self.numpy()[:-1, :-1] * reverse.numpy()[:-1, :-1].T)
        return _places(both >= threshold)

    def _check_reverse(self, reverse: Alignment) -> None:
        """The other direction must be of the same pair of sentences."""
        if (reverse.source, reverse.target) != (self.target, self.source):
            raise UsageError(
                f"reverse: expected an alignment of the same pair, from '{_start(self.target)}' "
                f"to '{_start(self.source)}'; found '{_start(reverse.source)}' to '{_start(reverse.target)}'.",
                hint="Align the same pair with a model of the other direction: backward.align(target, source).",
            )


def _start(words: tuple[str, ...]) -> str:
    return " ".join(words[:5]) + (" ..." if len(words) > 5 else "")


def _places(found: Bool[np.ndarray, "T S"]) -> list[tuple[int, int]]:
    """(column, row) of all that is true, in that order."""
    return [(source, target) for source, target in np.argwhere(found.T).tolist()]


def merge(
    weights: Float[np.ndarray, "T S"], target: Sequence[int], source: Sequence[int], words: tuple[int, int]
) -> Float[np.ndarray, "N M"]:
    """Weights between pieces as weights between words: sum over a source word's pieces, mean over a target word's.

    `target` and `source` give the word of each row and column; `words` counts target and source words.
    """
    columns = np.zeros((len(weights), words[1]), weights.dtype)
    np.add.at(columns.T, list(source), weights.T)
    rows = np.zeros((words[0], words[1]), weights.dtype)
    np.add.at(rows, list(target), columns)
    counts = np.bincount(target, minlength=words[0]).clip(min=1)
    return rows / counts[:, None].astype(weights.dtype)
