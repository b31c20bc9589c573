"""`regard show MODEL "sentence"`: what a model looks at, in the terminal or as a page, a figure, a table."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli import complete
from regard.cli.episodes import Support, episodes_of, takes_support
from regard.cli.lines import read_lines
from regard.cli.options import CacheSize, CacheTheta, cache_of

if TYPE_CHECKING:
    from regard.align.record import Record
    from regard.show.views import View
    from regard.tasks.cache import Cache
    from regard.translate.translator import Translator

Corpus = Annotated[
    str | None,
    typer.Option(
        help="Of a classifier, tagger or captioner: a corpus, for a page of it.", autocompletion=complete.corpora
    ),
]
Right = Annotated[
    str | None,
    typer.Option(metavar="LABEL", help="Of a classifier, tagger or captioner: the right label, tags or caption."),
]
Sentence = Annotated[
    str | None, typer.Argument(help="A sentence, or the path of an image; - reads standard input, a line each.")
]
Target = Annotated[str | None, typer.Option(help="A translation that is given, instead of the model's own.")]
Out = Annotated[
    Path | None, typer.Option(help="A file: .html .png .svg .pdf .json .csv .txt. Without it, the terminal.")
]
ViewName = Annotated[
    Literal["matrix", "lines", "heads", "text"] | None,
    typer.Option(help="What to draw: else the matrix, or the text of a language model; a page has every view."),
]
Kind = Annotated[
    Literal["cross", "encoder-self", "decoder-self"] | None, typer.Option(help="Which attention; else cross.")
]
LayerNumber = Annotated[int | None, typer.Option(min=1, help="Which layer, from 1; else the one that aligns.")]
HeadNumber = Annotated[int | None, typer.Option(min=1, help="Which head, from 1; else those that align.")]
Training = Annotated[
    bool,
    typer.Option("--training", help="Of a run with gates: how they opened and shut over the training, as an image."),
]
Samples = Annotated[bool, typer.Option("--samples", help="Of a language model: how it goes on, at three temperatures.")]
Cells = Annotated[bool, typer.Option("--cells", help="Of a captioner: draw cells with their edges, not smoothly.")]
Opacity = Annotated[
    float | None, typer.Option(min=0, max=1, help="Of a captioner: how dark it is where nobody looked; else 0.75.")
]

Answers = Annotated[
    int | None,
    typer.Option(
        min=2, help="With --data: how many answers the page has, half of them good, half bad; else 2.", metavar="N"
    ),
]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked to be shown, as `regard show --help` explains it; `looks` are kind, layer, heads and pieces."""

    sentence: str | None
    target: str | None
    out: Path | None
    view: str | None
    looks: tuple[Any, ...]
    compare: Path | None
    samples: bool
    drawing: dict[str, Any]
    right: str | None
    data: str | None
    split: str
    answers: int | None
    cache: Cache | None
    support: Path | None = None


def show(
    model: Annotated[Path, typer.Argument(help="A model folder, or a run folder.")],
    sentence: Sentence = None,
    target: Target = None,
    out: Out = None,
    view: ViewName = None,
    kind: Kind = None,
    layer: LayerNumber = None,
    head: HeadNumber = None,
    pieces: Annotated[bool, typer.Option("--pieces", help="Pieces of words instead of words.")] = False,
    compare: Annotated[Path | None, typer.Option(help="Another model, side by side.")] = None,
    samples: Samples = False,
    training: Training = False,
    cells: Cells = False,
    opacity: Opacity = None,
    right: Right = None,
    data: Corpus = None,
    split: Annotated[str, typer.Option(help="With --data: which split.")] = "test",
    answers: Answers = None,
    cache: CacheSize = None,
    cache_theta: CacheTheta = None,
    support: Support = None,
) -> None:
    """Answer a sentence and show what the model looked at, and how far to believe it.

    Of a translator: for each word. Of a language model: for each word of the text that is given, what it looked back at
    (with --cache, what its cache looks at), and with --samples how it goes on. Of a filler: for each [MASK]. Of a
    captioner: where in the image, for each word. Of a classifier or a tagger: the words that it looked at (an image:
    where; with --support, the examples). Of a segmenter: image, found mask and gates (--right MASK: the right one;
    --training: gates over a run's training). Of a generator: what five pixels of its samples looked at (of a class, if
    one is named). With --data, a page of a test set with a right answer, a wrong one, confusions and calibration
    (--answers 12: with six of each; of captions, those nearest to their references and those farthest from them).

    Example: regard show runs/de-en "Ein Mann liest ein Buch ." --out page.html
    """
    if training:
        _show_training(model, out)
        return
    looks = (kind, None if layer is None else layer - 1, None if head is None else (head - 1,), pieces)
    drawing = ({"smooth": False} if cells else {}) | ({} if opacity is None else {"opacity": opacity})
    told: dict[str, Any] = {"sentence": sentence, "target": target, "out": out, "view": view, "looks": looks}
    told |= {"compare": compare, "samples": samples, "drawing": drawing, "right": right, "data": data, "split": split}
    told["answers"] = answers
    _shown(model, Request(**told, cache=cache_of(cache, cache_theta, None), support=support))


def _show_training(run: Path, out: Path | None) -> None:
    """What gates let through at the validations of a run."""
    from regard.errors import UsageError
    from regard.show.gates import save_gates

    if out is None:
        raise UsageError("--training draws an image.", hint="Add --out gates.png")
    typer.echo(f"written: {save_gates(run / 'looks', out)}", err=True)


def _shown(model: Path, asked: Request) -> None:
    """As the model's task has it."""
    from regard.cli.show_samples import show_samples
    from regard.engine.home import holds_model, model_home
    from regard.tasks.objects import goal_of, open_model, reads_of, verb_of

    goal, reads = goal_of(model), reads_of(model)
    if holds_model(model_home(model)):
        _check(asked, (goal, reads), verb_of(model))
    elif asked.sentence is None:
        open_model(model)  # which says what is wrong, before what was asked of it is judged
    if goal == "adversarial":
        _sampled(model, asked)
    elif goal == "reconstruct" and (reads == "text" or asked.data is not None):
        _recoded(model, asked, reads)
    elif goal == "fill" and asked.data is None:
        _filled(model, asked)
    elif goal != "write" or reads not in ("text", "nothing"):
        _answered(model, asked)
    elif asked.samples:
        show_samples(model, asked.sentence or "", asked.out, (asked.view or "text", *asked.looks), asked.compare)
    else:
        drawn = (asked.view or ("text" if reads == "nothing" else "matrix"), *asked.looks)
        _translated(model, (asked.sentence, asked.target), asked.out, drawn, asked.compare, asked.cache)


def _recoded(model: Path, asked: Request, reads: str) -> None:
    """An auto-encoder: the codes of a corpus of images; of texts there is nothing that was looked at."""
    from regard.cli.show_codes import show_codes
    from regard.errors import UsageError

    if reads == "text":
        raise UsageError(
            f"{model} does not attend: all that its decoder knows of a text is one vector.",
            hint="See what it writes: regard reconstruct MODEL; its vectors: regard encode MODEL.",
        )
    show_codes(model, (asked.data or "", asked.split), asked.answers, asked.out)


def _check(asked: Request, task: tuple[str, str], verb: str) -> None:
    """Refuse what is for models of another task."""
    from regard.errors import UsageError

    goal, reads = task
    writes = goal == "write" and reads in ("text", "nothing")
    language = {"--samples": asked.samples, "--cache": asked.cache}
    captions = {"--cells": asked.drawing.get("smooth") is False, "--opacity": "opacity" in asked.drawing}
    labels = {"--right": asked.right, "--data": asked.data}
    refused = [(name, "language models") for name, value in language.items() if value and reads != "nothing"]
    refused += [(name, "models that caption") for name, value in captions.items() if value and reads != "image"]
    refused += [(name, "models that classify, tag or caption") for name, value in labels.items() if value and writes]
    refused += [("--target", "models that translate")] if reads == "nothing" and asked.target is not None else []
    if asked.answers is not None and asked.data is None:
        raise UsageError("--answers says how many answers a page of a corpus has.", hint="Add --data CORPUS.")
    if refused:
        name, others = refused[0]
        raise UsageError(f"{name} is for {others}; this one was made to {verb}.", hint="Leave it out.")


def _answered(model: Path, asked: Request) -> None:
    """A model of another task than translating: a page of a split, or what it is given."""
    from regard.cli.show_answers import check_asked, show_inputs, show_split
    from regard.tasks.objects import open_model

    found = open_model(model)
    names = ("target", "view", "kind", "layer", "head", "pieces", "compare")
    values = (asked.target, asked.view, *asked.looks, asked.compare)
    check_asked(found, data=asked.data, out=asked.out, only_writers=dict(zip(names, values, strict=True)))
    if asked.data is not None and asked.out is not None:
        show_split(found, model, (asked.data, asked.split), asked.answers or 2, asked.out)
    else:
        drawing = {"smooth": True} | asked.drawing
        cells: list[Any] = list(_sentences(asked.sentence, asked.right))
        if takes_support(found, asked.support):
            cells = episodes_of(found, cells, asked.support)  # type: ignore[arg-type]
        show_inputs(found, cells, asked.right, asked.out, drawing)


def _sampled(model: Path, asked: Request) -> None:
    """A generator: some samples, of the class that is named if one is, and what five pixels of each looked at."""
    from regard.cli.show_answers import show_made
    from regard.errors import UsageError

    names = ("target", "view", "kind", "layer", "head", "pieces", "compare", "right", "data", "answers")
    given = (asked.target, asked.view, *asked.looks, asked.compare, asked.right, asked.data, asked.answers)
    refused = [name for name, value in zip(names, given, strict=True) if value]
    if refused:
        raise UsageError(
            f"--{refused[0]} is for models that answer something; this one was made to sample.", hint="Leave it out."
        )
    show_made(model, asked.sentence, asked.out)


def _filled(model: Path, asked: Request) -> None:
    """A model that fills: what it found for each hole, and what each looked at."""
    from regard.cli.show_answers import check_asked, show_holes
    from regard.show.canvas import check_name
    from regard.show.views import FILES, View
    from regard.tasks.objects import open_model

    lines, found = _sentences(asked.sentence, asked.right), open_model(model)
    check_asked(found, data=None, out=None, only_writers={"target": asked.target, "compare": asked.compare})
    if asked.out is not None:
        check_name(asked.out, FILES)
    show_holes(found, lines, asked.right, View(asked.view or "text", *asked.looks), asked.out)


def _translated(
    model: Path,
    pair: tuple[str | None, str | None],
    out: Path | None,
    drawn: tuple[Any, ...],
    compare: Path | None,
    cache: Cache | None = None,
) -> None:
    """A model that translates: what it looked at for each word, of the target that is given or of its own."""
    from regard.show.canvas import check_name
    from regard.show.views import FILES, View

    if out is not None:
        check_name(out, FILES)
    asked, target = View(*drawn), pair[1]
    lines = _sentences(*pair)
    if out is not None and len(lines) > 1:
        _check_many(out, len(lines), compare)
    given = target if cache is None else cache
    records = _looked(model, lines, given, asked)
    if compare is None:
        _told(records, asked, out)
    else:
        _compared(records, _looked(compare, lines, given, asked), asked, out)


def _sentences(sentence: str | None, target: str | None) -> list[str]:
    """The sentence, or the lines of standard input that hold one."""
    from regard.errors import UsageError

    given = [sentence or ""] if sentence != "-" else [line for lines in read_lines(None) for line in lines]
    lines = [line for line in given if line.strip()]
    if not lines:
        raise UsageError("expected a sentence; found none.", hint='Write one, as in: regard show MODEL "a b c"')
    if target is not None and len(lines) > 1:
        raise UsageError(f"--target goes with one sentence; found {len(lines)}.", hint="Show them one by one.")
    return lines


def _check_many(out: Path, count: int, compare: Path | None) -> None:
    """Refuse a file that cannot hold many sentences, before any is translated."""
    from regard.errors import UsageError

    if compare is not None:
        raise UsageError(f"--compare writes one sentence to a file; found {count}.", hint="Compare one by one.")
    if out.suffix.lower() != ".html":
        raise UsageError(
            f"{out}: a {out.suffix} file holds one sentence; found {count}.",
            hint=f"Write --out {out.with_suffix('.html')}, a page of all of them, or show them one by one.",
        )


def _looked(model: Path, lines: list[str], given: str | Cache | None, asked: View) -> list[Record]:
    """What a model looked at for each line, given a target or a cache, if it has the heads that were asked for."""
    from regard.tasks.objects import open_model

    found = open_model(model)
    asked_for = () if given is None else (given,)
    look = _aligning_heads if _is_of_another_engine(found) else type(found).look
    records = [look(found, line, *asked_for) for line in lines]
    _check_heads(records[0], asked)
    return records


def _is_of_another_engine(found: Any) -> bool:
    """Does an engine run it that tells what the aligning heads look at, and no more?"""
    from regard.engine import OWN, engine_of

    folder = getattr(found, "folder", None)
    return folder is not None and engine_of(folder) != OWN


def _aligning_heads(found: Translator, line: str, target: str | None = None) -> Record:
    """What the aligning heads of an exported or imported model looked at."""
    from regard.errors import UsageError

    best = found.translate(line) if target is None else found.force(line, target)[0]
    if best.record is None:
        raise UsageError(f"{found.name} tells nothing of what it looked at.")
    return best.record


def _check_heads(record: Record, asked: View) -> None:
    """Refuse a kind, layer or head that the model has not, counted from 1 as on the command line."""
    from regard.errors import UsageError

    kind = asked.kind or record.aligner.kind
    layers, layer = record.kinds.get(kind, 0), asked.layer
    if not layers:
        raise UsageError(f"{record.model} has no {kind} attention; it has {', '.join(record.kinds)}.")
    if layer is not None and layer >= layers:
        raise UsageError(f"--layer: {record.model} has {layers} of {kind}, counted from 1; asked for {layer + 1}.")
    heads = record.weights(kind, record.reader(kind, layer).layer).shape[0]
    if asked.heads and asked.heads[0] >= heads:
        raise UsageError(f"--head: {record.model} has {heads} a layer, counted from 1; asked for {asked.heads[0] + 1}.")


def _told(records: list[Record], asked: View, out: Path | None) -> None:
    from regard.show.views import record_text, save_record, save_records

    if out is None:
        width, colour = _terminal()
        _write("\n\n\n".join(record_text(record, asked, width, colour=colour) for record in records))
        return
    one = len(records) == 1
    path = save_record(records[0], out, view=asked) if one else save_records(records, out, asked)
    typer.echo(f"written: {path}", err=True)


def _compared(records: list[Record], others: list[Record], asked: View, out: Path | None) -> None:
    from regard.show.views import compare_text, save_compare

    pairs = list(zip(records, others, strict=True))
    if out is None:
        width, colour = _terminal()
        _write("\n\n\n".join(compare_text(*pair, asked, width, colour=colour) for pair in pairs))
        return
    typer.echo(f"written: {save_compare(*pairs[0], out, view=asked)}", err=True)


def _terminal() -> tuple[int, bool]:
    """How wide the window is, and whether it shows colours: a pipe does not, nor where NO_COLOR says so."""
    live = sys.stdout.isatty()
    colour = live and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return max(40, shutil.get_terminal_size().columns) if live or os.environ.get("COLUMNS") else 80, colour


def _write(text: str) -> None:
    """Text to standard output, as UTF-8 whatever the locale."""
    sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
    sys.stdout.flush()
