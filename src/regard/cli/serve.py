"""`regard serve MODEL ...`: models behind HTTP, and the studio's pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from regard.cli.options import ENGINE

Models = Annotated[
    list[str], typer.Argument(help="Model, run or exported folders; NAME=FOLDER gives another name than the folder's.")
]
EngineName = Annotated[Literal["auto", "torch", "ctranslate2", "onnx"], typer.Option(help=ENGINE)]
Runs = Annotated[Path | None, typer.Option(help="A folder of trainings, which the studio's page Train shows.")]
Keys = Annotated[
    Path | None,
    typer.Option("--api-key-file", help="Who may call: a key a line; else those of REGARD_API_KEYS, or everybody."),
]
Characters = Annotated[
    int, typer.Option(min=0, help="Characters a day that a key may have translated by other interfaces; 0 is any.")
]
Hosts = Annotated[
    list[str] | None, typer.Option("--allow-host", help="A name by which the server may be called, beside this one's.")
]
Origins = Annotated[
    list[str] | None, typer.Option("--allow-origin", help="An origin whose pages may call, as https://example.org.")
]
Queue = Annotated[int, typer.Option(min=1, help="Texts that may wait; one more is refused (503).")]
Ray = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Workers are replicas on a Ray cluster: local, auto, or host:6379 of one."),
]
Memory = Annotated[int, typer.Option(min=0, help="Megabytes that open models may take; 0 is what is free.")]


def serve(
    models: Models,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen at.")] = 8000,
    open_page: Annotated[bool, typer.Option("--open", help="Open the studio in a browser.")] = False,
    workers: Annotated[int, typer.Option(min=1, help="How many processes answer, each with models of its own.")] = 1,
    runs: Runs = None,
    engine: EngineName = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads may compute in each process.")] = None,
    api_key_file: Keys = None,
    rate: Annotated[int, typer.Option(min=0, help="Requests a minute of each key; 0 is any number.")] = 0,
    max_characters: Characters = 0,
    allow_host: Hosts = None,
    allow_origin: Origins = None,
    max_batch: Annotated[int, typer.Option(min=1, help="Texts that are answered together.")] = 32,
    max_delay_ms: Annotated[float, typer.Option(min=0, help="Milliseconds that a text waits for others.")] = 5.0,
    max_queue: Queue = 1024,
    max_length: Annotated[int, typer.Option(min=1, help="Pieces that a text may have.")] = 500,
    max_texts: Annotated[int, typer.Option(min=1, help="Texts that a request may have.")] = 128,
    max_body: Annotated[int, typer.Option(min=1, help="Megabytes that a request may have.")] = 16,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a request may take.")] = 60.0,
    memory: Memory = 0,
    ray: Ray = None,
) -> None:
    """Serve models: the studio's pages, our own interface, and those of LibreTranslate, DeepL, Azure and OpenAI.

    A model is opened when it is first asked, and answers requests together as they come. The page is at / , what can
    be asked at /docs.

    Example: regard serve runs/en-fr runs/dates --open
    """
    told: dict[str, Any] = {"host": host, "port": port, "engine": engine, "threads": threads, "workers": workers}
    told |= {
        "runs": str(runs or ""),
        "memory": memory << 20,
        "hosts": tuple(allow_host or ()),
        "origins": tuple(allow_origin or ()),
        "rate": rate,
        "quota": max_characters,
        "batch": max_batch,
        "delay": max_delay_ms / 1000,
        "queue": max_queue,
        "length": max_length,
        "texts": max_texts,
        "body": max_body << 20,
        "patience": timeout,
    }
    _serve(models, api_key_file, told, ray, open_page)


def _serve(models: list[str], keys: Path | None, told: dict[str, Any], ray: str | None, open_page: bool) -> None:
    """With all imports that this takes."""
    from regard.errors import UsageError

    try:
        from regard.serve.gate import VARIABLE, keys_of, read_keys
        from regard.serve.settings import Settings
        from regard.serve.shelf import Shelf
        from regard.serve.start import run
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "starlette", "uvicorn", "python_multipart"):
            raise
        raise UsageError(f"{error.name} is not installed.", hint="pip install 'regard[serve]'") from error
    known = read_keys(keys) if keys else keys_of(os.environ.get(VARIABLE, ""))
    settings = Settings(models=tuple(models), keys=known, **told)
    Shelf.of(models)  # what is no model is refused here, before several processes begin and end over it
    typer.echo(f"regard: http://{settings.host}:{settings.port}/ serves {', '.join(models)} (Ctrl-C ends it)", err=True)
    if ray is None:
        run(settings, open_page)
        return
    from regard.serve.replicas import run as run_replicas

    run_replicas(settings, ray)
