"""Tokenizers: raw text to pieces and back, byte for byte, with the place of every piece in the raw line.

    tokenizer = Tokenizer.train(lines)               # kind and size suit the lines
    pieces = tokenizer.encode("Ein Hund bellt.")     # ids, pieces, spans
    tokenizer.decode(pieces.ids)                     # "Ein Hund bellt."

A `Tokenizer` wraps one of the `tokenizers` library and is saved as that library's JSON file, which any
program that uses the library can read. `tokenizer_train` has the pipeline and why it loses nothing.
"""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random
from typing import Literal

import tokenizers

from regard.data.tokenizer_sample import Sampler, sampler_of
from regard.data.tokenizer_train import BYTES, SPECIAL, Size, Survey, learn
from regard.data.words import Span, has_unspaced, owners, words_of
from regard.errors import BrokenData, ModelError, UsageError

PAD, START, END, UNKNOWN = range(4)
MASK = "[MASK]"  # how people write a hidden piece
SOURCE_FILE, TARGET_FILE = "source.tokenizer.json", "target.tokenizer.json"  # in a model folder


@dataclass(frozen=True)
class Pieces:
    """A line cut into pieces: the spans lie side by side and cover the line.

    Where a character is spelled in several bytes, the first of them has its span and the others an empty one
    (in `Tokenizer.read` the last has it). The space that is put before a line has no span of its own either.
    """

    text: str
    ids: tuple[int, ...]
    spans: tuple[Span, ...]

    @property
    def pieces(self) -> tuple[str, ...]:
        """What each piece covers of the raw line."""
        return tuple(self.text[start:end] for start, end in self.spans)

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """Raw text to pieces and back. Ids 0 to 3 are `<pad>`, `<s>`, `</s>` and `<unk>`."""

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        # "</s>" in a line is text like any other, never the end of a sentence.
        backend.encode_special_tokens = True
        self.backend = backend
        self.name = "the tokenizer"  # in errors
        self.kind = _kind(backend)
        self._has_space = backend.normalizer is not None or self.kind == "spaced"
        self.by_line = True  # whether text of many lines is cut a line at a time
        self._texts = _texts(backend, self.kind)
        self._lengths = [sum(byte & 0xC0 != 0x80 for byte in text) for text in self._texts]
        self._sampler: Sampler | None = None

    @classmethod
    def train(cls, lines: Iterable[str], *, kind: str = "auto", size: Size = "auto", mask: bool = False) -> Tokenizer:
        """Learn a tokenizer from raw lines (from an even sample where there are more than half a million).

        `auto` takes, in this order: `words` for a closed vocabulary (at most 500 different words, each seen
        20 times on average: toy tasks, notations); `characters` where at least a fifth of what is written are
        digits (dates, numbers, codes); otherwise `bpe`.

        The size of `bpe` and `unigram` grows with the text: 8000 x (characters / 4 million) ^ 0.4, between
        600 and 32,000. `characters` takes all it sees. `words` takes what stands between spaces when the
        vocabulary is closed; otherwise it parts words from punctuation, and keeps the 30,000 most frequent
        seen twice or more. `spaced`, for text that is cut already, takes all that stands between spaces, and reads
        `<unk>` as a word that is unknown. A size counts all pieces, the four special ones and the 256 bytes included.
        With `mask` there is one more, the last: `[MASK]`, which stands for a hidden piece, and which no line becomes.
        """
        backend = learn(Survey.of(lines), kind, size if isinstance(size, str) else size - mask)
        if mask:
            backend.add_special_tokens([MASK])
        return cls(backend)

    @property
    def mask(self) -> int | None:
        """The piece that stands for a hidden one, where there is one."""
        found: int | None = self.backend.token_to_id(MASK)
        return found

    @cached_property
    def begins_word(self) -> list[bool]:
        """Of each piece, whether a word begins with it: after a space, or in a script that has none."""
        letters = [text.decode("utf-8", "replace") for text in self._texts]
        special = {UNKNOWN, self.mask}
        return [text[:1] == " " or has_unspaced(text) or place in special for place, text in enumerate(letters)]

    def __len__(self) -> int:
        """How many pieces there are."""
        return len(self._texts)

    def encode(self, line: str, *, sample: float = 0.0, random: Random | None = None) -> Pieces:
        """Cut a line into pieces; with `sample`, at random as `encode_ids` says."""
        (ids,) = self.encode_ids([line], sample=sample, random=random)
        return self._placed(line, ids)

    def encode_batch(self, lines: Sequence[str]) -> list[Pieces]:
        """Cut many lines into pieces."""
        return [self._placed(line, ids) for line, ids in zip(lines, self.encode_ids(lines), strict=True)]

    def encode_ids(self, lines: Sequence[str], *, sample: float = 0.0, random: Random | None = None) -> list[list[int]]:
        """The ids alone, of many lines: the fast way.

        `sample` cuts words at random, so that a model sees many spellings of a word in training: for `bpe` it
        is the share of merges left out (BPE-dropout, Provilkov et al. 2020), for `unigram` the share of words
        that are cut anew, drawn in proportion to probability ^ 0.2 (Kudo 2018). `random` decides: the same
        state of it gives the same pieces. `characters` and `words` have one way only.
        """
        if not 0.0 <= sample <= 1.0:
            raise UsageError(f"sample is a share between 0 and 1; found {sample}.")
        try:
            with no_panic(self.name):
                if sample and self.kind in ("bpe", "unigram"):
                    return self._sampled(lines, sample, random or Random(0))
                return [found.ids for found in self.backend.encode_batch_fast(list(lines))]
        except (UnicodeEncodeError, TypeError) as error:
            raise _not_text(lines) from error

    def encode_rest(self, text: str) -> list[int]:
        """The ids of a text that goes on within a line, so that no space is put before it."""
        cut = self.backend.pre_tokenizer
        with no_panic(self.name):
            chunks = [text] if cut is None else [chunk for chunk, _ in cut.pre_tokenize_str(text)]
            return [piece.id for chunk in chunks if chunk for piece in self.backend.model.tokenize(chunk)]

    def decode(self, ids: Iterable[int]) -> str:
        """Plain text again. Padding, start and end say nothing; `<unk>` stands for what was unknown."""
        text = b"".join(self._texts[piece] for piece in ids).decode("utf-8", "replace")
        return text[1:] if self._has_space and text.startswith(" ") else text

    def said(self, piece: int) -> str:
        """What one piece says; of half a character, a sign for what cannot be read."""
        return self._texts[piece].decode("utf-8", "replace")

    def read(self, ids: Sequence[int]) -> Pieces:
        """The text of any ids, such as a model's output, with the place of each of them in it."""
        decoder = getincrementaldecoder("utf-8")("replace")  # a model may say half a character
        said = [decoder.decode(self._texts[piece]) for piece in ids]
        said[-1:] = [text + decoder.decode(b"", True) for text in said[-1:]]
        text = "".join(said)
        before = 1 if self._has_space and text.startswith(" ") else 0
        return Pieces(text[before:], tuple(ids), _spans(map(len, said), before))

    def words(self, line: str | Pieces, spaced: bool | None = None) -> list[Span]:
        """Where the words of a line stand: those of `line.split()`; pieces where a script has no spaces.

        `spaced` says whether spaces part words where `words.is_spaced` is not to decide.
        """
        found = self.encode(line) if isinstance(line, str) else line
        return words_of(found.text, found.spans, spaced)

    def piece_to_word(self, line: str | Pieces, words: Sequence[Span] | None = None) -> list[int]:
        """The word that each piece belongs to; white space belongs to the word after it."""
        found = self.encode(line) if isinstance(line, str) else line
        return owners(found.text, found.spans, words or words_of(found.text, found.spans))

    def save(self, path: str | Path) -> None:
        """Write one JSON file of the `tokenizers` library; a crash leaves the old file or the new one."""
        path = Path(path)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        draft.write_text(self.backend.to_str(pretty=True), encoding="utf-8")
        draft.replace(path)

    @classmethod
    def load(cls, path: str | Path) -> Tokenizer:
        """Read a file that `save` wrote."""
        path = Path(path)
        if not path.is_file():
            raise ModelError(f"{path}: a tokenizer's JSON file was expected here; there is none.")
        try:
            with no_panic(str(path)):
                backend = tokenizers.Tokenizer.from_file(str(path))
        except ModelError:
            raise
        except Exception as error:  # the library raises nothing more exact
            raise ModelError(f"{path}: a tokenizer's JSON file was expected; {error}.") from error
        found = [backend.id_to_token(place) for place in range(len(SPECIAL))]
        if found != list(SPECIAL):
            raise ModelError(f"{path}: pieces 0 to 3 of a tokenizer are {', '.join(SPECIAL)}; found {found}.")
        if sorted(backend.get_vocab().values()) != list(range(backend.get_vocab_size())):
            raise ModelError(f"{path}: expected pieces numbered from 0 up, each once; some numbers are left out.")
        from regard.data.tokenizer_imported import ImportedTokenizer, is_imported  # which are tokenizers themselves

        tokenizer = ImportedTokenizer(backend) if is_imported(backend) else cls(backend)
        tokenizer.name = str(path)
        return tokenizer

    def _sampled(self, lines: Sequence[str], sample: float, random: Random) -> list[list[int]]:
        if self._sampler is None:
            self._sampler = sampler_of(self.backend)
        draw = self._sampler.draw
        chunked = map(self._chunks, lines)
        return [[piece for chunk in chunks for piece in draw(chunk, sample, random)] for chunks in chunked]

    def _chunks(self, line: str) -> list[str]:
        if not line:  # no space is put before nothing
            return []
        with no_panic(self.name):
            chunks = self.backend.pre_tokenizer.pre_tokenize_str(f" {line}")
        return [chunk for chunk, _ in chunks]

    def _placed(self, line: str, ids: Sequence[int]) -> Pieces:
        if self.kind == "spaced":  # space between belongs to the word after it
            ends = [end for _, (_, end) in self.backend.pre_tokenizer.pre_tokenize_str(line)]
            return Pieces(line, tuple(ids), tuple(pairwise((0, *ends))))
        if self.kind == "words":  # each chunk is a piece, known or not
            lengths = [len(chunk) for chunk in self._chunks(line)]
        else:
            lengths = [self._lengths[piece] for piece in ids]
        return Pieces(line, tuple(ids), _spans(lengths, before=1 if self._has_space else 0))


@contextmanager
def no_panic(name: str) -> Iterator[None]:
    """Turn a panic of the library into an error: it is no `Exception`, so that it would end the program untold.

    It panics where a pattern of the file tries too many ways to match a line, or a table of it is broken.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ModelError(
            f"{name} cannot be used: its patterns or tables make the library that reads it fail ({error}).",
            hint="It was not written by Regard, or is broken: copy the model folder again, whole.",
        ) from error


def _spans(lengths: Iterable[int], before: int) -> tuple[Span, ...]:
    """Spans side by side, when the first `before` characters are none of the line's."""
    ends = [max(0, end - before) for end in accumulate(lengths)]
    return tuple(zip([0, *ends], ends, strict=False))


def train_pair(
    source: Iterable[str],
    target: Iterable[str],
    *,
    joint: bool | Literal["auto"] = "auto",
    kind: str = "auto",
    size: Size = "auto",
    target_size: Size | None = None,
) -> tuple[Tokenizer, Tokenizer]:
    """Learn the tokenizers of both sides: one for both (`joint`), or one each.

    `auto` takes one for both where both are subwords and at least nine in ten of the characters on either
    side are also used on the other (German and English, but not Russian and English). Where each side has its
    own, `target_size` may differ from `size`.
    """
    ours, theirs = Survey.of(source), Survey.of(target)
    if joint == "auto":
        joint = _are_alike(ours, theirs, kind)
    if not joint:
        return Tokenizer(learn(ours, kind, size)), Tokenizer(learn(theirs, kind, target_size or size))
    both = Tokenizer(learn(ours.joined(theirs), kind, size))
    return both, both


def _are_alike(ours: Survey, theirs: Survey, kind: str) -> bool:
    kinds = {kind} if kind != "auto" else {ours.kind(), theirs.kind()}
    if not kinds <= {"bpe", "unigram"}:
        return False
    one, other = ours.alphabet(), theirs.alphabet()
    shared = one.keys() & other.keys()
    return all(sum(side[letter] for letter in shared) >= 0.9 * side.total() for side in (one, other))


def _not_text(lines: Sequence[str]) -> BrokenData:
    """The error for lines that are no text, naming the first of them."""
    for number, line in enumerate(lines, 1):
        try:
            line.encode()
        except UnicodeEncodeError as error:
            half = line[error.start]
            return BrokenData(
                f"line {number}, character {error.start + 1}: half a character (a lone surrogate, {half!r}).",
                hint="Read the file as UTF-8, with errors='strict' or 'replace'.",
            )
    return BrokenData("lines to encode are text; at least one of these is something else.")


def _kind(backend: tokenizers.Tokenizer) -> str:
    """`bpe`, `unigram`, `characters`, `words` or `spaced`: told from the library's model."""
    if isinstance(backend.model, tokenizers.models.BPE):
        return "characters" if backend.normalizer is None else "bpe"
    if isinstance(backend.model, tokenizers.models.Unigram):
        return "unigram"
    return "words" if backend.normalizer is not None else "spaced"


def _texts(backend: tokenizers.Tokenizer, kind: str) -> list[bytes]:
    """What each piece says, as bytes: the special pieces nothing, `<unk>` its own name."""
    texts = [b""] * backend.get_vocab_size()
    for piece, place in backend.get_vocab().items():
        texts[place] = (f" {piece}" if kind == "spaced" and piece != "\n" else piece).encode("utf-8")
    texts[PAD] = texts[START] = texts[END] = b""
    if kind not in ("words", "spaced"):
        first = len(SPECIAL)
        texts[first : first + len(BYTES)] = [bytes([byte]) for byte in range(256)]
    return texts
