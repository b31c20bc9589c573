"""LibreTranslate's interface, at the root: what its clients send and await; alignment, attention and scores if asked.

Written from what its clients do. A request may be JSON, a form, or in the query.
"""

from __future__ import annotations

import asyncio
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field, field_validator

from regard.serve import azure
from regard.serve.desk import Desk, desk_of
from regard.serve.files import KINDS
from regard.serve.given import Foreign, Sent, Texts, admit, body_of, checked, fields_of
from regard.serve.languages import Meant, codes_of, language_name, meant
from regard.serve.refused import AZURE, LIBRETRANSLATE, Refused, protocol_of
from regard.serve.texts import Said, Wanted, by_model
from regard.serve.told import side

AUTO = "auto"
MOST = 20  # alternatives
SANDBOX = "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # of a file that somebody sent
Code = Annotated[str, Field(min_length=1, max_length=40)]


class Failure(BaseModel):
    """A request that was turned down."""

    error: str


class Keyed(Foreign):
    """A request that may name its key, in either spelling of its clients."""

    api_key: str | None = None
    apiKey: str | None = None

    @property
    def key(self) -> str | None:
        """The key; an empty one is none."""
        return self.api_key or self.apiKey or None


class TranslateIn(Keyed):
    """Texts, and the languages that they are in and wanted in; `auto` has the first found.

    alignment, attention, scores: tell which words were written for which, every weight, and how likely the text is.
    """

    q: str | Texts
    source: Code = AUTO
    target: Code
    format: Literal["text", "html"] = "text"
    alternatives: Annotated[int, Field(ge=0, le=MOST)] = 0
    alignment: bool = False
    attention: bool = False
    scores: bool = False

    @field_validator("format", mode="before")
    @classmethod
    def _plain(cls, value: Any) -> Any:
        return value or "text"


class DetectIn(Keyed):
    """A text, or several of which each is told."""

    q: str | Texts


class Detected(BaseModel):
    """A language, and how sure it is among those that are served, from 0 to 100."""

    confidence: float
    language: str


class Words(BaseModel):
    """The pieces and words of one end, and the characters of each word: the first, and the one after the last."""

    pieces: list[str]
    words: list[str]
    spans: list[tuple[int, int]]


class Tokens(BaseModel):
    """Both ends."""

    source: Words
    target: Words


class Links(BaseModel):
    """Which words were written for which: numbers of words as Pharaoh writes them, and their characters."""

    pharaoh: str
    spans: list[tuple[tuple[int, int], tuple[int, int]]]


class Scores(BaseModel):
    """What the outputs were ranked by, and the log-likelihood in nats."""

    score: float
    likelihood: float


class TranslateOut(BaseModel):
    """The translation; of several texts, lists of all that is told."""

    translatedText: str | list[str]
    detectedLanguage: Detected | list[Detected] | None = None
    alternatives: list[str] | list[list[str]] | None = None
    tokens: Tokens | list[Tokens] | None = None
    alignment: Links | list[Links] | None = None
    attention: list[Any] | None = None
    scores: Scores | list[Scores] | None = None


class Language(BaseModel):
    """A language, and those that it can be translated to."""

    code: str
    name: str
    targets: list[str]


class Named(BaseModel):
    """A language."""

    code: str
    name: str


class Defaults(BaseModel):
    """What a page begins with."""

    source: Named
    target: Named


class SettingsOut(BaseModel):
    """What a page of LibreTranslate asks before it is drawn."""

    apiKeys: bool
    charLimit: int
    filesTranslation: bool
    frontendTimeout: int
    keyRequired: bool
    language: Defaults
    suggestions: bool
    supportedFilesFormat: list[str]


class FileOut(BaseModel):
    """Where the translated file is fetched."""

    translatedFileUrl: str


WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 403, 404, 408, 413, 415, 429, 500, 503, 504)
}
router = APIRouter(responses=WRONG, tags=["LibreTranslate"])


@router.post(
    "/translate",
    response_model=TranslateOut | list[azure.Translated],
    response_model_exclude_none=True,
    openapi_extra=body_of(TranslateIn),
)
async def translated(request: Request) -> Any:
    """Translate texts. With `api-version=3.0` in the query the request is one of Azure's."""
    if protocol_of("/translate", request.scope.get("query_string", b"")) is AZURE:
        return await azure.translated(request)
    asked = checked(TranslateIn, await fields_of(request))
    admit(request, LIBRETRANSLATE, asked.key)
    desk = desk_of(request)
    texts = [asked.q] if isinstance(asked.q, str) else asked.q
    found, said = await answers(desk, request, texts, asked)
    told = [_told(*each, asked) for each in zip(found, said, strict=True)]
    if isinstance(asked.q, str):
        return told[0]
    names = told[0] if told else {"translatedText": []}
    return {name: [each[name] for each in told] for name in names}


async def answers(desk: Desk, request: Request, texts: list[str], asked: TranslateIn) -> tuple[list[Meant], list[Said]]:
    """The model and the translation of each text; texts of one model go together."""
    desk.check_count(texts)
    desk.charge(request, texts, LIBRETRANSLATE)
    shown = asked.alignment or asked.attention or asked.scores
    if shown and asked.format == "html":
        raise Refused(400, "alignment, attention and scores go with format=text.", "format")
    if (asked.attention or asked.scores) and any("\n" in text.strip() for text in texts):
        raise Refused(400, "attention and scores go with texts of one line.", "q")
    found = await meant(desk, texts, None if asked.source.lower() == AUTO else asked.source, asked.target)
    wanted = Wanted(asked.format == "html", asked.alignment or asked.attention, asked.alternatives)
    return found, await by_model(desk, found, texts, wanted)


def _told(found: Meant, said: Said, asked: TranslateIn) -> dict[str, Any]:
    told: dict[str, Any] = {"translatedText": said.text}
    if found.found is not None:
        told["detectedLanguage"] = {"confidence": round(100 * found.found.share, 1), "language": found.source}
    if asked.alternatives:
        told["alternatives"] = said.alternatives
    best = next((outputs[0] for _, outputs in said.lines if outputs), None)
    if asked.alignment:
        told["alignment"] = {"pharaoh": _pharaoh(said), "spans": said.spans()}
    if best is not None and best.sides is not None and (asked.alignment or asked.attention) and len(said.lines) == 1:
        told["tokens"] = {"source": side(best.sides[0]), "target": side(best.sides[1])}
    if asked.attention:
        told["attention"] = [] if best is None else [layer.float().tolist() for layer in best.attention]
    if asked.scores:
        told["scores"] = {"score": best.score if best else 0.0, "likelihood": best.likelihood if best else 0.0}
    return told


def _pharaoh(said: Said) -> str:
    """The links of all lines, words counted through the whole text."""
    found, source, target = list[str](), 0, 0
    for _, outputs in said.lines:
        looked = outputs[0].alignment if outputs else None
        if looked is None:
            continue
        found += [f"{s + source}-{t + target}" for s, t in looked.links()]
        source, target = source + len(looked.source) - 1, target + len(looked.target) - 1
    return " ".join(found)


@router.get("/languages")
async def languages(request: Request) -> list[Language]:
    """What is translated to what. No key is asked for, as with LibreTranslate."""
    found = codes_of(desk_of(request))
    return [Language(code=code, name=language_name(code), targets=targets) for code, targets in found.items()]


@router.post("/detect", openapi_extra=body_of(DetectIn))
async def detected(request: Request) -> list[Detected] | list[list[Detected]]:
    """The languages that a text may be in, among those that are served; refused where nothing tells them apart."""
    asked = checked(DetectIn, await fields_of(request))
    admit(request, LIBRETRANSLATE, asked.key)
    desk = desk_of(request)
    texts = [asked.q] if isinstance(asked.q, str) else asked.q
    desk.check_count(texts)
    looked = await desk.batches.alone(lambda: [desk.detector.detect(text) for text in texts])
    if not all(looked):
        raise Refused(400, f"The language cannot be told: {desk.detector.why()}.", "q")
    told = [[Detected(confidence=round(100 * each.share, 1), language=each.language) for each in one] for one in looked]
    return told[0] if isinstance(asked.q, str) else told


@router.post(
    "/translate_file",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "required": ["file", "target"],
                        "properties": {
                            "file": {"type": "string", "format": "binary"},
                            "source": {"type": "string"},
                            "target": {"type": "string"},
                            "api_key": {"type": "string"},
                        },
                    }
                }
            },
        }
    },
)
async def translated_file(request: Request) -> FileOut:
    """Translate a file of text or HTML; the answer says where it is fetched, for an hour."""
    fields = await fields_of(request)
    file = fields.pop("file", None)
    admit(request, LIBRETRANSLATE, checked(Keyed, fields).key)
    if not isinstance(file, Sent):
        raise Refused(400, "Expected a file in the field `file` of a form (multipart/form-data).", "file")
    kind = PurePath(file.name).suffix.lower()
    if kind not in KINDS:
        raise Refused(400, f"Expected a file whose name ends in {', '.join(KINDS)}; found '{kind[:20]}'.", "file")
    try:
        text = file.body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(400, f"The file is not UTF-8: byte {error.start}.", "file") from error
    asked = checked(TranslateIn, fields | {"q": text, "format": "text" if kind == ".txt" else "html"})
    _, (said,) = await answers(desk_of(request), request, [text], asked)
    name = await asyncio.to_thread(desk_of(request).files.keep, said.text, kind)
    return FileOut(translatedFileUrl=str(request.url_for("download", name=name)))


@router.get("/download_file/{name}", response_class=FileResponse)
async def download(request: Request, name: str) -> FileResponse:
    """A file that was translated, as it was named in the answer."""
    path = desk_of(request).files.find(name)
    if path is None:
        raise Refused(404, "There is no such file, or no longer.")
    headers = {"content-security-policy": SANDBOX, "cache-control": "no-store"}
    return FileResponse(path, media_type=KINDS[path.suffix], filename=f"translated{path.suffix}", headers=headers)


@router.get("/frontend/settings")
async def settings(request: Request) -> SettingsOut:
    """What there is and what is asked for."""
    desk = desk_of(request)
    first = next(iter(desk.shelf.pairs), (AUTO, AUTO))
    source, target = (Named(code=each, name=language_name(each)) for each in first)
    return SettingsOut(
        apiKeys=bool(desk.settings.keys),
        charLimit=-1,
        filesTranslation=True,
        frontendTimeout=500,
        keyRequired=bool(desk.settings.keys),
        language=Defaults(source=source, target=target),
        suggestions=False,
        supportedFilesFormat=list(KINDS),
    )
