"""The command line: one file a command.

`regard --help` must answer at once, so the tops of the command files import nothing heavy: torch, datasets
and the parts are imported inside the functions that need them (a test holds this).
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli import (
    align,
    caption,
    classify,
    compare,
    data,
    encode,
    evaluate,
    export,
    fill,
    generate,
    import_,
    latex,
    parts,
    quickstart,
    recipe,
    reconstruct,
    reproduce,
    sample,
    score_links,
    segment,
    serve,
    show,
    systems,
    train,
    translate,
)
from regard.errors import RegardError
from regard.version import __version__

app = typer.Typer(
    name="regard",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Attention models on a CPU, in which what the model looked at is part of the result.",
    epilog="Example: regard recipe rnnsearch",
)
# In the order of a person's first day.
app.command("quickstart")(quickstart.quickstart)
app.command("systems")(systems.systems)
app.command("reproduce")(reproduce.reproduce)
app.command("parts")(parts.parts)
app.command("recipe")(recipe.recipe)
app.add_typer(data.app, name="data")
app.command("train")(train.train)
app.command("translate")(translate.translate)
app.command("caption")(caption.caption)
app.command("latex")(latex.latex)
app.command("classify")(classify.classify)
app.command("tag")(classify.tag)
app.command("segment")(segment.segment)
app.command("fill")(fill.fill)
app.command("encode")(encode.encode)
app.command("reconstruct")(reconstruct.reconstruct)
app.command("generate")(generate.generate)
app.command("sample")(sample.sample)
app.command("score")(generate.score)
app.command("align")(align.align)
app.command("score-links")(score_links.score_links)
app.command("show")(show.show)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("serve")(serve.serve)
app.command("export")(export.export)
app.command("import")(import_.import_)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"regard {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    parts: Annotated[
        list[Path] | None,
        typer.Option("--parts", metavar="FILE.py", help="Python files that register parts of your own."),
    ] = None,
) -> None:
    """Options that stand before the command."""
    if debug:
        os.environ["REGARD_DEBUG"] = "1"
    if parts:
        from regard.registry import load_file

        for path in parts:
            load_file(path)


def _tell_warnings() -> None:
    """Our own warnings are for whoever typed the command: once, in their words alone, without a line of our source."""
    usual, told = warnings.showwarning, set[str]()

    def tell(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not category.__module__.startswith("regard."):
            usual(message, category, *place, **more)
        elif str(message) not in told:
            told.add(str(message))
            typer.echo(f"regard: {message}", err=True)

    warnings.showwarning = tell


def main() -> None:
    """Run a command; turn what Regard raises on purpose into a message and an exit code."""
    _tell_warnings()
    try:
        app()
    except RegardError as error:
        if os.environ.get("REGARD_DEBUG"):
            raise
        typer.echo(f"regard: {error}", err=True)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:  # before a command runs, while its options are read
        sys.exit(130)
