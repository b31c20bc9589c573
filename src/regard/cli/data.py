"""`regard data`: list, get, make and check corpora."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="Built-in, downloadable and your own data.")
