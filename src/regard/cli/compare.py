"""`regard compare RECIPE ... --data D --out REPORT`: same data, same budget, one report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import complete
from regard.cli.options import Alpha, AnyLanguage, Data, From, Settings, TestSize, To, ValidationSize

if TYPE_CHECKING:
    from regard.compare import Plan, Result
    from regard.compare.arms import Arm
    from regard.compare.report import Example
    from regard.data.corpus import Corpus
    from regard.data.held_out import HeldOut

SHOWN = 3  # test sentences that the report shows as each arm saw them
Arms = Annotated[
    list[str],
    typer.Argument(
        metavar="RECIPE...",
        help='Recipes or finished models. With settings and a label: "dot: luong attend.score=dot".',
        autocompletion=complete.recipes,
    ),
]
Jobs = Annotated[
    int, typer.Option(min=0, help="How many run at once, each with its share of the cores; 0 for one a core.")
]


def compare(
    arms: Arms,
    data: Data,
    out: Annotated[Path, typer.Option(help="The report's folder; a rerun goes on where it stopped.")],
    source: From = None,
    target: To = None,
    any_language: AnyLanguage = False,
    minutes: Annotated[float | None, typer.Option(help="How long each trains, by the clock.")] = None,
    steps: Annotated[int | None, typer.Option(help="How many updates each makes.")] = None,
    seed: Annotated[int, typer.Option(help="The same for all.")] = 0,
    size: Annotated[int | None, typer.Option(min=1, help="How many pairs a built-in corpus shall draw.")] = None,
    split: Annotated[str, typer.Option(help="What they are scored on.")] = "test",
    beam: Annotated[int, typer.Option(min=1, help="How many outputs are followed at once.")] = 5,
    alpha: Alpha = None,
    validation: ValidationSize = None,
    test: TestSize = None,
    jobs: Jobs = 0,
    setting: Settings = None,
) -> None:
    """Train recipes on the same data with the same budget, and report them side by side.

    Example: regard compare rnnsearch seq2seq "dot: luong attend.score=dot" --data multi30k --from de --to en
    --minutes 10 --out reports/first
    """
    from regard.compare import Plan, read_arms, read_result, run_arms, write_report
    from regard.data.corpus import Corpus
    from regard.data.held_out import read_held_out
    from regard.errors import TrainingError, UsageError

    read = read_arms(arms, setting or ())
    if minutes is None and steps is None and not all(arm.finished for arm in read):
        raise UsageError("a comparison needs a budget.", hint="Add --minutes 10, or --steps 5000.")
    source, target = (source, target) if any_language else _languages(read, source, target)
    held_out = read_held_out(validation, test) or _recorded(read)
    # As `evaluate` opens it: seed and size are for training.
    corpus = Corpus.open(data, source=source, target=target, held_out=held_out)
    corpus.split(split)
    same = (data, source, target, minutes, steps, seed, size, tuple(setting or ()), split, beam, alpha, any_language)
    plan = Plan(*same, *held_out.fitting(corpus.cut))
    plan.keep(out)
    outcomes = run_arms(plan, read, out, jobs=jobs or min(len(read), os.cpu_count() or 1), tell=_told)
    results = [read_result(each) for each in outcomes if not each.error]
    references = list(corpus.split(split)["target"])
    page = write_report(plan, outcomes, results, references, _examples(results, corpus, plan), out)
    typer.echo((out / "report.md").read_text(encoding="utf-8"))
    typer.echo(f"The report is {page}.", err=True)
    failed = [each.arm.label for each in outcomes if each.error]
    if failed:
        raise TrainingError(f"{len(failed)} of {len(read)} arms failed: {', '.join(failed)}; the report says why.")


def _languages(arms: Sequence[Arm], source: str | None, target: str | None) -> tuple[str | None, str | None]:
    """What to read and write: what was asked, else what the finished models do; refused where one does otherwise."""
    from regard.data.languages import asked_of
    from regard.engine.home import model_home

    for arm in arms:
        if arm.finished:
            source, target = asked_of(model_home(arm.recipe), source, target)
    return source, target


def _recorded(arms: Sequence[Arm]) -> HeldOut:
    """What the training of a finished model held out: all must be tested on pairs that none has learnt from."""
    from regard.data.held_out import USUAL, recorded
    from regard.engine.home import model_home

    return next(filter(None, (recorded(model_home(arm.recipe)) for arm in arms if arm.finished)), USUAL)


def _told(label: str, line: str) -> None:
    """What an arm says of itself, after its name; samples are left to its log."""
    words = line.strip()
    if words.startswith(("step", "done", "failed", "stopped", "regard:")):
        typer.echo(f"{label}: {words}", err=True)


def _examples(results: list[Result], corpus: Corpus, plan: Plan) -> list[Example]:
    """A short, a middling and a longer sentence as each arm translates them."""
    from regard.compare.report import Example
    from regard.search import Options
    from regard.translator import Translator

    rows = corpus.split(plan.split)
    lines, references = list(rows["source"]), list(rows["target"])
    order = sorted((row for row in range(len(lines)) if lines[row].strip()), key=lambda row: len(lines[row]))
    chosen = list(dict.fromkeys(order[len(order) * share // 6] for share in (1, 3, 5)))[:SHOWN] if order else []
    found = [
        [
            best[0]
            for best in Translator.load(each.model).search(
                [lines[row] for row in chosen], Options(beam=plan.beam, alpha=plan.alpha)
            )
        ]
        for each in results
    ]
    return [
        Example(lines[row], references[row], tuple(each[number] for each in found)) for number, row in enumerate(chosen)
    ]
