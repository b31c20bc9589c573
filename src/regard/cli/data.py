"""`regard data`: list, get, make and check corpora."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import complete
from regard.cli.options import From, TestSize, To, ValidationSize

if TYPE_CHECKING:
    from regard.data.download import Progress
    from regard.data.labelled.wanted import Kind

app = typer.Typer(no_args_is_help=True, help="Built-in, downloadable and your own data.")


@app.command("list")
def list_corpora() -> None:
    """Show every corpus that has a name: what it is, its languages, its size and where it lies.

    Example: regard data list
    """
    from regard.data.catalogue import entries

    rows = [("name", "what", "languages", "training pairs", "where")]
    rows += [(entry.name, entry.about, entry.languages, entry.size, entry.where) for entry in entries()]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


@app.command()
def get(
    name: Annotated[
        str,
        typer.Argument(
            help="A downloadable corpus, as `regard data list` shows it.", autocompletion=complete.downloadable_corpora
        ),
    ],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Where to put it; the cache if not given.")] = None,
    mirror: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Fetch NAME/FILE from here instead (also: REGARD_MIRROR)."),
    ] = None,
) -> None:
    """Download a corpus, compare its checksums, and print the folder it lies in.

    Example: regard data get multi30k
    """
    from regard.data.catalogue import DOWNLOADS
    from regard.data.download import get as fetch

    size = DOWNLOADS[name].size if name in DOWNLOADS else 0
    with _progress(f"fetching {name}", size) as progress:
        folder = fetch(name, out=out, mirror=mirror, progress=progress)
    typer.echo(f"Terms of use: {DOWNLOADS[name].terms}.", err=True)
    typer.echo(str(folder))


@app.command()
def make(
    name: Annotated[
        str,
        typer.Argument(
            help="A built-in corpus: dates, phrasebook, copy, reviews, ...", autocompletion=complete.built_in_corpora
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write to.")],
    size: Annotated[int | None, typer.Option(metavar="N", help="How many training pairs.")] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="Which ones: the same seed, the same pairs.")] = 0,
    gold: Annotated[bool, typer.Option("--gold", help="Write the gold word links too, as SPLIT.FROM-TO.gold.")] = False,
    source: From = None,
    target: To = None,
) -> None:
    """Write a built-in corpus as plain files, train.en train.fr val.en ... (or train.csv ...), and print their names.

    Example: regard data make phrasebook --size 10000 --out phrases --gold --from en --to de
    """
    from regard.data.make import plan_of_builtin, write_files

    plan = plan_of_builtin(name, source=source, target=target, size=size, seed=seed)
    for path in write_files(plan, out, gold=gold):
        typer.echo(str(path))


@app.command()
def check(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A name, a folder or a file.", autocompletion=complete.corpora)
    ],
    source: From = None,
    target: To = None,
    validation: ValidationSize = None,
    test: TestSize = None,
    task: Annotated[
        str | None,
        typer.Option(
            metavar="TASK",
            help="translate, classify, tag, caption, segment, generate or episodes; else the data tells, if it can.",
        ),
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of texts or images.")] = None,
    label: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of labels, tags, captions or masks.")
    ] = None,
    batches: Annotated[
        bool, typer.Option("--batches", help="Also cut it into pieces and batches, as a training would.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report for machines.")] = False,
) -> None:
    """Look for every fault of a corpus before a training does. Errors give exit code 1; warnings only warn.

    Example: regard data check mydata --from de --to en
    """
    from regard.data.check import check as look
    from regard.data.held_out import read_held_out

    held_out = read_held_out(validation, test)
    kind = _kind(data, task, (text, label), named=bool(source or target))
    if batches and kind:
        from regard.errors import UsageError

        raise UsageError(
            "--batches is for pairs of texts.", hint="Leave it out: the check reads all of the data anyway."
        )
    report = look(data, source=source, target=target, held_out=held_out, **kind)
    if batches and report.ok:
        from regard.data.corpus import Corpus
        from regard.data.rehearse import rehearse

        report = rehearse(Corpus.open(data, source=source, target=target, held_out=held_out), report)
    typer.echo(report.as_json() if as_json else str(report))
    if not report.ok:
        raise typer.Exit(1)


def _kind(data: str, task: str | None, columns: tuple[str | None, str | None], *, named: bool) -> Kind:
    """What labelled data is asked for: by a task, by columns, or by what lies there and no language was `named`."""
    from regard.data.labelled.detect import sides_for

    text, label = columns
    if task is None and (text or label):
        task = "classify"
    sides = None if task is None and named else sides_for(task, data)
    return {} if sides is None else {"reads": sides[0], "wants": sides[1], "text": text, "label": label}


@contextmanager
def _progress(words: str, size: int) -> Iterator[Progress]:
    """A progress bar on standard error, which is for people: nothing is drawn where none is watching."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(words, total=size)
        yield lambda count: bar.advance(task, count)
