"""A SentencePiece model as a tokenizer of the `tokenizers` library, with the numbers of another vocabulary.

Marian and CTranslate2 number pieces by a vocabulary of their own, often one for both languages, while each language is
cut by a model of its own. So a vocabulary has pieces that a model does not cut (those of the other language), and a
model may cut pieces that the vocabulary does not have. The names of the first begin with a space, which no normalised
line has; the second follow a piece called `BORDER`, and mean the unknown piece. What a model does not know but the
vocabulary has (a name in the other script) keeps its number there, as in Marian: `ImportedTokenizer` looks it up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from regard.data.tokenizer import no_panic
from regard.data.tokenizer_imported import BORDER, SPACE
from regard.data.tokenizer_train import SPECIAL
from regard.errors import ModelError, UsageError
from regard.importing.spiece import BYTE, DEFINED, NORMAL, UNIGRAM, Piece, SentencePiece

LANGUAGE = re.compile(r">>.+<<")  # a piece that says which language is to be written
SPELLED = Regex("<(?=(?:pad|s|/s|unk)>)")  # the beginning of a special piece's name, in a line


def tokenizer_text(model: SentencePiece, names: Sequence[str], where: str) -> str:
    """The JSON of a tokenizer that cuts as `model` does; `names` are all pieces by our numbers, special ones first."""
    if model.algorithm != UNIGRAM and any(piece.type == DEFINED for piece in model.pieces):
        raise UsageError(f"{where}: a BPE of SentencePiece with symbols of somebody's own is not supported.")
    try:
        with no_panic(where):
            made = _tokenizer(model, names)
            found: str = made.to_str()
    except ModelError:
        raise
    except Exception as error:  # the library raises nothing more exact
        raise ModelError(f"{where}: its tokenizer cannot be used: {error}.", hint="Download it again.") from error
    return found


def in_our_order(
    numbers: Mapping[str, int], size: int, special: Sequence[int], where: str
) -> tuple[list[str], list[int]]:
    """The names of all pieces in our order, and the number that each had; `special` are those of `<pad>` to `<unk>`.

    Bytes come last: a tokenizer whose fifth piece is one is taken for ours.
    """
    by_number = {number: piece for piece, number in numbers.items()}
    if max(by_number) >= size:
        raise ModelError(f"{where}: its vocabulary has {max(by_number) + 1} pieces, its table of vectors {size} rows.")
    rest = [(by_number.get(old, f"<unused {old}>"), old) for old in range(size) if old not in special]
    rest = [each for each in rest if each[0] not in SPECIAL]
    rest.sort(key=lambda each: each[0].startswith("<0x"))
    return [*SPECIAL, *(name for name, _ in rest)], [*special, *(old for _, old in rest)]


def _tokenizer(model: SentencePiece, names: Sequence[str]) -> Tokenizer:
    scored = {piece.text: piece for piece in _scored(model)}
    codes = [name for name in names if LANGUAGE.fullmatch(name)]
    cut = [name if name in scored or name in SPECIAL or name in codes else f" {name}" for name in names]
    known = set(names)
    beyond = [text for text in scored if text not in known]
    if beyond:
        cut += [BORDER, *beyond]
    made = Tokenizer(_unigram(model, cut, scored) if model.algorithm == UNIGRAM else _bpe(model, cut, scored))
    made.normalizer = normalizers.Sequence(_steps(model))
    made.pre_tokenizer = pre_tokenizers.Split(SPELLED, "isolated")
    made.add_special_tokens(list(SPECIAL))
    made.add_tokens([AddedToken(code, normalized=False) for code in codes])
    return made


def _scored(model: SentencePiece) -> list[Piece]:
    """The pieces that text can be cut into. One that somebody defined is better than all others of its length."""
    most = max((piece.score for piece in model.pieces if piece.type == NORMAL), default=0.0)
    found = [each for each in model.pieces if each.type in (NORMAL, DEFINED, BYTE) and each.text not in SPECIAL]
    return [
        replace(each, score=len(each.text.encode()) * most - 0.1) if each.type == DEFINED else each for each in found
    ]


def _unigram(model: SentencePiece, cut: Sequence[str], scored: Mapping[str, Piece]) -> models.Unigram:
    """What is unknown scores less than the least piece, so that pieces which cut nothing must not score less."""
    least = min((piece.score for piece in scored.values() if piece.type == NORMAL), default=0.0)
    return models.Unigram(
        [(name, scored[name].score if name in scored and scored[name].type != BYTE else least) for name in cut],
        unk_id=SPECIAL.index("<unk>"),
        byte_fallback=model.bytes,
    )


def _bpe(model: SentencePiece, cut: Sequence[str], scored: Mapping[str, Piece]) -> models.BPE:
    """Merges by the score of what they make, the best first."""
    merges = []
    for text in sorted(scored, key=lambda text: -scored[text].score):
        splits = [(text[:place], text[place:]) for place in range(1, len(text))]
        merges += [pair for pair in splits if pair[0] in scored and pair[1] in scored]
    numbers = {name: place for place, name in enumerate(cut)}
    return models.BPE(numbers, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=model.bytes)


def _steps(model: SentencePiece) -> list[Any]:
    """The normalisation of SentencePiece."""
    steps: list[Any] = []
    if model.charsmap:
        # Characters of several marks are put together first: the library sees a table's entries of a few bytes alone.
        steps += [normalizers.NFC(), normalizers.Precompiled(model.charsmap)]
    if model.tidy:
        steps += [normalizers.Replace(Regex("^ +| +$"), ""), normalizers.Replace(Regex(" {2,}"), " ")]
    if model.prefix:
        steps.append(normalizers.Prepend(SPACE))
    return [*steps, normalizers.Replace(" ", SPACE)]
