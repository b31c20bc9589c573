"""Our own interface: an answer of any task with what was looked at, given targets scored and aligned, the models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile

from regard.align.record import Record
from regard.engine.home import model_home
from regard.search import Options
from regard.serve import images, schema
from regard.serve.candidates import candidates
from regard.serve.desk import Desk, desk_of
from regard.serve.refused import Refused
from regard.serve.tasks import Asked, Cell, Steering, drawing, tokenizer_of
from regard.serve.told import Told, Wants, aligned, told
from regard.show.document import record_document
from regard.show.steer import Off, Pin, steer

WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": schema.ErrorOut} for status in (400, 401, 403, 404, 413, 422, 429, 503, 504)
}
router = APIRouter(prefix="/api/v1", responses=WRONG)


@router.get("/models", tags=["models"])
async def models(request: Request) -> schema.ModelsOut:
    """All models that are served."""
    desk = desk_of(request)
    return schema.ModelsOut(models=[_model(desk, name) for name in desk.shelf.entries])


@router.get("/models/{name}", tags=["models"])
async def model(request: Request, name: str) -> schema.ModelOut:
    """One model."""
    desk = desk_of(request)
    return _model(desk, desk.shelf.find(name).name)


@router.get("/models/{name}/card", tags=["models"])
async def card(request: Request, name: str) -> schema.CardOut:
    """The card of a model: what it was trained on, for what, how good it is."""
    entry = desk_of(request).shelf.find(name)
    try:
        text = "" if entry.folder is None else (model_home(entry.folder) / "README.md").read_text("utf-8", "replace")
    except OSError:  # it has none, or its folder is gone
        text = ""
    return schema.CardOut(model=entry.name, text=text)


@router.post("/answer", tags=["answers"], response_model=schema.AnswerOut, response_model_exclude_none=True)
async def answer(request: Request, asked: schema.AnswerIn) -> Any:
    """Answer one input or many: a translation, a caption, a class, a text that goes on ..., and what was looked at."""
    desk = desk_of(request)
    served = desk.served(asked.model, asked.source, asked.target)
    inputs = [asked.inputs] if isinstance(asked.inputs, str) else asked.inputs
    desk.check_count(inputs)
    given = await _read(desk, request, served.entry.reads, inputs)
    prefix = asked.prefix if isinstance(asked.prefix, str) else tuple(asked.prefix)
    return await _answered(desk, served, [Cell(each, prefix) for each in given], asked)


@router.post("/image", tags=["answers"], response_model=schema.AnswerOut, response_model_exclude_none=True)
async def image(
    request: Request,
    file: Annotated[UploadFile, File(description="An image: PNG, JPEG, WebP, GIF or BMP.")],
    model: Annotated[str | None, Form(max_length=200)] = None,
    beam: Annotated[int, Form(ge=1, le=schema.WIDEST)] = 5,
    nbest: Annotated[int, Form(ge=1, le=schema.WIDEST)] = 1,
) -> Any:
    """Answer an image that is sent as a file."""
    desk = desk_of(request)
    entry = desk.shelf.find(model, lambda entry: entry.reads == "image" and not entry.problem)
    served = desk.served(entry.name)
    if entry.reads != "image":
        raise Refused(400, f"{entry.name} reads {entry.reads}, and no images.", "model")
    pixels = await asyncio.to_thread(images.from_bytes, await file.read(), partial(desk.image, request))
    asked = schema.AnswerIn(inputs="", model=entry.name, beam=beam, nbest=nbest)
    return await _answered(desk, served, [Cell(pixels)], asked)


@router.post("/score", tags=["given outputs"], response_model_exclude_none=True)
async def score(request: Request, asked: schema.PairsIn) -> schema.ScoreOut:
    """How likely given targets are, of models that write; of a language model, how likely the targets alone."""
    desk = desk_of(request)
    served, sources, targets = _pairs(desk, asked)

    def work() -> schema.ScoreOut:
        for text in (*sources, *targets):
            served.check_length(text)
        if served.entry.reads == "nothing":
            found = served.model.score(list(targets))
            words = [list(each.words) for each in found]
            each = [list(each.word_likelihoods) for each in found]
            likelihoods = [each.likelihood for each in found]
            return schema.ScoreOut(model=served.entry.name, likelihoods=likelihoods, words=words, word_likelihoods=each)
        return schema.ScoreOut(model=served.entry.name, likelihoods=served.model.score(sources, targets))

    return await desk.alone(request, work)


@router.post("/align", tags=["given outputs"])
async def align(request: Request, asked: schema.PairsIn) -> schema.AlignOut:
    """How the words of given pairs align."""
    desk = desk_of(request)
    served, sources, targets = _pairs(desk, asked)
    if not served.entry.translates:
        raise Refused(400, f"{served.entry.name} does not translate, so it aligns no words.", "model")

    def work() -> schema.AlignOut:
        for text in (*sources, *targets):
            served.check_length(text)
        found = [aligned(each)["alignment"] for each in served.model.align(sources, targets)]
        return schema.AlignOut(model=served.entry.name, alignments=found)

    return await desk.alone(request, work)


@router.post("/look", tags=["given outputs"])
async def look(request: Request, asked: schema.LookIn) -> schema.LookOut:
    """All that was looked at while an output is written, the model's own or a given one: every layer and head."""
    desk = desk_of(request)
    served = desk.served(asked.model)
    if served.entry.reads == "image":
        raise Refused(400, f"{served.entry.name} reads images: ask for `attention` of an answer.", "model")

    def work() -> schema.LookOut:
        served.check_length(asked.input)
        served.check_length(asked.output or "")
        model = served.model
        if not hasattr(model, "look"):
            raise Refused(400, f"{served.entry.name} does not tell what it looks at.", "model")
        given = () if asked.output is None or not served.entry.translates else (asked.output,)
        with steer(model.model, _pins(asked.pins), _off(asked.heads_off)):
            found = model.look(asked.input, *given)
        record = getattr(found, "record", found)
        if isinstance(record, Record):
            text = record.target.text or record.source.text
            return schema.LookOut(model=served.entry.name, text=text, figure=record_document(record))
        figure = told(found, Wants(figure=True)).get("figure")
        if figure is None:
            raise Refused(400, f"{served.entry.name} looks at nothing.", "model")
        return schema.LookOut(model=served.entry.name, text=found.text, figure=figure)

    return await desk.alone(request, work)


async def _answered(desk: Desk, served: Any, cells: Sequence[Cell], asked: schema.AnswerIn) -> Told:
    """As the request wants it: with others, or steered and alone."""
    wants = Wants(asked.alignment, asked.attention, asked.figure)
    steering = Steering(_pins(asked.pins), _off(asked.heads_off), asked.tree)
    each = Asked(_options(asked), wants.record, tuple(asked.stop))
    found: Told = {"model": served.entry.name, "task": served.entry.verb}
    if steering:
        if len(cells) != 1:
            raise Refused(400, "pins, heads_off and tree go with one input.", "inputs")
        done = await desk.batches.alone(lambda: _steered(served, cells[0], each, steering, asked, wants))
        return found | done
    answers = await desk.batches.ask(cells, each, served.work)
    if not (wants.record or asked.candidates):
        return found | {"answers": [[told(one, wants) for one in many] for many in answers]}
    return found | {"answers": await desk.batches.alone(lambda: _all_told(served, cells, answers, asked, wants))}


def _steered(served: Any, cell: Cell, each: Asked, steering: Steering, asked: schema.AnswerIn, wants: Wants) -> Told:
    done = served.steered(cell, each, steering)
    with steer(served.model.model, steering.pins, steering.off):  # what is looked at again, is looked at so
        found: Told = {"answers": _all_told(served, [cell], [done.answers], asked, wants)}
    if done.tree is None:
        return found
    for one, answer in zip(found["answers"][0], done.answers, strict=True):
        one["path"] = done.tree.path(tuple(answer.ids))
    said = tokenizer_of(served.model).said
    nodes = [
        {"parent": node.parent, "piece": said(node.piece) if node.piece >= 0 else "", "id": node.piece}
        | {"likelihood": node.likelihood, "ended": node.ended}
        for node in done.tree.nodes
    ]
    return found | {"tree": nodes}


def _all_told(served: Any, cells: Sequence[Cell], answers: Any, asked: schema.AnswerIn, wants: Wants) -> list[Any]:
    found = [[told(one, wants) for one in many] for many in answers]
    if asked.candidates:
        for cell, many, ours in zip(cells, found, answers, strict=True):
            for one, answer in zip(many, ours, strict=True):
                one |= candidates(served, cell, answer, asked.candidates)
    return found


async def _read(desk: Desk, request: Request, reads: str, inputs: list[str]) -> list[Any]:
    """The inputs as the model takes them."""
    if reads != "image":
        return inputs
    hold = partial(desk.image, request)
    return [await asyncio.to_thread(images.from_uri, each, hold) for each in inputs]


def _pairs(desk: Desk, asked: schema.PairsIn) -> tuple[Any, list[str], list[str]]:
    served = desk.served(asked.model)
    if not (served.entry.translates or (served.entry.goal, served.entry.reads) == ("write", "nothing")):
        raise Refused(400, f"{served.entry.name} does not write text for text.", "model")
    sources = [asked.source] if isinstance(asked.source, str) else asked.source
    targets = [asked.target] if isinstance(asked.target, str) else asked.target
    if len(sources) != len(targets):
        raise Refused(400, f"Expected as many targets as sources; found {len(targets)} and {len(sources)}.", "target")
    desk.check_count(sources)
    return served, sources, targets


def _options(asked: schema.Searching) -> Options:
    drawn = asked.sampling
    sampling = None
    if drawn is not None:
        sampling = drawing(drawn.temperature, drawn.top_k, drawn.top_p, asked.nbest, drawn.seed)
    beam = max(asked.beam, asked.nbest)
    return Options(beam, asked.nbest, asked.alpha, max_length=asked.max_length, sampling=sampling)


def _pins(pins: Sequence[schema.PinIn]) -> tuple[Pin, ...]:
    return tuple(
        Pin(each.step, {int(place): share for place, share in each.shares.items()}, each.kind, each.layer, each.head)
        for each in pins
    )


def _off(heads: Sequence[schema.OffIn]) -> tuple[Off, ...]:
    return tuple(Off(each.kind, each.layer, each.head) for each in heads)


def _model(desk: Desk, name: str) -> schema.ModelOut:
    entry, limits = desk.shelf.entries[name], desk.settings
    return schema.ModelOut(
        id=name,
        task=entry.verb,
        goal=entry.goal,
        reads=entry.reads,
        languages=entry.languages and schema.Languages(source=entry.languages[0], target=entry.languages[1]),
        about=entry.title,
        loaded=entry.model is not None,
        can=desk.abilities(entry),
        limits=schema.Limits(tokens=limits.length, texts=limits.texts, bytes=limits.body, pixels=limits.pixels),
        problem=entry.problem or None,
    )
