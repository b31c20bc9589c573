"""OpenAI's interface, for programs that speak nothing else: models, chat and completions, whole or as a stream.

A translator answers the last message of the user; a captioner its last image, given as a data URI; a language model
goes on from all messages, a line each. Written from what its clients send and await. What would change an answer and
is not done here (tools, penalties, probabilities of tokens) is refused.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from time import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from regard.errors import RegardError
from regard.search import Options
from regard.serve import images
from regard.serve.desk import Desk, desk_of
from regard.serve.given import body_of, check_text, checked, json_of
from regard.serve.openai_messages import ChatIn, ChatOut, CompletionIn, CompletionOut, Failure, Model, Models, Shared
from regard.serve.refused import OPENAI, Refused
from regard.serve.stream import EVENTS, written
from regard.serve.tasks import Asked, Cell, Served, drawing
from regard.serve.texts import BEAM, Plain, Wanted, translate

TRANSLATED, WRITTEN = 200, 100  # pieces of an answer where none are named: of a translation, of other texts
MOST = 1000  # pieces of an answer; who wants more is told that it ended for its length
WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 401, 404, 408, 413, 415, 429, 500, 503, 504)
}
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"content": {EVENTS: {}}, "description": "The answer, or its stream."}
}
router = APIRouter(prefix="/v1", responses=WRONG, tags=["OpenAI"])


@dataclass(frozen=True)
class Given:
    """What a model is to answer: a text or an image."""

    served: Served
    prompt: Any

    @property
    def text(self) -> str:
        """Of an image, nothing."""
        return self.prompt if isinstance(self.prompt, str) else ""


@dataclass(frozen=True)
class Wrote:
    """One text, and whether it came to its end."""

    text: str
    ended: bool = True
    tokens: int = 0

    @property
    def reason(self) -> str:
        """As the protocol says it."""
        return "stop" if self.ended else "length"

    def cut(self, stop: tuple[str, ...]) -> Wrote:
        """What is before the first of some texts."""
        places = [self.text.index(each) for each in stop if each in self.text]
        return Wrote(self.text[: min(places)], True, self.tokens) if places else self


@router.get("/models")
async def models(request: Request) -> Models:
    """The models that write text."""
    return Models(data=[Model(id=name) for name, entry in desk_of(request).shelf.entries.items() if entry.writes])


@router.get("/models/{name:path}")
async def model(request: Request, name: str) -> Model:
    """One model."""
    return Model(id=desk_of(request).shelf.find(name).name)


@router.post("/chat/completions", response_model=ChatOut, responses=STREAMED, openapi_extra=body_of(ChatIn, form=False))
async def chat(request: Request) -> Any:
    """Answer a conversation."""
    asked = checked(ChatIn, json_of(await request.body()))
    asked.check()
    desk = desk_of(request)
    given = await _said(desk, request, _served(desk, asked), asked)
    told = {"id": f"chatcmpl-{request.state.request_id}", "created": int(time()), "model": given.served.entry.name}
    if asked.stream:
        return await _streamed(desk, request, given, asked, told | {"object": "chat.completion.chunk"})
    found = await _answers(desk, request, given, asked)
    choices = [
        {"index": place, "message": {"role": "assistant", "content": each.text}, "finish_reason": each.reason}
        for place, each in enumerate(found)
    ]
    usage = await _usage([given], found)
    return told | {"object": "chat.completion", "choices": choices, "usage": usage}


@router.post(
    "/completions", response_model=CompletionOut, responses=STREAMED, openapi_extra=body_of(CompletionIn, form=False)
)
async def completions(request: Request) -> Any:
    """Go on from a text, or from each of several; of a translator, translate them."""
    asked = checked(CompletionIn, json_of(await request.body()))
    asked.check()
    desk = desk_of(request)
    served = _served(desk, asked)
    if served.entry.reads == "image":
        raise Refused(400, f"{served.entry.name} reads images: send them to /v1/chat/completions.", "model")
    prompts = [asked.prompt] if isinstance(asked.prompt, str) else asked.prompt
    desk.check_count(prompts)
    check_text(prompts, "prompt")
    given = [Given(served, prompt) for prompt in prompts]
    told = {"id": f"cmpl-{request.state.request_id}", "created": int(time()), "model": served.entry.name}
    told |= {"object": "text_completion"}
    if asked.stream:
        if len(given) != 1:
            raise Refused(400, "One prompt is streamed at a time.", "prompt")
        return await _streamed(desk, request, given[0], asked, told)
    found = [
        wrote
        for each in await asyncio.gather(*(_answers(desk, request, one, asked) for one in given))
        for wrote in each
    ]
    choices = [{"index": place, "text": each.text, "finish_reason": each.reason} for place, each in enumerate(found)]
    return told | {"choices": choices, "usage": await _usage(given, found)}


def _served(desk: Desk, asked: Shared) -> Served:
    entry = desk.shelf.find(asked.model)
    if not entry.writes and not entry.problem:
        raise Refused(400, f"{entry.name} writes no text; it was made to {entry.verb}.", "model")
    return desk.served(entry.name)


async def _said(desk: Desk, request: Request, served: Served, asked: ChatIn) -> Given:
    """What the model is to answer, of a conversation."""
    if served.entry.reads == "nothing":
        return Given(served, _checked("\n".join(each.text for each in asked.messages)))
    last = next((each for each in reversed(asked.messages) if each.role == "user"), None)
    if last is None:
        raise Refused(400, "Expected a message of the user; found none.", "messages")
    if served.entry.reads != "image":
        if last.images:
            raise Refused(400, f"{served.entry.name} reads text, and no images.", "messages")
        return Given(served, _checked(last.text))
    if len(last.images) != 1:
        raise Refused(400, f"{served.entry.name} answers one image: expected one image_url.", "messages")
    pixels = await asyncio.to_thread(images.from_uri, last.images[0], partial(desk.image, request))
    return Given(served, pixels)


def _checked(text: str) -> str:
    check_text([text], "messages")
    return text


def _asked(served: Served, asked: Shared) -> Asked:
    """How the model is asked: a language model draws, unless the temperature is 0; others search for the likeliest."""
    length = min(asked.length or (TRANSLATED if served.entry.translates else WRITTEN), MOST)
    if served.entry.reads != "nothing":
        return Asked(Options(max(BEAM, asked.n), asked.n, max_length=length), record=False)
    temperature = 1.0 if asked.temperature is None else asked.temperature
    top = 1.0 if asked.top_p is None else asked.top_p
    if temperature == 0 or top == 0:
        if asked.n > 1:
            raise Refused(400, "Several texts are drawn: that takes a temperature above 0.", "n")
        return Asked(Options(1, max_length=length), record=False, stop=asked.stops)
    sampling = drawing(temperature, 0, top, asked.n, asked.seed)
    return Asked(Options(max_length=length, sampling=sampling), record=False, stop=asked.stops)


async def _answers(desk: Desk, request: Request, given: Given, asked: Shared) -> list[Wrote]:
    """The texts that a model writes, best first."""
    served, options = given.served, _asked(given.served, asked)
    desk.charge(request, [given.text], OPENAI)
    if served.entry.translates:
        (said,) = await translate(
            desk, served, [given.prompt], Wanted(alternatives=asked.n - 1, length=options.options.max_length)
        )
        lines = [outputs for _, outputs in said.lines if outputs]
        whole = all(len(outputs[0].ids) < options.options.max_length for outputs in lines)
        count = sum(len(outputs[0].ids) for outputs in lines)
        return [Wrote(text, whole, count).cut(asked.stops) for text in (said.text, *said.alternatives)]
    (found,) = await desk.batches.ask([Cell(given.prompt)], options, served.work)
    if served.entry.reads == "nothing":
        return [Wrote(each.continuation, each.ended, len(each.pieces)) for each in found]
    ended = options.options.max_length
    return [Wrote(each.text, len(each.ids) < ended, len(each.ids)).cut(asked.stops) for each in found]


async def _usage(given: list[Given], found: list[Wrote]) -> dict[str, int]:
    """Pieces that were read and written."""
    read = sum([await asyncio.to_thread(each.served.pieces_if_open, each.text) for each in given])
    wrote = sum(each.tokens for each in found)
    return {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}


# --- streams -----------------------------------------------------------------------------------------------------


async def _streamed(
    desk: Desk, request: Request, given: Given, asked: ChatIn | CompletionIn, told: dict[str, Any]
) -> StreamingResponse:
    """The answer as it is written. What is wrong with the request is told by a status: the first text is awaited."""
    if asked.n > 1:
        raise Refused(400, "One text is streamed at a time.", "n")
    desk.charge(request, [given.text], OPENAI)
    texts = _texts(desk, given, asked) if given.served.entry.reads != "image" else _whole(desk, request, given, asked)
    first = await anext(texts)
    chunks = _chunks(first, texts, given, asked, told)
    return StreamingResponse(chunks, media_type=EVENTS, headers={"cache-control": "no-store"})


async def _whole(desk: Desk, request: Request, given: Given, asked: Shared) -> AsyncIterator[Wrote]:
    """An answer that is not told piece by piece."""
    (found,) = await _answers(desk, request, given, asked)
    yield found
    yield Wrote("", found.ended, found.tokens)


async def _texts(desk: Desk, given: Given, asked: Shared) -> AsyncIterator[Wrote]:
    """What is written, bit by bit, and last an empty text that says how it ended. A translation line by line."""
    served, options = given.served, _asked(given.served, asked)
    options = Asked(
        Options(1, max_length=options.options.max_length, sampling=options.options.sampling), False, options.stop
    )
    parts = Plain(given.prompt).parts if served.entry.translates else [given.prompt]
    held, tokens, ended = Held(asked.stops if served.entry.translates else ()), 0, True
    for part in parts:
        if not part.strip() and served.entry.translates:
            yield Wrote(held.more(part))
            continue
        text = ""
        async for kind, told in written(desk, served, part, options):
            if kind == "piece":
                tokens += 1
                said = told["text"].rstrip("\ufffd")  # half a character, of which the other half may come
            elif kind == "answer":
                said = told["text"][len(part) :] if not served.entry.translates else told["text"]
                ended = ended and len(told.get("ids", ())) < options.options.max_length
            else:
                continue
            if said.startswith(text):
                yield Wrote(held.more(said[len(text) :]))
                text = said
            if held.stopped:
                yield Wrote("", True, tokens)
                return
        if not served.entry.translates:
            tokens = served.pieces_if_open(text)
            ended = tokens < options.options.max_length
    yield Wrote(held.rest())
    yield Wrote("", ended, tokens)


class Held:
    """Lets text through up to the first of some texts; what may be the beginning of one is held back."""

    def __init__(self, stop: tuple[str, ...]) -> None:
        self.stop, self.text, self.stopped = stop, "", False
        self.keep = max(map(len, stop), default=1) - 1

    def more(self, text: str) -> str:
        """What can be told now."""
        if self.stopped:
            return ""
        self.text += text
        places = [self.text.index(each) for each in self.stop if each in self.text]
        self.stopped = bool(places)
        end = min(places) if places else max(0, len(self.text) - self.keep)
        told, self.text = self.text[:end], self.text[end:]
        return told

    def rest(self) -> str:
        """What was held back, at the end."""
        return "" if self.stopped else self.text


async def _chunks(
    first: Wrote, texts: AsyncIterator[Wrote], given: Given, asked: ChatIn | CompletionIn, told: dict[str, Any]
) -> AsyncIterator[str]:
    talks = isinstance(asked, ChatIn)
    if talks:
        yield _line(told | {"choices": [_choice(True, "", None, {"role": "assistant", "content": ""})]})
    wrote = first
    try:
        if first.text:
            yield _line(told | {"choices": [_choice(talks, first.text)]})
        async for wrote in texts:
            if wrote.text:
                yield _line(told | {"choices": [_choice(talks, wrote.text)]})
    except (Refused, RegardError) as error:
        problem = error if isinstance(error, Refused) else Refused(400, str(error))
        yield _line(OPENAI.shape(problem, ""))
        return
    yield _line(told | {"choices": [_choice(talks, "", wrote.reason, {})]})
    if asked.stream_options is not None and asked.stream_options.include_usage:
        yield _line(told | {"choices": [], "usage": await _usage([given], [wrote])})
    yield "data: [DONE]\n\n"


def _choice(talks: bool, text: str, reason: str | None = None, delta: dict[str, str] | None = None) -> dict[str, Any]:
    if not talks:
        return {"index": 0, "text": text, "finish_reason": reason, "logprobs": None}
    return {"index": 0, "delta": {"content": text} if delta is None else delta, "finish_reason": reason}


def _line(told: Any) -> str:
    return f"data: {json.dumps(told, ensure_ascii=False)}\n\n"
