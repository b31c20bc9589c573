"""Figures that a page of the studio sends, made into a page of their own."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from regard.serve import schema
from regard.serve.api import WRONG
from regard.serve.refused import Refused
from regard.show.page import PAGE, page_html

MOST_VALUES = 20_000_000  # weights of all figures
router = APIRouter(prefix="/api/v1", responses=WRONG)


@router.post(
    "/page",
    tags=["given outputs"],
    response_class=Response,
    responses={200: {"content": {"text/html": {}}, "description": "A page in one file."}},
)
async def page(asked: schema.PageIn) -> HTMLResponse:
    """Figures, as answers hold them, as one page that needs no server: its text is the answer."""
    if (count := _values(asked.figures)) > MOST_VALUES:
        raise Refused(413, f"The figures are too large: {count:,} weights, limit {MOST_VALUES:,}.", "figures")
    told = {"format": PAGE, **asked.model_dump()}
    made = await asyncio.to_thread(page_html, told)
    headers = {"content-disposition": 'attachment; filename="attention.html"'}
    return HTMLResponse(made.encode("utf-8", "replace"), headers=headers)


def _values(figures: Sequence[Mapping[str, Any]]) -> int:
    """How many weights figures say that they have; what they say wrongly is told when they are looked at closely."""
    layers = [each for figure in figures if isinstance(figure.get("attention"), list) for each in figure["attention"]]
    shapes = [each.get("shape") for each in layers if isinstance(each, dict)]
    whole = [each for each in shapes if isinstance(each, list) and all(isinstance(size, int) for size in each)]
    return sum(abs(math.prod(each)) for each in whole)
