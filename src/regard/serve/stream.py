"""Answers as they are written, as server-sent events. Each step takes its turn with what others asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from regard.align.record import tokenized
from regard.errors import RegardError
from regard.search import Options
from regard.serve import schema
from regard.serve.api import WRONG
from regard.serve.desk import Desk, desk_of
from regard.serve.refused import Refused
from regard.serve.tasks import Asked, Served, continuing, tokenizer_of
from regard.serve.told import Wants, told
from regard.translate.stream import Told, stream
from regard.translate.translator import Translation

EVENTS = "text/event-stream"
Event = tuple[str, dict[str, Any]]
router = APIRouter(prefix="/api/v1", responses=WRONG)


@router.post(
    "/stream",
    tags=["answers"],
    response_class=StreamingResponse,
    responses={200: {"content": {EVENTS: {}}, "description": "Server-sent events."}},
)
async def streamed(request: Request, asked: schema.StreamIn) -> StreamingResponse:
    """A text as it is written: the event `source` (its pieces, which rows are over), `piece` and `row` while it is
    written, `answer` at the end, `error` if it fails.

    A translation, or a text that goes on; greedily, since a beam knows its text only at its end.
    """
    desk = desk_of(request)
    served = desk.served(asked.model, asked.source, asked.target)
    prefix = asked.prefix if isinstance(asked.prefix, str) else tuple(asked.prefix)
    events = written(desk, served, asked.input, Asked(Options(1, max_length=asked.max_length)), prefix)
    first = await anext(events)  # what is wrong with the request is told by a status
    source = await desk.batches.alone(lambda: _source(served, asked.input))
    return StreamingResponse(_lines(source, first, events), media_type=EVENTS, headers={"cache-control": "no-store"})


async def written(
    desk: Desk, served: Served, text: str, asked: Asked, prefix: str | tuple[int, ...] = ""
) -> AsyncIterator[Event]:
    """What is told while a text is written, each step in its turn."""
    steps = await desk.batches.alone(lambda: _steps(served, text, asked, prefix))
    while (event := await desk.batches.alone(lambda: next(steps, None), check=False)) is not None:
        yield event


def _steps(served: Served, text: str, asked: Asked, prefix: str | tuple[int, ...]) -> Iterator[Event]:
    """In the thread of the models."""
    if not (served.entry.translates or (served.entry.goal, served.entry.reads) == ("write", "nothing")):
        raise Refused(400, f"{served.entry.name} does not write text step by step.", "model")
    served.check_length(text)
    served.counters.texts(served.entry.name, 1)
    if served.entry.reads == "nothing":
        return _continued(served, text, asked)
    if isinstance(prefix, str):
        prefix = tuple(tokenizer_of(served.model).encode(prefix).ids) if prefix else ()
    found = stream(served.model, text, max_length=asked.options.max_length, prefix=prefix)
    return map(_told, found)


def _source(served: Served, text: str) -> Event:
    """What rows are over: the pieces of the source and its end."""
    if served.entry.reads == "nothing":
        return "source", {"pieces": []}
    tokenizer = served.model.source
    return "source", {"pieces": list(tokenized(tokenizer, tokenizer.encode(text)).labels)}


def _told(found: Told | Translation) -> Event:
    if isinstance(found, Translation):
        return "answer", told(found, Wants())
    if found.row is not None:
        return "row", {"step": found.step, "weights": found.row.tolist()}
    return "piece", {"step": found.step, "piece": found.piece, "id": found.id, "text": found.text}


def _continued(served: Served, prompt: str, asked: Asked) -> Iterator[Event]:
    text = ""
    for step, piece in enumerate(served.model.stream(prompt, continuing(asked))):
        text += piece
        yield "piece", {"step": step, "piece": piece, "text": text}
    yield "answer", {"text": prompt + text, "continuation": text}


async def _lines(source: Event, first: Event, events: AsyncIterator[Event]) -> AsyncIterator[str]:
    yield line(source)
    yield line(first)
    try:
        async for event in events:
            yield line(event)
    except (Refused, RegardError) as error:
        yield line(("error", {"message": getattr(error, "message", str(error))}))


def line(event: Event) -> str:
    """One event as it is sent."""
    return f"event: {event[0]}\ndata: {json.dumps(event[1], ensure_ascii=False)}\n\n"
