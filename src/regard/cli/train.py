"""`regard train RECIPE --data D --out RUN`: train, stop, resume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import complete
from regard.cli.options import Data, From, Settings, TestSize, To, ValidationSize
from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.learn.events import Tell
    from regard.learn.run import Budget

RecipeName = Annotated[
    str, typer.Argument(help="A recipe's name (see `regard systems`), or a file.", autocompletion=complete.recipes)
]
Processes = Annotated[
    str | None,
    typer.Option(
        metavar="N|auto",
        help="How many processes train as one, each with its share of every update (one, if not said); auto "
        "measures which number is fastest. Another number draws other dropout, and gives other weights.",
    ),
]


def train(
    recipe: RecipeName,
    data: Data,
    out: Annotated[Path, typer.Option(help="The run folder.")],
    source: From = None,
    target: To = None,
    minutes: Annotated[float | None, typer.Option(help="How long to train, by the clock.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many updates to train.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    size: Annotated[int | None, typer.Option(min=1, help="How many pairs a built-in corpus shall draw.")] = None,
    validation: ValidationSize = None,
    test: TestSize = None,
    setting: Settings = None,
    processes: Processes = None,
) -> None:
    """Train a recipe on a corpus. Ctrl-C saves and stops; --resume goes on, to the same weights.

    Example: regard train rnnsearch --data phrasebook --from en --to fr --out runs/en-fr --minutes 5
    """
    from regard.cli.processes import launched
    from regard.data.held_out import read_held_out
    from regard.learn.run import Budget
    from regard.tasks.job import TrainJob

    if minutes is None and steps is None:
        raise UsageError("a training needs an end.", hint="Add --minutes 10, or --steps 5000.")
    held_out = read_held_out(validation, test)
    asked = TrainJob(
        recipe, data, out, source, target, minutes, steps, seed, resume, setting or (), size, None, held_out
    )
    if processes is not None:
        asked = launched(processes, asked)
    with _shown(Budget(minutes, steps), out) as tell:
        asked.train(tell, lambda line: typer.echo(line, err=True))


@contextmanager
def _shown(budget: Budget, out: Path) -> Iterator[Tell]:
    """Show a training as it goes, and where its model is. Of many processes only the main one does, or says why not."""
    from regard.errors import Interrupted
    from regard.learn.events import quiet
    from regard.learn.processes import Elsewhere, Processes
    from regard.learn.progress import Bar

    if Processes().main:
        with Bar(budget) as bar:
            yield bar
        typer.echo(f"The best model is in {out / 'best'}.", err=True)
        return
    try:
        yield quiet
    except (Elsewhere, Interrupted) as error:
        raise typer.Exit(error.exit_code) from error
