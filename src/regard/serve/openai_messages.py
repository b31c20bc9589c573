"""The messages of OpenAI's interface: what is read of them, and what is answered."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from regard.serve.given import Foreign, Texts
from regard.serve.refused import Refused

Stop = Annotated[str, Field(min_length=1, max_length=100)]
SILENT = ("tools", "functions", "logit_bias", "presence_penalty", "frequency_penalty", "logprobs", "echo", "suffix")


class Failure(BaseModel):
    """A request that was turned down."""

    class Problem(BaseModel):
        """What was wrong."""

        message: str
        type: str
        param: str | None
        code: str | None

    error: Problem


class StreamOptions(Foreign):
    """Whether the pieces are counted at the end of a stream."""

    include_usage: bool = False


class Shared(Foreign):
    """What chat and completions have in common."""

    model: Annotated[str, Field(max_length=200)]
    n: Annotated[int, Field(ge=1, le=20)] = 1
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] | None = None
    stop: Stop | Annotated[list[Stop], Field(max_length=8)] | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: Any = None
    functions: Any = None
    logit_bias: Any = None
    presence_penalty: Any = None
    frequency_penalty: Any = None
    logprobs: Any = None
    echo: Any = None
    suffix: Any = None

    @property
    def stops(self) -> tuple[str, ...]:
        """What ends a text."""
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())

    @property
    def length(self) -> int | None:
        """Pieces that are written at most."""
        return self.max_tokens

    def check(self) -> None:
        """Refuse what is asked and not done here."""
        for name in SILENT:
            if getattr(self, name):
                raise Refused(400, f"{name} is not supported by this server.", name, "unsupported_parameter")


class Address(Foreign):
    """Where an image is: in the address itself."""

    url: str


class Part(Foreign):
    """A part of a message: text or an image."""

    type: Literal["text", "image_url"]
    text: str = ""
    image_url: Address | None = None


class Message(Foreign):
    """What somebody said."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | Annotated[list[Part], Field(max_length=100)] | None = None

    @property
    def text(self) -> str:
        """Its text, of all parts."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")

    @property
    def images(self) -> list[str]:
        """Its images."""
        if self.content is None or isinstance(self.content, str):
            return []
        return [part.image_url.url for part in self.content if part.image_url is not None]


class Format(Foreign):
    """How the answer is to be written."""

    type: Literal["text"] = "text"


class ChatIn(Shared):
    """A conversation."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=1000)]
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: Format | None = None

    @property
    def length(self) -> int | None:
        """Under its newer name, or the older."""
        return self.max_completion_tokens or self.max_tokens


class CompletionIn(Shared):
    """Texts to go on from."""

    prompt: str | Texts = ""


class Usage(BaseModel):
    """Pieces that were read and written."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class Said(BaseModel):
    """What the model said."""

    role: Literal["assistant"] = "assistant"
    content: str


class ChatChoice(BaseModel):
    """One answer."""

    index: int
    message: Said
    finish_reason: Literal["stop", "length"]
    logprobs: None = None


class ChatOut(BaseModel):
    """The answers to a conversation."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage


class Choice(BaseModel):
    """One text."""

    index: int
    text: str
    finish_reason: Literal["stop", "length"]
    logprobs: None = None


class CompletionOut(BaseModel):
    """The texts that go on from prompts."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage


class Model(BaseModel):
    """A model."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "regard"


class Models(BaseModel):
    """All models."""

    object: Literal["list"] = "list"
    data: list[Model]
