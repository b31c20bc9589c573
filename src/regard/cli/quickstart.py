"""`regard quickstart`: train a date reader and show what it looks at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from regard.data.example import Example
    from regard.data.tokenizer import Tokenizer
    from regard.model import Model

SHOWN = ("friday october 20 1995", "the 3rd of may 1968")


def quickstart(
    minutes: Annotated[float, typer.Option(min=0.01, help="How long to train.")] = 1.0,
    out: Annotated[Path, typer.Option(help="Where to keep the model.")] = Path("runs/quickstart/dates"),
    seed: Annotated[int, typer.Option(help="The same seed draws the same dates and first weights.")] = 0,
) -> None:
    """Train a reader of human dates in about a minute, and show what it looks at.

    Example: regard quickstart --minutes 2
    """
    import torch

    from regard.data.builtin import examples
    from regard.data.tokenizer import Tokenizer
    from regard.model import save
    from regard.recipe import resolve

    # A model this small gains nothing from a second thread, and loses much where the machine is busy.
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    train = list(examples("dates", split="train", size=20_000, seed=seed))
    test = list(examples("dates", split="test", size=500, seed=seed))
    source = Tokenizer.train((pair.source for pair in train), kind="characters")
    target = Tokenizer.train((pair.target for pair in train), kind="characters")
    model = resolve("rnnsearch-characters").build(len(source), len(target))
    typer.echo(f"A date reader after Bahdanau: {len(train):,} dates, {minutes:g} minutes.", err=True)
    _train(model, train, source, target, 60 * minutes, seed)
    read = _read_all(model, test, source, target)
    wrong = [(pair, text) for pair, text in zip(test, read, strict=True) if text != pair.target]
    typer.echo(f"{1 - len(wrong) / len(test):.1%} of {len(test)} dates it has never seen are read exactly.\n")
    for line in SHOWN:
        typer.echo(_picture(model, line, source, target) + "\n")
    for pair, text in wrong[:3]:
        typer.echo(f"read wrongly: {pair.source} as {text}, not {pair.target}")
    tokenizers = {"source.tokenizer.json": source, "target.tokenizer.json": target}
    save(model, out, {name: each.backend.to_str() for name, each in tokenizers.items()})
    typer.echo(f"The model is in {out}.", err=True)


def _train(model: Model, pairs: list[Example], source: Tokenizer, target: Tokenizer, seconds: float, seed: int) -> None:
    """Train for so many seconds, under a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from regard.data.batches import Batches, Examples
    from regard.learn.loop import Step, fit

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("training", total=seconds)

        def tell(step: Step) -> None:
            told = f"step {step.number}, loss {step.surprise:.3f}, {step.speed:,.0f} characters/s"
            progress.update(task, completed=min(step.seconds, seconds), description=told)

        fit(
            model,
            Batches(Examples(pairs), source, target, tokens=2048, seed=seed).forever(),
            seconds=seconds,
            tell=tell,
        )


def _read_all(model: Model, pairs: list[Example], source: Tokenizer, target: Tokenizer) -> list[str]:
    """What the model makes of each source, in order."""
    from regard.data.batches import Batches, Examples
    from regard.data.tokenizer import END, START
    from regard.search.greedy import greedy

    texts = [""] * len(pairs)
    for batch in Batches(Examples(pairs), source, target, shuffle=False):
        for row, found in zip(batch.rows, greedy(model, batch.source, start=START, end=END, longest=12), strict=True):
            texts[row] = target.decode(found.ids)
    return texts


def _picture(model: Model, line: str, source: Tokenizer, target: Tokenizer) -> str:
    """One date, what it was read as, and the characters that were looked at for each character written."""
    import torch

    from regard.data.tokenizer import END, START
    from regard.search.greedy import greedy
    from regard.show.terminal import draw
    from regard.types import Padded

    pieces = source.encode(line)
    ids = torch.tensor([[*pieces.ids, END]])
    (found,) = greedy(model, Padded(ids, torch.ones_like(ids).bool()), start=START, end=END, longest=12)
    written = target.decode(found.ids)
    if found.weights is None:
        return f"{line}  ->  {written}"
    labels = [*pieces.pieces, "·"]  # the end of the line, which may be looked at too
    return f"{line}  ->  {written}\n\n" + draw(found.weights[: len(written)], labels, list(written))
