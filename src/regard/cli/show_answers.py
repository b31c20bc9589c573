"""What `regard show` does for models of other tasks than translating: answers, or a page of a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from regard.errors import UsageError

if TYPE_CHECKING:
    from regard.show.views import View
    from regard.tasks.filling import Filling
    from regard.tasks.using import TaskModel

KEPT = 10  # pieces that are found for a hole; those shown are the likeliest of them and the right one
MADE = 4  # samples of a generator that are shown
NUMBERS = (".json", ".csv")  # files of numbers
LOOKED = 200  # examples of a split among which right and wrong answers are looked for


def show_inputs(
    model: TaskModel, cells: Sequence[Any], right: str | None, out: Path | None, drawing: dict[str, Any]
) -> None:
    """Answer some inputs, and draw what was looked at; `drawing` is how captioned images are drawn."""
    from regard.cli.show import _terminal, _write
    from regard.show.answers import answers_text, save_answers

    answers = model.answer(cells)
    seen = [_drawn_so(view, drawing) for each in answers for view in _views(each, right)]
    if out is None:
        width, colour = _terminal()
        _write(answers_text(seen, width, colour=colour))
        return
    typer.echo(f"written: {save_answers(seen, out)}", err=True)


def _drawn_so(view: Any, drawing: dict[str, Any]) -> Any:
    from regard.show.captioned import Captioned

    return replace(view, **drawing) if isinstance(view, Captioned) else view


def _views(answer: Any, right: str | None) -> list[Any]:
    """What is drawn of an answer: one picture, or one for each hole that was filled."""
    return answer.views(right) if hasattr(answer, "views") else [answer.compared(right)]


def show_holes(model: TaskModel, cells: Sequence[str], right: str | None, view: View, out: Path | None) -> None:
    """Fill the holes of some texts, and draw what each looked at: the text shaded, or a view of every word."""
    from regard.cli.show import _check_heads, _terminal, _write
    from regard.show.answers import answers_text, save_answers
    from regard.show.document import MOST
    from regard.show.views import record_text, save_record

    answers: list[Filling] = model.fill(cells, top=KEPT)
    for record in filter(None, (each.record for each in answers)):
        _check_heads(record, view)
    seen = [each for answer in answers for each in answer.views(right, view.layer, view.heads)]
    texts = view.view == "text" and not view.pieces
    if out is None:
        width, colour = _terminal()
        told = [record_text(each.record, view, width, colour=colour) for each in answers if each.record]
        _write(answers_text(seen, width, colour=colour) if texts else "\n\n\n".join(told))
        return
    page = out.suffix.lower() == ".html"
    if page or (texts and out.suffix.lower() not in NUMBERS):
        figures = [each.figure(view.layer, view.heads, most=MOST // len(answers)) for each in answers] if page else []
        typer.echo(f"written: {save_answers(seen, out, '', [each for each in figures if each])}", err=True)
        return
    if len(answers) > 1:
        raise UsageError(f"{out}: a {out.suffix} file holds one text; found {len(answers)}.", hint="One by one.")
    if answers[0].record is not None:
        typer.echo(f"written: {save_record(answers[0].record, out, view=view)}", err=True)


def show_made(folder: Path, label: str | None, out: Path | None) -> None:
    """Some samples of a generator, and what five pixels of each looked at."""
    from regard.cli.show import _write
    from regard.show.canvas import check_name
    from regard.show.sampled import FILES, sampled_text, save_sampled
    from regard.tasks.objects import open_model

    if out is not None:
        check_name(out, FILES)
    made = [each.seen() for each in open_model(folder).sample(MADE, label=label)]
    if out is None:
        _write(sampled_text(made))
        return
    typer.echo(f"written: {save_sampled(made, out)}", err=True)


def show_split(model: TaskModel, folder: Path, of: tuple[str, str], count: int, out: Path) -> None:
    """A page of a corpus and its split: right answers and wrong ones, and pictures of all that was measured."""
    from regard.data.corpus import Corpus
    from regard.data.held_out import recorded
    from regard.engine.home import model_home
    from regard.evaluate import Report
    from regard.show.overview import save_overview
    from regard.tasks.references import once_each

    data, split = of
    home = model_home(folder)
    corpus = Corpus.open(data, held_out=recorded(home), reads=model.reads, wants=model.wants)
    report: Report = model.evaluate(corpus, split=split, by_length=True)
    rows = corpus.split(split)
    cells, right = once_each(model.source, list(rows["source"]), list(rows["target"]))
    most = len(cells) if model.wants == "class" else LOOKED  # of which episodes are drawn
    sources, references = model.questions(cells[:most], right[:most])
    shown = _some_of(model.answer(sources[:LOOKED]), references[:LOOKED], count)
    typer.echo(f"written: {save_overview(report, shown, out)}", err=True)


def _some_of(answers: Sequence[Any], references: Sequence[Any], count: int) -> list[Any]:
    """As many answers beside what is right: the surest right and wrong ones, or captions near to it and far from it."""
    from regard.show.answers import one_right_one_wrong
    from regard.tasks.references import best_and_worst, nearest

    if hasattr(answers[0], "beside"):
        return [answers[n].beside(references[n]) for n in best_and_worst([a.text for a in answers], references, count)]
    seen = [each.compared(nearest(each.text, right)) for each, right in zip(answers, references, strict=True)]
    return one_right_one_wrong(seen, count)


def check_asked(model: TaskModel, *, data: str | None, out: Path | None, only_writers: dict[str, Any]) -> None:
    """Refuse what is for translators, and a page without a name."""
    from regard.show.answers import FILES
    from regard.show.canvas import check_name

    named = [name for name, value in only_writers.items() if value]
    if named:
        raise UsageError(
            f"--{named[0]} is for models that translate; this one was made to {model.verb}.", hint="Leave it out."
        )
    if data is not None and (out is None or out.suffix.lower() != ".html"):
        raise UsageError("--data makes a page.", hint="Add --out page.html")
    if out is not None:
        check_name(out, FILES)
