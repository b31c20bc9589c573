"""What every request passes before a route sees it: its host, its origin, its size, its key, its time.

A body is read whole, within its limits of bytes and time, before anything is answered; after that the line is watched,
and who hangs up is not answered. What goes wrong is told in the shape of the client's protocol, and never more than
may be shown to anyone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.serve.desk import Desk
from regard.serve.refused import Protocol, Refused, protocol_of
from regard.serve.settings import LOCAL

POLICY = "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
GUARDED = ("/api/", "/v1/", "/v2/")
FORM = 2 << 20  # bytes of a form
VALUES = 100_000  # of a request in JSON
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)  # of JSON; it never looks back, however long they are
BODIES = 16  # of the largest that a request may have: so many bytes may be on their way in at once
log = logging.getLogger("regard.serve")


class Guard:
    """The outer shell of the application."""

    def __init__(self, app: ASGIApp, desk: Desk) -> None:
        self.app, self.desk = app, desk
        settings = desk.settings
        self.hosts = {name.lower() for name in (*LOCAL, settings.host, *settings.hosts)}
        self.held, self.room = 0, BODIES * settings.body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the start and the end of the server."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await Visit(self, scope, receive, send).run()

    def check(self, headers: Mapping[str, str], path: str, protocol: Protocol) -> int | None:
        """Refuse what can be told from the head of a request; the place of its key where that is there."""
        host = _host(headers.get("host", ""))
        if "*" not in self.hosts and host not in self.hosts:
            told = f"This server is not called '{host[:80]}'."
            raise Refused(400, told, "Host", "unknown_host")
        origin = headers.get("origin")
        if origin and origin not in self.desk.settings.origins and urlsplit(origin).netloc != headers.get("host"):
            raise Refused(403, "Pages of other origins may not call this server.", "Origin", "foreign_origin")
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "Send the body as it is: compressed ones are not taken.", "Content-Encoding")
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Refused(400, "Content-Length is not a number.", "Content-Length")
        if int(length[:20]) > self.desk.settings.body:
            raise too_large(self.desk.settings.body)
        if path.startswith(GUARDED):
            return self.desk.gate.admit(key_of(headers), protocol)
        return None  # the routes of other paths ask for a key themselves, which may be in the body


class Visit:
    """One request on its way."""

    def __init__(self, guard: Guard, scope: Scope, receive: Receive, send: Send) -> None:
        self.guard, self.scope, self.receive, self._send = guard, scope, receive, send
        self.id, self.status, self.begun, self.held = uuid4().hex, 0, monotonic(), 0
        self.protocol = protocol_of(scope["path"], scope.get("query_string", b""))
        self.left = asyncio.Event()
        scope.setdefault("state", {})["request_id"] = self.id

    async def run(self) -> None:
        """Let it in, and see it through."""
        counters = self.guard.desk.counters
        counters.enter(self.id)
        try:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}
            self.scope["state"]["key"] = self.guard.check(headers, self.scope["path"], self.protocol)
            body = await self._body()
            check_values(headers.get("content-type", ""), body)
            await self._answer(body)
        except Refused as error:
            await self._refuse(error)
        except asyncio.CancelledError:
            self.status = self.status or 499
            raise
        except ConnectionAbortedError as error:
            log.warning("request %s: %s", self.id, error)
            raise
        except Exception:
            log.exception("request %s failed", self.id)
            await self._refuse(Refused(500, "Something went wrong inside the server.", code="internal_error"))
        finally:
            route = getattr(self.scope.get("route"), "path", "other")
            counters.leave(self.id, route, self.status or 499, monotonic() - self.begun)
            self.guard.held -= self.held
            self.guard.desk.release(self.scope["state"])

    async def _body(self) -> bytes:
        """All of it, within the limits."""
        parts, count, settings = list[bytes](), 0, self.guard.desk.settings
        try:
            async with asyncio.timeout(settings.patience):
                while True:
                    message = await self.receive()
                    if message["type"] == "http.disconnect":
                        raise asyncio.CancelledError
                    parts.append(message.get("body", b""))
                    count += len(parts[-1])
                    self._hold(len(parts[-1]))
                    if count > settings.body:
                        raise too_large(settings.body)
                    if not message.get("more_body"):
                        return b"".join(parts)
        except TimeoutError as error:
            raise Refused(408, "The request took too long to arrive.") from error

    def _hold(self, more: int) -> None:
        """What is read stays in memory until the request is answered: so much of it there may be."""
        self.held += more
        self.guard.held += more
        if self.guard.held > self.guard.room:
            raise Refused(503, "The server is busy: too many large requests.", headers={"Retry-After": "1"})

    async def _answer(self, body: bytes) -> None:
        """Until it is answered, its time is over, or the client is gone."""
        given = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if given:
                return given.pop()
            await self.left.wait()
            return {"type": "http.disconnect"}

        task = asyncio.ensure_future(self.guard.app(self.scope, receive, self.send))
        line = asyncio.ensure_future(self._watch())
        try:
            await asyncio.wait((task, line), timeout=self._patience, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not line.done() and not self.status:
                raise Refused(504, f"No answer within {self._patience:g} seconds.")
            if not task.done():  # it streams, or nobody listens any more
                await asyncio.wait((task, line), return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
        finally:
            for each in (task, line):
                each.cancel()
            await asyncio.gather(task, line, return_exceptions=True)

    @property
    def _patience(self) -> float:
        return self.guard.desk.settings.patience

    async def _watch(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.left.set()

    async def send(self, message: Message) -> None:
        """What the application answers, with the headers that every answer has."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name.lower() for name, _ in message["headers"]}
            more = {**HEADERS, "x-request-id": self.id}
            named = [(name.encode(), value.encode()) for name, value in more.items() if name.encode() not in there]
            if self.guard.desk.ending:  # so that the client asks another server next time
                named.append((b"connection", b"close"))
            message = {**message, "headers": [*message["headers"], *named]}
        try:
            async with asyncio.timeout(self._patience):
                await self._send(message)
        except TimeoutError as error:
            raise ConnectionAbortedError("the client does not read its answer") from error

    async def _refuse(self, error: Refused) -> None:
        if self.status:  # the answer has begun: it cannot be taken back, and the line is cut
            raise ConnectionAbortedError(error.message)
        await write(self.send, error, self.protocol, self.id)


async def write(send: Send, error: Refused, protocol: Protocol, request: str) -> None:
    """A refusal as the client knows it."""
    body = json.dumps(protocol.shape(error, request)).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **error.headers}
    if protocol.name == "azure":
        headers["x-requestid"] = request
    named = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": named})
    await send({"type": "http.response.body", "body": body})


def check_values(kind: str, body: bytes) -> None:
    """Refuse a body that would become millions of values, or as many errors: what costs memory is not its bytes."""
    kind = kind.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return
    if kind == "application/x-www-form-urlencoded":
        if len(body) > FORM:
            raise Refused(413, f"The form is too large: limit {FORM:,} bytes. Send JSON.")
    elif _marks(body) > VALUES and (_quotes(body) > 4 * VALUES or _marks(_TEXTS.sub(b"", body)) > VALUES):
        raise Refused(413, f"The request has too many values: limit {VALUES:,}.")


def _marks(body: bytes) -> int:
    """How many values there may be: each begins after one of these, but they stand in texts too."""
    return sum(map(body.count, (b",", b"{", b"[")))


def _quotes(body: bytes) -> int:
    """Marks that begin or end texts, names of values among them: of so many values, four each at most."""
    return body.count(b'"') - body.count(b'\\"')


def too_large(most: int) -> Refused:
    """A body with more bytes than a request may have."""
    return Refused(413, f"The request is too large: limit {most:,} bytes.")


def key_of(headers: Mapping[str, Any]) -> str | None:
    """The key that a request names in its head, in the way of any of the protocols."""
    found = headers.get("ocp-apim-subscription-key") or headers.get("x-api-key")
    kind, _, value = headers.get("authorization", "").partition(" ")
    return found or (value.strip() if kind.lower() in ("bearer", "deepl-auth-key") else None) or None


def _host(header: str) -> str:
    """The name in a Host header, without its port."""
    name = header.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]
