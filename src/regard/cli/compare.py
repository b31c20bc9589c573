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
    from regard.compare import Arm, Pairs, Plan
    from regard.data.corpus import Corpus
    from regard.data.held_out import HeldOut
    from regard.data.labelled.wanted import Kind

Arms = Annotated[
    list[str],
    typer.Argument(
        metavar="RECIPE...",
        help='Recipes or finished models. With settings and a label: "dot: luong attend.score=dot". Finished models of '
        'several seeds as one: "mine: runs/a runs/b runs/c".',
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
    seed: Annotated[int, typer.Option(help="The same for all; with --seeds the first.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How often each is trained: with this seed, the next ...")] = 1,
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
    --minutes 10 --seeds 3 --out reports/first
    """
    from regard.compare import Plan, read_arms
    from regard.data.corpus import Corpus
    from regard.data.held_out import read_held_out
    from regard.errors import UsageError

    read = read_arms(arms, setting or ())
    if minutes is None and steps is None and not all(arm.finished for arm in read):
        raise UsageError("a comparison needs a budget.", hint="Add --minutes 10, or --steps 5000.")
    source, target = (source, target) if any_language else _languages(read, source, target)
    held_out = read_held_out(validation, test) or _recorded(read)
    # As `evaluate` opens it: seed and size are for training.
    corpus = Corpus.open(data, source=source, target=target, held_out=held_out, **_kind(read))
    corpus.split(split)
    same = (data, source, target, minutes, steps, seed, size, tuple(setting or ()), split, beam, alpha, any_language)
    plan = Plan(*same, *held_out.fitting(corpus.cut), seeds)
    plan.keep(out)
    _run(plan, read, _pairs(corpus, split), out, jobs)


def _run(plan: Plan, arms: Sequence[Arm], pairs: Pairs, out: Path, jobs: int) -> None:
    """Run what is still to be done, and write the report of all that did not fail."""
    from regard.compare import (
        Measures,
        draw_examples,
        keep_pairs,
        read_results,
        run_trials,
        trials_of,
        with_questions,
        write_report,
    )
    from regard.errors import TrainingError

    trials = trials_of(plan, arms)
    if pairs.gold:
        keep_pairs(pairs.sources, pairs.references, out)
    outcomes = run_trials(plan, trials, out, jobs=jobs or min(len(trials), os.cpu_count() or 1), tell=_told)
    results = with_questions(read_results(outcomes), pairs)
    page = write_report(plan, outcomes, Measures(results, pairs), draw_examples(results, pairs, plan), out)
    typer.echo((out / "report.md").read_text(encoding="utf-8"))
    typer.echo(f"The report is {page}.", err=True)
    failed = [each.trial.label for each in outcomes if each.error]
    if failed:
        what = "arms" if len(trials) == len(arms) else "trainings"
        raise TrainingError(f"{len(failed)} of {len(trials)} {what} failed: {'; '.join(failed)}; the report says why.")


def _pairs(corpus: Corpus, split: str) -> Pairs:
    """What the arms are scored on, with the gold links of the corpus."""
    from regard.compare import Pairs
    from regard.evaluate import read_links

    rows = corpus.split(split)
    linked = "links" in rows.column_names and corpus.source != "image"  # of images they are places
    gold = read_links(list(rows["links"])) if linked else None
    return Pairs(list(rows["source"]), list(rows["target"]), gold)


def _kind(arms: Sequence[Arm]) -> Kind:
    """What the corpus has in its columns, where it is not two languages."""
    reads, wants = arms[0].sides
    return {} if (reads, wants) == ("text", "text") else {"reads": reads, "wants": wants}


def _languages(arms: Sequence[Arm], source: str | None, target: str | None) -> tuple[str | None, str | None]:
    """What to read and write: what was asked, else what the finished models do; refused where one does otherwise."""
    from regard.data.languages import asked_of
    from regard.engine.home import model_home

    for model in (model for arm in arms for model in arm.models):
        source, target = asked_of(model_home(model), source, target)
    return source, target


def _recorded(arms: Sequence[Arm]) -> HeldOut:
    """What the training of a finished model held out: all must be tested on pairs that none has learnt from."""
    from regard.data.held_out import USUAL, recorded
    from regard.engine.home import model_home

    return next(filter(None, (recorded(model_home(model)) for arm in arms for model in arm.models)), USUAL)


def _told(label: str, line: str) -> None:
    """What an arm says of itself, after its name; samples are left to its log."""
    words = line.strip()
    if words.startswith(("step", "done", "failed", "stopped", "regard:")):
        typer.echo(f"{label}: {words}", err=True)
