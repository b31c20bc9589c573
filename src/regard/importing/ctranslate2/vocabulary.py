"""The pieces of a CTranslate2 folder: its vocabularies, and the SentencePiece models that cut text into them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from regard.data.tokenizer_train import SPECIAL
from regard.errors import ModelError
from regard.importing.cutting import tokenizer_text
from regard.importing.spiece import UNIGRAM, Piece, SentencePiece, read_spiece

PADDINGS = ("<pad>", "<blank>")  # what a padding is called


@dataclass(frozen=True)
class Side:
    """One side: what CTranslate2 calls each of our pieces, and the tokenizer's JSON."""

    names: list[str]
    tokenizer: str


def read_names(folder: Path, side: str) -> list[str]:
    """What CTranslate2 calls the pieces of a side, by its own numbers."""
    for path in (folder / f"{stem}_vocabulary.{kind}" for stem in (side, "shared") for kind in ("json", "txt")):
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
                found = json.loads(text) if path.suffix == ".json" else text.removesuffix("\n").split("\n")
            except ValueError as error:
                raise ModelError(f"{path} cannot be read: {error}.", hint="Download it again.") from error
            if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
                raise ModelError(f"{path}: expected a list of pieces.", hint="Download it again.")
            return [each.removesuffix("\r") for each in found]
    raise ModelError(
        f"{folder} has no vocabulary for its {side}.", hint="Expected is shared_vocabulary.json or source_ and target_."
    )


def side_of(theirs: Sequence[str], model: SentencePiece, config: dict[str, Any], where: str) -> Side:
    """The pieces of a side in our order: special ones first, each under its name there."""
    named = _special(theirs, config, where)
    taken = set(named)
    rest = [name for name in dict.fromkeys(theirs) if name not in taken]
    ours = [f"<their {name}>" if name in SPECIAL else name for name in rest]
    rest, ours = _bytes_last(rest, ours)
    return Side([*named, *rest], tokenizer_text(model, [*SPECIAL, *ours], where))


def _special(theirs: Sequence[str], config: dict[str, Any], where: str) -> list[str]:
    """What `<pad>`, `<s>`, `</s>` and `<unk>` are called there; the first two need not be there, and have no name."""
    end, unknown = str(config.get("eos_token") or "</s>"), str(config.get("unk_token") or "<unk>")
    missing = [name for name in (end, unknown) if name not in theirs]
    if missing:
        raise ModelError(f"{where}: its vocabulary has no piece {' and no '.join(missing)}.")
    found: list[str] = []
    for wanted in (PADDINGS, (str(config.get("bos_token")), "<s>")):
        free = (each for each in wanted if each in theirs and each not in (end, unknown, *found))
        found.append(next(free, ""))
    return [*found, end, unknown]


def _bytes_last(rest: list[str], ours: list[str]) -> tuple[list[str], list[str]]:
    """A tokenizer whose fifth piece is a byte is taken for ours."""
    order = sorted(range(len(ours)), key=lambda place: ours[place].startswith("<0x"))
    return [rest[place] for place in order], [ours[place] for place in order]


def cutters(folder: Path, theirs: Sequence[str]) -> tuple[SentencePiece, SentencePiece, str]:
    """The SentencePiece models of both sides that lie in a folder, and what is to be said of the target's.

    Where there is one alone, and a fifth of the vocabulary is not its own, it is the source's: the target is then cut
    into pieces of the vocabulary, likely by their rank in it.
    """
    found = {side: folder / name for side, name in (("source", "source.spm"), ("target", "target.spm"))}
    if all(path.is_file() for path in found.values()):
        return read_spiece(found["source"]), read_spiece(found["target"]), ""
    path = next((folder / name for name in ("sentencepiece.model", "spm.model") if (folder / name).is_file()), None)
    if path is None:
        raise ModelError(
            f"{folder} holds no tokenizer: expected sentencepiece.model, or source.spm and target.spm.",
            hint="Put the SentencePiece models that the model was trained with beside its model.bin.",
        )
    source = read_spiece(path)
    known = {piece.text for piece in source.pieces}
    strange = [name for name in theirs if name not in known]
    if len(strange) * 5 < len(theirs):
        return source, source, ""
    told = (
        f"{path.name} cuts the source alone ({len(strange):,} of {len(theirs):,} pieces are not in it): targets that "
        "are given, as to regard align, are cut into pieces by their rank in the vocabulary"
    )
    return source, _ranked(source, theirs), told


def _ranked(like: SentencePiece, theirs: Sequence[str]) -> SentencePiece:
    """A model that cuts into the pieces of a vocabulary, the frequent ones first: Zipf's law for their chances."""
    pieces = [Piece(name, -math.log(2 + rank)) for rank, name in enumerate(theirs) if name not in SPECIAL]
    return replace(like, pieces=tuple(pieces), algorithm=UNIGRAM, bytes=False)
