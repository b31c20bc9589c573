"""`regard show MODEL --data CORPUS --out codes.png` of an auto-encoder: its codes as points, and a lattice of them."""

from __future__ import annotations

from pathlib import Path

import typer

ROWS = 10  # images that are shown beside what was made of them


def show_codes(folder: Path, of: tuple[str, str], count: int | None, out: Path | None) -> None:
    """A figure of the codes of a split, or a page that also has images beside what was made of them, and walks."""
    from regard.data.corpus import Corpus
    from regard.data.held_out import recorded
    from regard.engine.home import model_home
    from regard.errors import UsageError
    from regard.show.canvas import check_name
    from regard.show.code_page import FILES, save_codes
    from regard.tasks.code_map import picture_codes
    from regard.tasks.objects import open_model

    data, split = of
    if out is None:
        raise UsageError("--data draws the codes of a corpus.", hint="Add --out codes.png, or --out page.html")
    check_name(out, FILES)
    model = open_model(folder)
    corpus = Corpus.open(data, held_out=recorded(model_home(folder)), reads=model.reads, wants=model.wants)
    found = picture_codes(model, corpus, split, count or ROWS)
    title = f"{model.name}: {corpus.name} {split}, codes of {model.width} numbers"
    typer.echo(f"written: {save_codes(found.codes, found.rows, found.walks, out, title)}", err=True)
