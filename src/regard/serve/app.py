"""All of it as one ASGI application."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from regard.errors import RegardError, UsageError
from regard.serve import api, deepl, libretranslate, openai, schema, stream
from regard.serve.desk import Desk, desk_of
from regard.serve.given import printable
from regard.serve.guard import Guard, log
from regard.serve.modules import Modules
from regard.serve.pages import router as pages_router
from regard.serve.refused import Refused, protocol_of
from regard.serve.runs import router as runs_router
from regard.serve.scoring import router as scoring_router
from regard.serve.settings import Settings
from regard.serve.shelf import Entry, Shelf
from regard.version import __version__

HERE = Path(__file__).parent
FIGURES = HERE.parent / "show" / "static"
GRACE = 0.5  # seconds between the signal to end and the closing of lines
PAGES = ("/", "/heads", "/caption", "/read", "/evaluate", "/compare", "/train", "/api")


def create_app(settings: Settings, models: Mapping[str, Any] | None = None) -> FastAPI:
    """The application of some settings; `models` are open ones that are served beside those of folders, by name."""
    shelf = Shelf.of(settings.models, settings.engine, settings.threads, settings.memory, bool(models))
    shelf.add([Entry.of_model(name, model) for name, model in (models or {}).items()])
    desk = Desk.of(settings, shelf)
    app = FastAPI(
        title="Regard",
        version=__version__,
        summary="Models, their answers, and what they looked at.",
        docs_url=None,
        redoc_url=None,
        lifespan=_life,
    )
    app.state.desk = desk
    for router in (api.router, stream.router, libretranslate.router, deepl.router, openai.router):
        app.include_router(router)
    _add_health(app)
    _add_pages(app)
    _add_handlers(app)
    app.add_middleware(Guard, desk=desk)
    if settings.origins:
        app.add_middleware(CORSMiddleware, allow_origins=settings.origins, allow_methods=["*"], allow_headers=["*"])
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    """From the first request to the last: the first model is opened meanwhile; at the end all waiting are answered."""
    desk: Desk = app.state.desk
    desk.batches.start()
    if desk.settings.gentle:
        end_gently(desk)
    opening = asyncio.ensure_future(desk.get_ready())
    try:
        yield
    finally:
        desk.ready = False
        await asyncio.gather(opening, return_exceptions=True)
        await desk.batches.stop()
        desk.files.close()


def end_gently(desk: Desk) -> None:
    """Make SIGTERM wait a little: answers then say that the line closes, so that clients ask elsewhere next.

    Who has sent a request on an open line by then is answered; lines that are still open after that close unasked.
    """
    loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

    def end(number: int, frame: FrameType | None) -> None:
        if not callable(before):
            return
        if desk.ending:
            before(number, frame)
            return
        desk.ending, desk.ready = True, False
        loop.call_soon_threadsafe(loop.call_later, GRACE, before, number, frame)

    signal.signal(signal.SIGTERM, end)


def _add_health(app: FastAPI) -> None:
    @app.get("/health/live", tags=["health"])
    async def live() -> schema.Health:
        """The server runs."""
        return schema.Health(status="ok")

    @app.get("/health/ready", tags=["health"], responses={503: {"model": schema.ErrorOut}})
    async def ready(request: Request) -> schema.Health:
        """The server answers: its first model is open, and it is not about to end."""
        if not desk_of(request).ready:
            raise Refused(503, "The first model is not open yet, or the server is about to end.", code="not_ready")
        return schema.Health(status="ok")

    @app.get("/health", include_in_schema=False)
    async def health() -> schema.Health:
        """As LibreTranslate tells it."""
        return schema.Health(status="ok")

    @app.get("/metrics", tags=["health"], response_class=PlainTextResponse)
    async def metrics(request: Request) -> Response:
        """What was counted, for Prometheus."""
        return PlainTextResponse(desk_of(request).counted(), media_type="text/plain; version=0.0.4; charset=utf-8")


def _add_pages(app: FastAPI) -> None:
    """The studio: one page at every address of its own, its modules, and the figures of the exported page."""

    async def page() -> FileResponse:
        return FileResponse(HERE / "studio" / "index.html", headers={"cache-control": "no-cache"})

    async def docs() -> FileResponse:
        return FileResponse(HERE / "studio" / "docs.html", headers={"cache-control": "no-cache"})

    app.include_router(pages_router)
    app.include_router(scoring_router)
    app.include_router(runs_router)
    for path in PAGES:
        app.add_api_route(path, page, include_in_schema=False)
    app.add_api_route("/docs", docs, include_in_schema=False)
    app.mount("/studio", Modules(directory=HERE / "studio"), name="studio")
    app.mount("/figures", Modules(directory=FIGURES), name="figures")


def _add_handlers(app: FastAPI) -> None:
    """What goes wrong behind a route, in the shape of the request's protocol."""

    def told(request: Request, error: Refused) -> JSONResponse:
        protocol = protocol_of(request.url.path, request.url.query.encode())
        shaped = protocol.shape(error, request.state.request_id)
        return JSONResponse(shaped, error.status, dict(error.headers))

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> JSONResponse:
        return told(request, error)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first: Any = error.errors()[0]
        where = ".".join(str(each) for each in first["loc"][1:])
        message = f"{where}: {first['msg']}" if where else str(first["msg"])
        status = protocol_of(request.url.path, request.url.query.encode()).invalid
        return told(request, Refused(status, printable(message), printable(where) or None, "invalid_request"))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        return told(request, Refused(error.status_code, str(error.detail), headers=error.headers or {}))

    @app.exception_handler(RegardError)
    async def ours(request: Request, error: RegardError) -> JSONResponse:
        if isinstance(error, UsageError):
            return told(request, Refused(400, printable(str(error))))
        log.error("request %s: %s", request.state.request_id, error)
        return told(request, Refused(500, "The model cannot answer; the server's log says why.", code="model_error"))
