"""Holes: text in which people write `[MASK]` where pieces are hidden.

A space before a hole belongs to what is hidden, as it belongs to the piece of a word: "a [MASK] day" asks for a word,
"play[MASK]" for the rest of one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from regard.data.tokenizer import MASK, UNKNOWN, Tokenizer
from regard.errors import ModelError

LOST = (
    " \N{REPLACEMENT CHARACTER}"  # in the place of a word that no piece stands for: it is read as one such word again
)


def mask_of(tokenizer: Tokenizer) -> int:
    """The piece that stands for a hidden one."""
    found = tokenizer.mask
    if found is None:
        raise ModelError(
            f"{tokenizer.name} has no piece {MASK}: it was not learnt for hidden words.",
            hint="Train with the goal 'fill', or start from a run of it.",
        )
    return found


def encode_holes(tokenizer: Tokenizer, text: str) -> list[int]:
    """The pieces of a text, with the masking piece in each hole."""
    first, *others = text.split(MASK)
    if not others:
        return list(tokenizer.encode_ids([text])[0])
    mask, spaced = mask_of(tokenizer), tokenizer.kind != "characters"

    def before_hole(part: str) -> str:
        return part.removesuffix(" ") if spaced else part

    found = list(tokenizer.encode_ids([before_hole(first)])[0])
    for number, part in enumerate(others, 1):
        last = number == len(others)
        found += [mask, *tokenizer.encode_rest(part if last else before_hole(part))]
    return found


def holes_in(tokenizer: Tokenizer, cells: Sequence[str], found: list[list[int]]) -> list[list[int]]:
    """What was found for each cell, with the masking piece in the holes of those that have some."""
    return [encode_holes(tokenizer, cell) if MASK in cell else ids for cell, ids in zip(cells, found, strict=True)]


def with_holes(tokenizer: Tokenizer, ids: Sequence[int], hidden: Collection[int]) -> str:
    """The text of some pieces, with a hole in each of the places that are hidden."""
    mask, spaced = mask_of(tokenizer), tokenizer.kind != "characters"
    said = []
    for place, piece in enumerate(ids):
        before = spaced and (tokenizer.begins_word[piece] or not place)
        if place in hidden or piece == mask:
            said.append(f"{' ' if before else ''}{MASK}")
        else:
            said.append(LOST if piece == UNKNOWN and spaced else tokenizer.said(piece))
    return "".join(said).removeprefix(" ") if spaced else "".join(said)


def words_of_ids(tokenizer: Tokenizer, ids: Sequence[int]) -> tuple[list[str], list[int]]:
    """The words that pieces make up, a hole being a word, and the word of each piece."""
    mask = tokenizer.mask
    words: list[list[int]] = []
    owners = []
    for piece in ids:
        if not words or tokenizer.begins_word[piece] or piece == mask or words[-1] == [mask]:
            words.append([])
        words[-1].append(piece)
        owners.append(len(words) - 1)
    return [MASK if word == [mask] else tokenizer.decode(word).strip() for word in words], owners
