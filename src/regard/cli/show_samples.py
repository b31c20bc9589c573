"""`regard show MODEL "prompt" --samples`: what a language model looks back at in a text, and how it goes on from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

ENDINGS = (".html", ".txt")


def show_samples(model: Path, prompt: str, out: Path | None, drawn: tuple[Any, ...], compare: Path | None) -> None:
    """The prompt word by word, where the model attends, and continuations at three temperatures."""
    from regard.cli.show import _check_heads, _terminal, _write
    from regard.errors import UsageError
    from regard.show.canvas import check_name
    from regard.show.samples import samples_text
    from regard.show.views import View, record_text, save_samples, write_text
    from regard.tasks.objects import open_model
    from regard.tasks.samples import draw_samples

    if compare is not None:
        raise UsageError("--compare shows what two models looked at; samples are of one.", hint="Leave one out.")
    if out is not None and out.suffix.lower() not in ENDINGS:
        check_name(out, ENDINGS)
    found, view = open_model(model), View(*drawn)
    record = found.look(prompt) if prompt.strip() and found.attends else None
    if record is not None:
        _check_heads(record, view)
    samples = draw_samples(found, prompt)
    if out is not None and out.suffix.lower() == ".html":
        typer.echo(f"written: {save_samples(samples, record, out, found.name, view)}", err=True)
        return
    width, colour = _terminal() if out is None else (80, False)
    told = [record_text(record, view, width, colour=colour)] if record else []
    text = "\n\n\n".join([*told, samples_text(samples, width)])
    if out is None:
        _write(text)
    else:
        typer.echo(f"written: {write_text(out, text)}", err=True)
