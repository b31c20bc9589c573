"""How a request is turned down: with a status that says so, in the shape that its client knows.

Every protocol has a shape of its own; which one a request speaks is told from its path and query alone, so that what
is refused before any route is looked up (a body too large, an unknown host) is told in it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "request_timeout",
    413: "too_large",
    415: "unsupported_media_type",
    422: "bad_request",
    429: "too_many_requests",
    500: "internal_error",
    503: "overloaded",
    504: "timeout",
}


@dataclass
class Refused(Exception):
    """A request that is not answered. `message` may be shown to anyone; `param` names what was wrong."""

    status: int
    message: str
    param: str | None = None
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.code = self.code or CODES.get(self.status, "error")


Shape = Callable[[Refused, str], Any]


def ours(error: Refused, request: str) -> dict[str, Any]:
    """That of our own interface."""
    told = {"code": error.code, "message": error.message, "param": error.param, "request_id": request}
    return {"error": told}


def libretranslate(error: Refused, request: str) -> dict[str, Any]:
    """That of LibreTranslate."""
    return {"error": error.message}


def deepl(error: Refused, request: str) -> dict[str, Any]:
    """That of DeepL."""
    return {"message": error.message, "detail": error.code}


def azure(error: Refused, request: str) -> dict[str, Any]:
    """That of Azure's translator: a number of six digits, of which the first three are the status."""
    return {"error": {"code": error.status * 1000, "message": error.message}}


def openai(error: Refused, request: str) -> dict[str, Any]:
    """That of OpenAI."""
    kind = "invalid_request_error" if error.status < 500 else "server_error"
    return {"error": {"message": error.message, "type": kind, "param": error.param, "code": error.code}}


@dataclass(frozen=True)
class Protocol:
    """What a request speaks: its name, the shape of its errors, and the status of some of them.

    keyless, exhausted, invalid: that of a missing key, of a quota that is used up, of what does not fit.
    """

    name: str
    shape: Shape
    keyless: int = 401
    exhausted: int = 429
    invalid: int = 400


OURS = Protocol("regard", ours, invalid=422)
LIBRETRANSLATE = Protocol("libretranslate", libretranslate, keyless=403)
DEEPL = Protocol("deepl", deepl, keyless=403, exhausted=456)
AZURE = Protocol("azure", azure)
OPENAI = Protocol("openai", openai)
ROOT = ("/translate", "/detect", "/languages", "/translate_file", "/frontend/settings", "/health")


def protocol_of(path: str, query: bytes) -> Protocol:
    """Which protocol a request speaks."""
    if path.startswith("/v2/"):
        return DEEPL
    if path.startswith("/v1/"):
        return OPENAI
    if path in ROOT or path.startswith("/download_file/"):
        # Azure's clients share LibreTranslate's paths; they always name the version of theirs.
        named = parse_qs(query.decode("latin-1"), keep_blank_values=True)
        return AZURE if "api-version" in named else LIBRETRANSLATE
    return OURS
