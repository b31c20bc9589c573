"""Which heads align: every layer and head of a model's attention, ranked by the links that are read from it.

    choice = choose_heads(model, sources, targets, gold)      # a Translator, held-out pairs, their gold links
    choice.aligner                                            # the best reading, as a model folder keeps it
    print(choice)                                             # all of them

The model writes each target once, by force. Its weights are merged to words for every head, and each *reading* gives a
target word its best source word: one head, the mean of a layer, or a few heads of a layer, added one at a time as long
as the alignment error falls. Each is read in two ways: in the step that writes the word, and shifted, in the step after
it, which is fed the word (Chen et al. 2020).

The error of the best of many readings is a little too good to be true: it was chosen on these pairs.

Letters: H heads, N target words, M source words, both with the end of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from regard.align.record import Aligner
from regard.align.reference import reference_links
from regard.align.wordforms import word_forms
from regard.data.padding import pad
from regard.data.tokenizer import END, START, Pieces, Tokenizer
from regard.errors import UsageError
from regard.evaluate.counts import equal_counts
from regard.evaluate.links import Gold
from regard.model import Model
from regard.types import Batch

TOGETHER = 16  # pairs that are forced at once
FEW = 4  # heads of a layer that may align together
WORTH = 0.002  # what one more head must take off the error


@runtime_checkable
class Reads(Protocol):
    """A model with its tokenizers; a `Translator` is one."""

    model: Model
    source: Tokenizer
    target: Tokenizer


@dataclass(frozen=True)
class Reading:
    """Where links are read, heads and layer counted from 0 (no heads: the mean of all), and their error."""

    layer: int
    heads: tuple[int, ...]
    shift: bool
    error: float


@dataclass(frozen=True)
class Choice:
    """All readings, best first, and the best as an aligner."""

    aligner: Aligner
    readings: tuple[Reading, ...]

    def __str__(self) -> str:
        rows = [("layer", "heads", "read", "AER")]
        for each in self.readings:
            heads = ", ".join(str(head + 1) for head in each.heads) or "mean"
            rows.append((str(each.layer + 1), heads, "step after" if each.shift else "step", f"{each.error:.1%}"))
        wide = [max(len(row[column]) for row in rows) for column in range(4)]
        return "\n".join("  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)) for row in rows)


@dataclass(frozen=True)
class _Pair:
    """One pair's weights between words, by layer, as they are and shifted; its sure and possible links."""

    weights: tuple[Float[Tensor, "2 H N M"], ...]
    sure: Bool[Tensor, "N M"]
    possible: Bool[Tensor, "N M"]


def choose_heads(
    model: Reads, sources: Sequence[str], targets: Sequence[str], gold: Gold | None = None, *, reference: str = ""
) -> Choice:
    """Rank all readings of a model on given pairs, against gold links or, without, against those of `reference_links`.

    Args:
        gold: sure and possible links between the words of each pair.
        reference: what the links are called where the choice is told.
    """
    if gold is None:
        given = word_forms(model.source, sources), word_forms(model.target, targets)
        links = reference_links(*given)
        gold = Gold(links, [()] * len(links), spaced=None)
        reference = reference or f"a statistical aligner's links (HMM, learnt from {len(links):,} pairs)"
    equal_counts(sources=len(sources), targets=len(targets), links=len(gold.sure))
    pairs = list(_forced(model, sources, targets, gold))
    if not pairs or not pairs[0].weights:
        raise UsageError("heads are chosen on pairs of a model that attends; there are none.")
    readings = [each for layer in range(len(pairs[0].weights)) for each in _read(pairs, layer)]
    ranked = sorted(readings, key=lambda each: (each.error, each.shift, len(each.heads)))
    best = ranked[0]
    named = reference or "gold links"
    aligner = Aligner("cross", best.layer, best.heads, "AER", best.error, len(pairs), named, best.shift)
    counts = len(pairs[0].weights), pairs[0].weights[best.layer].shape[1]
    return Choice(aligner.within(*counts), tuple(ranked))


def _read(pairs: list[_Pair], layer: int) -> Iterator[Reading]:
    """All readings of a layer: each head, the mean where there are several, and heads that align better together."""
    heads = pairs[0].weights[layer].shape[1]
    alone = _errors(pairs, layer, [(head,) for head in range(heads)])
    for shift in (False, True):
        errors = alone[int(shift)]
        yield from (Reading(layer, (head,), shift, errors[head]) for head in range(heads))
        if heads == 1:
            continue
        yield Reading(layer, (), shift, _errors(pairs, layer, [tuple(range(heads))])[int(shift)][0])
        chosen: tuple[int, ...] = (int(np.argmin(errors)),)
        error = min(errors)
        while len(chosen) < min(FEW, heads - 1):
            sets = [(*chosen, head) for head in range(heads) if head not in chosen]
            further = _errors(pairs, layer, sets)[int(shift)]
            if min(further) > error - WORTH:
                break
            chosen, error = sets[int(np.argmin(further))], min(further)
            yield Reading(layer, tuple(sorted(chosen)), shift, error)


def _errors(pairs: list[_Pair], layer: int, sets: Sequence[tuple[int, ...]]) -> list[list[float]]:
    """The alignment error of each set of heads (their mean), as it is and shifted."""
    wanted = sum(int(pair.sure.sum()) for pair in pairs)
    found, hits = torch.zeros(2, len(sets)), torch.zeros(2, len(sets))
    mean = torch.zeros(len(sets), pairs[0].weights[layer].shape[1])
    for row, heads in enumerate(sets):
        mean[row, list(heads)] = 1 / len(heads)
    for pair in pairs:
        weights = torch.einsum("ch,shnm->scnm", mean, pair.weights[layer])[:, :, :-1]  # the end of the target has none
        top = weights.max(-1)
        best, linked = top.indices, (top.indices < weights.shape[-1] - 1) & (top.values > 0)
        rows = torch.arange(weights.shape[-2])
        sure, possible = pair.sure[rows, best] & linked, pair.possible[rows, best] & linked
        found += linked.sum(-1)
        hits += sure.sum(-1) + (sure | possible).sum(-1)
    counts = found + wanted
    return torch.where(counts > 0, 1 - hits / counts.clamp(min=1), 0.0).tolist()


def _forced(model: Reads, sources: Sequence[str], targets: Sequence[str], gold: Gold) -> Iterator[_Pair]:
    """Every pair that has words on both sides, forced once, its weights merged to words."""
    asked, wanted = model.source.encode_batch(sources), model.target.encode_batch(targets)
    kept = [row for row in range(len(asked)) if len(asked[row]) and len(wanted[row])]
    order = sorted(kept, key=lambda row: (len(wanted[row]), len(asked[row])))
    for first in range(0, len(order), TOGETHER):
        rows = order[first : first + TOGETHER]
        source = pad([[*asked[row].ids, END] for row in rows])
        target = pad([[START, *wanted[row].ids, END] for row in rows])
        with torch.no_grad():
            looked = model.model.eval().teach(Batch(source, target)).looked
            layers = [each.weights if each.weights.dim() == 4 else each.weights.unsqueeze(1) for each in looked]
        for place, row in enumerate(rows):
            steps, places = len(wanted[row]) + 1, len(asked[row]) + 1
            own = [layer[place, :, :steps, :places].float() for layer in layers]
            columns = _membership(model.source, asked[row], gold.spaced)
            spread = _membership(model.target, wanted[row], gold.spaced)
            yield _worded(spread, columns, own, (gold.sure[row], gold.possible[row]), sources[row])


def _worded(
    rows: Float[Tensor, "T N"],
    columns: Float[Tensor, "S M"],
    layers: list[Tensor],
    gold: tuple[Sequence[tuple[int, int]], ...],
    text: str,
) -> _Pair:
    """One pair between words: the sum over a source word's pieces, the mean over a target word's."""
    rows = rows / rows.sum(0)
    shape = rows.shape[1], columns.shape[1]
    both = (torch.stack((each, torch.cat((each[:, 1:], each[:, -1:]), 1))) for each in layers)
    links = [torch.zeros(shape, dtype=torch.bool) for _ in gold]
    for marks, pairs in zip(links, gold, strict=True):
        for ours, theirs in pairs:
            if ours >= shape[1] - 1 or theirs >= shape[0] - 1:
                raise UsageError(
                    f"the link {ours}-{theirs} points outside a pair of {shape[1] - 1} and {shape[0] - 1} words: "
                    f"'{text[:60]}'."
                )
            marks[theirs, ours] = True
    return _Pair(tuple(rows.T @ each @ columns for each in both), links[0], links[1])


def _membership(tokenizer: Tokenizer, pieces: Pieces, spaced: bool | None) -> Float[Tensor, "P W"]:
    """One where a piece belongs to a word; the end is a word of its own."""
    words = tokenizer.words(pieces, spaced)
    owners = [*tokenizer.piece_to_word(pieces, words), len(words)]
    return torch.nn.functional.one_hot(torch.tensor(owners), len(words) + 1).float()
