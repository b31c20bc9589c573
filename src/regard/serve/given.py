"""What a request of a foreign protocol says: JSON, a form or the query, checked against a message.

Fields that a protocol has and we do not are passed over, as its clients expect; what a field says must fit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request

from regard.serve.guard import key_of
from regard.serve.refused import Protocol, Refused

FIELDS = 1000  # of a form


Texts = Annotated[list[str], Field(max_length=10_000)]  # a server's own limit is lower, and told in words


class Foreign(BaseModel):
    """A message of a protocol that is not ours: fields that we do not know are passed over."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=False)


Message = TypeVar("Message", bound=BaseModel)


async def fields_of(request: Request) -> dict[str, Any]:
    """All that is named in the query and the body; a field that comes several times is a list."""
    found = query_of(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return found | _many(await form_of(request))
    body = await request.body()
    if kind == "application/x-www-form-urlencoded":
        return found | _many(_pairs(body))
    if not body:
        return found
    told = json_of(body)
    if not isinstance(told, dict):
        raise Refused(400, "Expected a JSON object, a form, or fields in the query.")
    return found | told


def query_of(request: Request) -> dict[str, Any]:
    """All that is named in the query."""
    return _many(_pairs(request.scope.get("query_string", b"")))


def _pairs(text: bytes) -> list[tuple[str, str]]:
    """Names and values of a query or a form."""
    try:
        return parse_qsl(text.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except UnicodeDecodeError as error:
        raise Refused(400, "The form is not UTF-8.") from error
    except ValueError as error:
        raise Refused(400, f"The form has too many fields: limit {FIELDS}.") from error


@dataclass(frozen=True)
class Sent:
    """A file that came with a form."""

    name: str
    body: bytes


async def form_of(request: Request) -> list[tuple[str, str | Sent]]:
    """The fields and files of a form."""
    try:
        async with request.form(max_files=1, max_fields=FIELDS, max_part_size=1 << 40) as form:
            return [
                (name, Sent(value.filename or "", await value.read()) if isinstance(value, UploadFile) else value)
                for name, value in form.multi_items()
            ]
    except HTTPException as error:
        raise Refused(400, f"The form cannot be read: {error.detail}") from error
    except Exception as error:  # the parser of forms raises errors of many kinds
        raise Refused(400, "The form cannot be read.") from error


def json_of(body: bytes) -> Any:
    """A body read as JSON."""
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise Refused(400, f"The body is not UTF-8: byte {error.start}.") from error
    except RecursionError as error:
        raise Refused(400, "The body is not JSON that can be read: it is nested too deeply.") from error
    except ValueError as error:
        raise Refused(400, f"The body is not JSON: {str(error)[:200]}.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def checked(message: type[Message], told: Any) -> Message:
    """A message, or what is wrong with the first field that does not fit."""
    try:
        return message.model_validate(told)
    except RecursionError as error:
        raise Refused(400, "The body is nested too deeply.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise Refused(400, printable(f"{where}: {first['msg']}" if where else first["msg"]), where or None) from error


def printable(text: str) -> str:
    """Without halves of characters, which no answer could hold, and not endless."""
    return text.encode("utf-8", "replace").decode()[:1000]


def check_text(texts: list[str], param: str) -> None:
    """Refuse halves of characters: no model reads them, and no answer could hold them."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Refused(400, f"{param}: half a character at {error.start} (a lone surrogate).", param) from error


def admit(request: Request, protocol: Protocol, key: str | None = None) -> None:
    """Let in who has a key, named in the head or as the protocol names it; an empty one is none."""
    request.state.key = request.app.state.desk.gate.admit(key_of(request.headers) or key or None, protocol)


def _many(items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for name, value in items:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def body_of(message: type[BaseModel], form: bool = True) -> dict[str, Any]:
    """A message in the description of a route that reads its body by itself."""
    schema = {"schema": _inlined(message.model_json_schema())}
    content = {"application/json": schema} | ({"application/x-www-form-urlencoded": schema} if form else {})
    return {"requestBody": {"required": True, "content": content}}


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to in its place, since the description knows nothing of it."""
    parts = schema.pop("$defs", {})

    def put(told: Any) -> Any:
        if isinstance(told, list):
            return [put(each) for each in told]
        if not isinstance(told, dict):
            return told
        if "$ref" in told:
            return put(parts[told["$ref"].rpartition("/")[2]])
        return {name: put(each) for name, each in told.items()}

    found: dict[str, Any] = put(schema)
    return found
