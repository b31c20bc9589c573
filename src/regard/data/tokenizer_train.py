"""Learning a tokenizer from lines: which kind, how many pieces, and the pipeline that loses nothing.

Every kind but `characters` and `spaced` works on chunks: a space belongs to the chunk after it, and one space is put
before the line, so that a word is the same piece at the start of a line and within. Nothing is normalised
away and no character is replaced, so the pieces put together are the line. What the vocabulary lacks is
spelled in bytes (`<0x00>` to `<0xFF>`, ids 4 to 259), except in `words`, where it is `<unk>`.

The same lines give the same file, to the byte, in every process: where the library's trainers go through a table in
an order that no seed fixes (the alphabet of `bpe`, all of `unigram`), the choice is made here.

A `<` is a chunk of its own: so the text `</s>` or `<0x41>` in a line can never become the piece of that name.

`spaced` is for text that others have cut already, with spaces (WikiText, Penn Treebank): its pieces are what
`text.split()` gives, and the line feed. There `<unk>` stands for a word that nobody knows, and is read as that.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import Any, Literal

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from regard.data.tokenizer_unigram import learn_unigram
from regard.data.words import UNSPACED, WHITESPACE
from regard.errors import BrokenData, UnknownName, UsageError

KINDS = ("auto", "unigram", "bpe", "characters", "words", "spaced")
Size = int | Literal["auto"]
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))

CLOSED = 500  # at most so many different words, each seen often, are a closed vocabulary
OFTEN = 20
DIGITS = 0.2  # from this share of digits on, lines are spelled rather than said
MOST_LINES = 500_000  # a tokenizer learns from a sample of at most so many lines
MOST_WORDS = 30_000
LONGEST_PIECE = 16  # characters; else a sentence without spaces that is seen often becomes one piece


@dataclass
class Survey:
    """What the choice of kind and size rests on, gathered in one pass; holds a sample of the lines."""

    lines: list[str] = field(default_factory=list)
    count: int = 0
    characters: int = 0
    digits: int = 0
    words: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, lines: Iterable[str]) -> Survey:
        """Read the lines once; keep all, or an even sample of half a million where there are more."""
        survey, random = cls(), Random(0)
        for line in lines:
            survey.count += 1
            survey.characters += len(line)
            if len(survey.lines) < MOST_LINES:
                survey.lines.append(line)
            elif (place := random.randrange(survey.count)) < MOST_LINES:
                survey.lines[place] = line
        for line in survey.lines:
            survey.words.update(line.split())
        survey.digits = sum(count * sum(map(str.isdigit, word)) for word, count in survey.words.items())
        if not survey.words:
            raise BrokenData(
                f"a tokenizer learns from text; {survey.count} lines were given and none has a word.",
                hint="Check that the training files are not empty.",
            )
        return survey

    def joined(self, other: Survey) -> Survey:
        """Both surveys as one."""
        return Survey(
            self.lines + other.lines,
            self.count + other.count,
            self.characters + other.characters,
            self.digits + other.digits,
            self.words + other.words,
        )

    @property
    def is_closed(self) -> bool:
        """Few different words, each seen often: a toy task, or a notation."""
        return len(self.words) <= CLOSED and self.words.total() >= OFTEN * len(self.words)

    def kind(self) -> str:
        """The kind that suits these lines (the rule is in `Tokenizer.train`)."""
        if self.is_closed:
            return "words"
        letters = sum(count * len(word) for word, count in self.words.items())
        return "characters" if self.digits >= DIGITS * letters else "bpe"

    def size(self) -> int:
        """Subwords that suit so much text: 8,000 for four million characters, growing slowly."""
        size: float = 8_000 * (self.characters / 4_000_000) ** 0.4
        return min(32_000, max(600, round(size / 100) * 100))

    def alphabet(self) -> Counter[str]:
        """Every character of the sample and how often it stands there."""
        return Counter(chain.from_iterable(self.lines))


def learn(survey: Survey, kind: str, size: Size) -> Tokenizer:
    """A tokenizer of the library, of this kind and size, learned from the lines of a survey."""
    if kind not in KINDS:
        raise UnknownName("kind of tokenizer", kind, KINDS)
    kind = survey.kind() if kind == "auto" else kind
    if size != "auto":
        _check_size(survey, kind, size)
    learner = {"bpe": _bpe, "unigram": _unigram, "characters": _characters, "words": _words, "spaced": _spaced}[kind]
    tokenizer = learner(survey, size)
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def _check_size(survey: Survey, kind: str, size: int) -> None:
    needed = len(SPECIAL) + 1
    if kind not in ("words", "spaced"):
        needed += len(BYTES)
    if kind == "unigram":  # its pieces always include every character
        needed += len(survey.alphabet())
    if size < needed:
        raise UsageError(
            f"a '{kind}' tokenizer of these lines has {needed} pieces or more; the size asked for is {size}.",
            hint=f"Write size={needed} or more, or leave the size out.",
        )


def _bpe(survey: Survey, size: Size) -> Tokenizer:
    room = (survey.size() if size == "auto" else size) - len(SPECIAL) - len(BYTES)
    seen = survey.alphabet() + Counter({" ": len(survey.lines)})  # one is put before each line
    alphabet = _ranked(seen)[: max(1, room // 2)]
    trainer = trainers.BpeTrainer(
        vocab_size=room,
        min_frequency=2,
        initial_alphabet=alphabet,  # chosen here: of characters seen equally often the library takes any
        limit_alphabet=len(alphabet),
        max_token_length=LONGEST_PIECE,
        show_progress=False,
    )
    learned = _train(_chunked(models.BPE(), CHUNKS), trainer, survey)
    pieces = sorted(learned["vocab"], key=learned["vocab"].__getitem__)
    merges = [(first, second) for first, second in learned["merges"]]
    model = models.BPE(_numbered(pieces), merges, unk_token=SPECIAL[3], byte_fallback=True)
    return _chunked(model, CHUNKS)


def _unigram(survey: Survey, size: Size) -> Tokenizer:
    total = max(survey.size(), 300 + 2 * len(survey.alphabet())) if size == "auto" else size
    pieces = learn_unigram(_counted(survey), total - len(SPECIAL) - len(BYTES), LONGEST_PIECE)
    lowest = min(score for _, score in pieces)
    fixed = [(piece, 0.0) for piece in SPECIAL] + [(piece, lowest) for piece in BYTES]
    return _chunked(models.Unigram(fixed + pieces, unk_id=3, byte_fallback=True), CHUNKS)


def _characters(survey: Survey, size: Size) -> Tokenizer:
    room = None if size == "auto" else size - len(SPECIAL) - len(BYTES)
    vocabulary = _numbered(_ranked(survey.alphabet())[:room])
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token=SPECIAL[3], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return tokenizer


def _words(survey: Survey, size: Size) -> Tokenizer:
    trainer = trainers.WordLevelTrainer(
        vocab_size=MOST_WORDS if size == "auto" else size,
        min_frequency=1 if survey.is_closed else 2,
        special_tokens=list(SPECIAL),
        show_progress=False,
    )
    chunks = WHOLE_WORDS if survey.is_closed else CHUNKS
    tokenizer = _chunked(models.WordLevel(unk_token=SPECIAL[3]), chunks)
    _train(tokenizer, trainer, survey)
    return tokenizer


def _spaced(survey: Survey, size: Size) -> Tokenizer:
    feeds = Counter({"\n": sum(line.count("\n") for line in survey.lines)})
    seen = {word: count for word, count in (survey.words + feeds).items() if word not in SPECIAL}
    words = _ranked(Counter(seen))[: None if size == "auto" else size - len(SPECIAL)]
    vocabulary = {piece: place for place, piece in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=SPECIAL[3]))
    steps = [(_BLANK, "removed"), ("\n", "isolated"), (_NAMES, "isolated")]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(cut), how) for cut, how in steps])
    return tokenizer


def _train(tokenizer: Tokenizer, trainer: trainers.Trainer, survey: Survey) -> dict[str, Any]:
    """Train, and give the learned model as the library writes it down."""
    tokenizer.train_from_iterator(survey.lines, trainer, len(survey.lines))
    model: dict[str, Any] = json.loads(tokenizer.to_str())["model"]
    return model


def _counted(survey: Survey) -> Counter[str]:
    """The chunks of the lines and how often each of them stands there."""
    cut = pre_tokenizers.Split(Regex(CHUNKS), "isolated").pre_tokenize_str
    return Counter(chunk for line in survey.lines if line for chunk, _ in cut(f" {line}"))


def _ranked(alphabet: Counter[str]) -> list[str]:
    """Characters or words, the most frequent first; equally frequent ones in the order of their code points."""
    return sorted(alphabet, key=lambda character: (-alphabet[character], character))


def _numbered(pieces: list[str]) -> dict[str, int]:
    return {piece: place for place, piece in enumerate((*SPECIAL, *BYTES, *pieces))}


def _chunked(model: models.Model, chunks: str) -> Tokenizer:
    """A tokenizer that puts a space before the line and cuts it into chunks, and takes both back."""
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Prepend(" ")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(chunks), "isolated")
    steps = [decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    return tokenizer


def _escaped(first: int, last: int) -> str:
    return rf"\x{{{first:x}}}-\x{{{last:x}}}"


_SPACE = "".join(_escaped(ord(space), ord(space)) for space in WHITESPACE)
_UNSPACED = "".join(_escaped(first, last) for first, last in UNSPACED)
_LETTER = rf"[[\p{{L}}\p{{M}}]&&[^{_UNSPACED}]]"
_SPACES = rf"[{_SPACE}]+(?![^{_SPACE}])|[{_SPACE}]+"  # all but the last, which may belong to what follows

_BLANK = rf"[[{_SPACE}]&&[^\n]]+"
_NAMES = "<(?=(?:pad|/?s)>)"  # the names of special pieces fall apart in a text; that of the unknown word does not

# Chunks of running text. Together the branches match every string, so that nothing falls between them.
CHUNKS = "|".join(
    (
        " ?<",
        rf" ?[{_UNSPACED}]+",
        rf" ?{_LETTER}+(?:['\x{{2019}}]{_LETTER}+)*",  # don't, l'accord
        r" ?\p{N}+",
        rf" ?[^<{_SPACE}{_UNSPACED}\p{{L}}\p{{M}}\p{{N}}]+",
        _SPACES,
    )
)
# Chunks of a closed vocabulary: what stands between spaces.
WHOLE_WORDS = rf" ?<| ?[^<{_SPACE}]+|{_SPACES}"
