"""The messages of our own interface, typed: what may be asked, and what is answered."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

FIELDS, PLACES = 100, 4096
WIDEST = 64  # outputs of a text that are followed at once
Name = Annotated[str, Field(max_length=200)]
Index = Annotated[int, Field(ge=0, lt=1 << 31)]


def _whole(text: str) -> str:
    """Refuse halves of characters: no model reads them, and no answer could hold them."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half a character at {error.start} (a lone surrogate)") from error
    return text


Text = Annotated[str, AfterValidator(_whole)]
Texts = Annotated[list[Text], Field(max_length=10_000)]  # a server's own limit is lower, and told in words
Share = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class Message(BaseModel):
    """What is sent: a name that is not known is refused, and not passed over."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few(cls, told: Any) -> Any:
        if isinstance(told, dict) and len(told) > FIELDS:  # each of them would be told to be unknown
            raise ValueError(f"expected at most {FIELDS} fields; found {len(told)}")
        return told


class PinIn(Message):
    """Where to look while the piece `step` is written: shares of positions of the source; the rest get none."""

    step: Index
    shares: Annotated[dict[Annotated[str, Field(pattern=r"^\d{1,6}$")], Share], Field(min_length=1, max_length=PLACES)]
    kind: Annotated[str, Field(pattern="^(cross|image|encoder-self|decoder-self)$")] | None = None
    layer: Index | None = None
    head: Index | None = None

    @field_validator("shares", mode="before")
    @classmethod
    def _some(cls, told: Any) -> Any:
        if isinstance(told, dict) and len(told) > PLACES:  # each would be looked at before they are counted
            raise ValueError(f"expected at most {PLACES} positions; found {len(told)}")
        return told


class OffIn(Message):
    """A head that is switched off; layers and heads are counted from 0."""

    kind: Annotated[str, Field(pattern="^(cross|image|encoder-self|decoder-self)$")] = "cross"
    layer: Index
    head: Index


class SamplingIn(Message):
    """Draw outputs, instead of searching for the likeliest: as many as `nbest`."""

    temperature: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] = 1.0
    top_k: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None


class Searching(Message):
    """Which model, and how its outputs are searched for.

    Without `model`, the first that reads `source` and writes `target` answers. `alpha` is the length penalty, the
    model's own where none is given; `prefix` is what an output begins with: a text, or ids of pieces.
    """

    model: Name | None = None
    source: Name | None = None
    target: Name | None = None
    beam: Annotated[int, Field(ge=1, le=WIDEST)] = 5
    nbest: Annotated[int, Field(ge=1, le=WIDEST)] = 1
    max_length: Annotated[int, Field(ge=1, le=1000)] = 200
    alpha: Annotated[float, Field(ge=0, le=10)] | None = None
    sampling: SamplingIn | None = None
    stop: Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=8)] = []


class AnswerIn(Searching):
    """Inputs and what is wanted of their answers.

    inputs: one or many: texts, or images as `data:image/png;base64,...`.
    prefix: what every output begins with.
    alignment, attention, figure: tell the alignment of words, every weight, the document that a page draws (of an
        image: the image as it was read).
    candidates: so many likeliest pieces in the place of each.
    pins, heads_off, tree: look elsewhere, without some heads; tell the tree of the search. Of one input at a time.
    """

    inputs: Text | Texts
    prefix: Annotated[str, Field(max_length=10_000)] | Annotated[list[Index], Field(max_length=1000)] = ""
    alignment: bool = True
    attention: bool = False
    figure: bool = False
    candidates: Annotated[int, Field(ge=0, le=50)] = 0
    pins: Annotated[list[PinIn], Field(max_length=1000)] = []
    heads_off: Annotated[list[OffIn], Field(max_length=1000)] = []
    tree: bool = False


class StreamIn(Message):
    """One text whose output is told piece by piece: the likeliest next piece each time, or a drawn one."""

    model: Name | None = None
    source: Name | None = None
    target: Name | None = None
    input: Text
    prefix: Annotated[str, Field(max_length=10_000)] | Annotated[list[Index], Field(max_length=1000)] = ""
    max_length: Annotated[int, Field(ge=1, le=1000)] = 200


class PairsIn(Message):
    """Pairs whose target is given: one or many, as many targets as sources."""

    model: Name | None = None
    source: Text | Texts
    target: Text | Texts


class LookIn(Message):
    """A text, and an output that is given, or else the model's own."""

    model: Name | None = None
    input: Text
    output: Text | None = None
    pins: Annotated[list[PinIn], Field(max_length=1000)] = []
    heads_off: Annotated[list[OffIn], Field(max_length=1000)] = []


class PageIn(Message):
    """Figures for a page of their own, and what its switches start with."""

    title: Annotated[str, Field(max_length=10_000)] = ""
    figures: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=8)]
    settings: Annotated[dict[str, str], Field(max_length=8)] = {}


class Side(BaseModel):
    """One end of a pair: pieces and words, the end included; the word of each piece; the characters of each word."""

    text: str
    pieces: list[str]
    ids: list[int]
    words: list[str]
    word: list[int]
    spans: list[tuple[int, int]]


class Aligned(BaseModel):
    """A row of `matrix` is a word of the target, a column one of the source; the last of each is the end."""

    kind: str
    source: list[str]
    target: list[str]
    matrix: list[list[float]]
    links: list[tuple[int, int]]
    pharaoh: str
    note: str


class Grid(BaseModel):
    """What each word looked at in an image: `weights` has rows of cells for each word."""

    rows: int
    columns: int
    weights: list[list[list[float]]]


class Candidate(BaseModel):
    """A piece that might have been written, and its probability there."""

    piece: str
    probability: float
    id: int | None = None


class Hole(BaseModel):
    """A hole, and what fills it, the likeliest first."""

    position: int
    candidates: list[Candidate]


class Answer(BaseModel):
    """One answer. Which fields are there depends on the model's task and on what was wanted."""

    model_config = ConfigDict(extra="forbid")

    text: str
    score: float | None = None
    likelihood: float | None = None
    pieces: list[str] | None = None
    ids: list[int] | None = None
    source: Side | None = None
    target: Side | None = None
    alignment: Aligned | None = None
    evidence: dict[str, float] | None = None
    attention: list[Any] | None = None
    figure: dict[str, Any] | None = None
    candidates: list[list[Candidate]] | None = None
    piece_likelihoods: list[float] | None = None
    path: list[int] | None = None
    words: list[str] | None = None
    looks: list[list[float]] | None = None
    grid: Grid | None = None
    masks: list[Grid] | None = None
    image: str | None = None
    boxes: list[list[float]] | None = None
    latex: str | None = None
    continuation: str | None = None
    ended: bool | None = None
    probability: float | None = None
    probabilities: dict[str, float] | None = None
    tags: list[str] | None = None
    tag_probabilities: list[float] | None = None
    filled: str | None = None
    holes: list[Hole] | None = None
    vector: list[float] | None = None


class Node(BaseModel):
    """A piece that a search wrote after the node `parent`; node 0 is the start."""

    parent: int
    piece: str
    id: int
    likelihood: float
    ended: bool


class AnswerOut(BaseModel):
    """For each input its answers, best first."""

    model: str
    task: str
    answers: list[list[Answer]]
    tree: list[Node] | None = None


class ScoreOut(BaseModel):
    """How likely each target is: its log-likelihood in nats; of a language model, of each word too."""

    model: str
    likelihoods: list[float]
    words: list[list[str]] | None = None
    word_likelihoods: list[list[float]] | None = None


class AlignOut(BaseModel):
    """How the words of each pair align."""

    model: str
    alignments: list[Aligned]


class LookOut(BaseModel):
    """All that was looked at, in every layer and head, as the document that a page draws (regard-figure-1)."""

    model: str
    text: str
    figure: dict[str, Any]


class Languages(BaseModel):
    """What a translator reads and writes."""

    source: str
    target: str


class Limits(BaseModel):
    """What one request may hold."""

    tokens: int
    texts: int
    bytes: int
    pixels: int


class ModelOut(BaseModel):
    """One model. `goal` is how it answers, `task` the verb that it was made for, `reads` what its inputs are.

    `problem` says why it cannot be asked here, where it cannot.
    """

    id: str
    task: str
    goal: str
    reads: str
    languages: Languages | None
    about: str
    loaded: bool
    can: list[str]
    limits: Limits
    problem: str | None = None


class CardOut(BaseModel):
    """What is written of a model; nothing of one without a folder."""

    model: str
    text: str


class ModelsOut(BaseModel):
    """All models."""

    models: list[ModelOut]


class Problem(BaseModel):
    """What was wrong: a code for programs, a message for people, the field, and the number of the request."""

    code: str
    message: str
    param: str | None
    request_id: str


class ErrorOut(BaseModel):
    """A request that was turned down."""

    error: Problem


class Health(BaseModel):
    """`ok`, or what is waited for."""

    status: str
