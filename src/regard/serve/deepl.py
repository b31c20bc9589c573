"""Version 2 of DeepL's interface: translate, languages, usage.

Written from what its clients send and await. What would change a translation and is not done here (glossaries,
formality that is insisted on, lists of tags) is refused; what only hints at one is passed over.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from regard.serve.desk import desk_of
from regard.serve.given import Foreign, Texts, body_of, checked, fields_of
from regard.serve.languages import codes_of, language_name, meant
from regard.serve.refused import DEEPL, Refused
from regard.serve.texts import Wanted, by_model

ENDLESS = 1_000_000_000_000  # characters, where there is no quota
UNKNOWN = (
    *("glossary_id", "ignore_tags", "splitting_tags", "non_splitting_tags"),
    *("style_id", "custom_instructions", "translation_memory_id"),
)
Code = Annotated[str, Field(min_length=1, max_length=40)]


class Failure(BaseModel):
    """A request that was turned down."""

    message: str
    detail: str


class TranslateIn(Foreign):
    """Texts and the language that they are wanted in."""

    text: str | Texts
    target_lang: Code
    source_lang: Code | None = None
    tag_handling: Literal["html", "xml", ""] | None = None
    formality: Literal["default", "prefer_more", "prefer_less"] | None = None


class One(BaseModel):
    """A text, the language that it was in, and the characters that were counted."""

    detected_source_language: str
    text: str
    billed_characters: int


class TranslateOut(BaseModel):
    """The translations, in the order of the texts."""

    translations: list[One]


class Language(BaseModel):
    """A language that is read or written."""

    language: str
    name: str
    supports_formality: bool = False


class Usage(BaseModel):
    """Characters that were translated for this key today, and how many may be."""

    character_count: int
    character_limit: int


WRONG: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 403, 404, 408, 413, 415, 429, 456, 500, 503, 504)
}
router = APIRouter(prefix="/v2", responses=WRONG, tags=["DeepL"])


@router.post("/translate", openapi_extra=body_of(TranslateIn))
async def translated(request: Request) -> TranslateOut:
    """Translate texts, as JSON or a form in which `text` may come several times."""
    fields = await fields_of(request)
    for name in UNKNOWN:
        if fields.get(name):
            raise Refused(400, f"{name} is not supported by this server.", name, "not_supported")
    asked = checked(TranslateIn, fields)
    texts = [asked.text] if isinstance(asked.text, str) else asked.text
    desk = desk_of(request)
    desk.check_count(texts)
    desk.charge(request, texts, DEEPL)
    found = await meant(desk, texts, asked.source_lang, asked.target_lang)
    said = await by_model(desk, found, texts, Wanted(html=bool(asked.tag_handling)))
    told = [
        One(detected_source_language=model.source.upper(), text=one.text, billed_characters=len(text))
        for text, model, one in zip(texts, found, said, strict=True)
    ]
    return TranslateOut(translations=told)


@router.get("/languages")
async def languages(
    request: Request, side: Annotated[Literal["source", "target"], Query(alias="type")] = "source"
) -> list[Language]:
    """The languages that are read (`type=source`) or written (`type=target`)."""
    found = codes_of(desk_of(request))
    written = {target for targets in found.values() for target in targets}
    codes = [code for code, targets in found.items() if (targets if side == "source" else code in written)]
    return [Language(language=code.upper(), name=language_name(code)) for code in codes]


@router.get("/usage")
async def usage(request: Request) -> Usage:
    """What was translated for this key today."""
    gate = desk_of(request).gate
    return Usage(character_count=gate.spent(request.state.key), character_limit=gate.quota or ENDLESS)
