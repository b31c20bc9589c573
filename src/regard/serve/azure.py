"""Version 3 of Azure's translator, on LibreTranslate's path: the one protocol whose clients know word alignments.

The version is named in the query, by which its requests are known. Spans count characters from 0, the last included.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Request
from pydantic import BaseModel, Field

from regard.serve.desk import desk_of
from regard.serve.given import Foreign, admit, checked, json_of, query_of
from regard.serve.languages import meant
from regard.serve.refused import AZURE, Refused
from regard.serve.shelf import language_code
from regard.serve.texts import Said, Wanted, by_model

VERSION = "3.0"


class Item(Foreign):
    """A text; older clients write it with a capital."""

    text: str


class Query(Foreign):
    """What the query says."""

    version: Annotated[Literal["3.0"], Field(alias="api-version")]
    to: Annotated[list[Annotated[str, Field(min_length=1, max_length=40)]], Field(max_length=100)]
    source: Annotated[str | None, Field(alias="from", max_length=40)] = None
    textType: Literal["plain", "html"] = "plain"
    includeAlignment: bool = False


class DetectedOut(BaseModel):
    """The language that a text was found to be in."""

    language: str
    score: float


class Alignment(BaseModel):
    """`0:2-0:1 4:6-3:6`: characters of the source, and those of the target that were written for them."""

    proj: str


class One(BaseModel):
    """A text in one language."""

    text: str
    to: str
    alignment: Alignment | None = None


class Translated(BaseModel):
    """A text in every language that was asked for."""

    detectedLanguage: DetectedOut | None = None
    translations: list[One]


async def translated(request: Request) -> list[Translated]:
    """Translate texts to one language or several."""
    admit(request, AZURE)
    desk = desk_of(request)
    query = query_of(request)
    query["to"] = [code for each in _list(query.get("to", [])) for code in each.split(",")]
    asked = checked(Query, query)
    told = json_of(await request.body())
    if not isinstance(told, list):
        raise Refused(400, 'Expected a JSON array of objects: [{"text": "..."}].')
    desk.check_count(told)
    lowered = [
        {name.lower(): value for name, value in each.items()} if isinstance(each, dict) else each for each in told
    ]
    texts = [checked(Item, each).text for each in lowered]
    if not asked.to:
        raise Refused(400, "to: expected the language to translate to.", "to")
    desk.check_count(asked.to)
    found = [Translated(translations=[]) for _ in texts]
    for target in asked.to:
        desk.charge(request, texts, AZURE)
        models = await meant(desk, texts, asked.source, target)
        html = asked.textType == "html"
        said = await by_model(desk, models, texts, Wanted(html, asked.includeAlignment))
        for one, model, text in zip(found, models, said, strict=True):
            alignment = Alignment(proj=projection(text)) if asked.includeAlignment and not html else None
            one.translations.append(One(text=text.text, to=language_code(target), alignment=alignment))
            if model.found is not None:
                one.detectedLanguage = DetectedOut(language=model.source, score=round(model.found.share, 2))
    return found


def projection(said: Said) -> str:
    """The links of a text's words, as the protocol writes them."""
    return " ".join(f"{a}:{b - 1}-{c}:{d - 1}" for (a, b), (c, d) in said.spans())


def _list(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]
