"""What is wanted of labelled data: what is read, what is wanted for it, and which columns hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from regard.data.plain.wanted import is_plain
from regard.errors import UnknownName, UsageError

READS = ("text", "image")
WANTS = ("text", "label", "tags", "mask", "nothing", "class")
_MANY = {"text": "captions", "label": "labels", "tags": "tags", "mask": "masks", "class": "classes"}
# What is read where images are wanted: a label, or nothing.
MAKES = ("label", "nothing")
# What labelled data is, first what is read; two texts are languages, and no labelled data.
# A class is a label of which no other split has any.
SIDES = (
    ("text", "label"),
    ("text", "tags"),
    ("image", "label"),
    ("image", "text"),
    ("image", "mask"),
    ("image", "class"),
    ("image", "nothing"),
)
HINT = 'Say which they are: --text COLUMN --label COLUMN (in Python text="...", label="..."); a number counts columns.'


class Kind(TypedDict, total=False):
    """What `Corpus.open` and `check` take beside languages: the two sides, and the columns that hold them."""

    reads: str  # text (default), image; nothing, of plain text; of images that are to be made a label or nothing
    wants: (
        str  # text (default; of an image its caption), label, tags, class, image; nothing, of plain text that is read
    )
    text: str | None  # the column of texts, words or images
    label: str | None  # the column of labels, tags or captions


@dataclass(frozen=True)
class Columns:
    """The columns to read, by name or by number from 1, where their names do not say what they are."""

    text: str | None = None
    label: str | None = None


BY_NAME = Columns()  # the names of the columns tell


@dataclass(frozen=True)
class Wanted:
    """The two sides of a labelled corpus and the columns asked for."""

    source: str = "text"
    target: str = "label"
    columns: Columns = BY_NAME
    apart: bool = False  # whole classes are held out: no split has one of another

    def __post_init__(self) -> None:
        if self.source not in READS:
            raise UnknownName("side to read", self.source, READS)
        wants = WANTS[:-1] if self.source == "image" else WANTS[1:-2]
        if self.target not in wants:
            raise UnknownName("side of labelled data", self.target, wants)
        if self.source == "text" and self.target == "mask":
            raise UsageError("masks are of images; a text has none.", hint='Write reads="image" with masks.')
        if self.source == "image" and self.target == "tags":
            raise UsageError(
                "tags are given to the words of a text; an image has a label.", hint='Write wants="label" with images.'
            )


def is_labelled(source: str, target: str) -> bool:
    """Whether these sides of a corpus are those of labelled data, and no languages."""
    return (source, target) in SIDES


def is_generated(source: str, target: str) -> bool:
    """Whether these sides of a corpus are those of images that are to be made."""
    return target == "image" and source in MAKES


def rows_of(source: str, target: str) -> str:
    """What the rows of a corpus are called in messages."""
    if is_generated(source, target):
        return "images"
    if is_plain(source, target):
        return "lines of text"
    if not is_labelled(source, target):
        return "pairs of sentences"
    return f"{source}s with {_MANY[target]}" if target in _MANY else f"{source}s"


def is_for_labels(kind: Kind) -> bool:
    """Whether labelled data is asked for, and not pairs of texts; whatever else is asked for is refused."""
    unknown = set(kind) - set(Kind.__annotations__)
    if unknown:
        raise UnknownName("option of a corpus", min(unknown), Kind.__annotations__)
    reads, wants = kind.get("reads", "text"), kind.get("wants", "text")
    if reads not in READS:
        raise UnknownName("side to read", reads, READS)
    if wants not in WANTS:
        raise UnknownName("side to want", wants, WANTS)
    if (reads, wants) == ("text", "text") and (kind.get("text") or kind.get("label")):
        raise UsageError(
            'text -> text was asked for; labelled data has wants="label" or "tags".',
            hint='Write wants="label", or leave reads, text and label out: source= and target= name languages.',
        )
    return (reads, wants) != ("text", "text")


def columns_of(kind: Kind, source: str | None = None, target: str | None = None) -> Columns:
    """The columns asked for: by `text` and `label`, or where languages are named for pairs of texts.

    The names of the sides themselves (`--from text --to label`) ask for nothing.
    """
    text = kind.get("text") or (None if source in READS else source)
    return Columns(text, kind.get("label") or (None if target in WANTS else target))
