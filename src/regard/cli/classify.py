"""`regard classify MODEL [FILE]`, `regard tag MODEL [FILE]`: filters, one line in and one line out.

Verbs whose models answer a line with little text share this file: each says what it prints of an answer, no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from regard.cli.episodes import Support, answer_episodes, takes_support
from regard.cli.lines import read_lines

if TYPE_CHECKING:
    from regard.show.shaded import Shaded
    from regard.tasks.classifier import Classification
    from regard.tasks.tagger import Tagging

ModelFolder = Annotated[Path, typer.Argument(help="A model folder, or a run folder.")]
File = Annotated[
    Path | None,
    typer.Argument(help="A text file (plain or .gz), a line each. Without it, standard input."),
]
Form = Annotated[Literal["text", "jsonl"], typer.Option("--format", help="Plain lines, or one JSON object a line.")]
Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[FILE]",
        help="A text file (plain or .gz), a line each. Without it, standard input. With --support: images, or folders "
        "of them.",
    ),
]
TagForm = Annotated[
    Literal["text", "conll", "jsonl"],
    typer.Option(
        "--format", help="word/TAG in a line; conll: a word and its tag a line, a blank line between texts; or JSON."
    ),
]


def classify(
    model: ModelFolder,
    files: Files = None,
    top: Annotated[int, typer.Option(min=1, metavar="K", help="How many classes are printed, likeliest first.")] = 1,
    attention: Annotated[
        bool, typer.Option("--attention", help="Add the words, and how much each was looked at.")
    ] = False,
    support: Support = None,
    form: Form = "text",
) -> None:
    """Find the class of each line of standard input (or a file): the class, a tab, its probability.

    For a model of images, lines are paths of images. With --top, further classes follow after tabs; with --attention,
    words and weights as word:0.123, all queries together; --format jsonl has everything, query by query. A model that
    learns from a few examples is shown them with --support, and takes images: regard classify MODEL a.png b.png
    --support DIR writes the path of each, its class and the probability; --attention adds the weight of each example.

    Example: echo "Slow, but worth it." | regard classify runs/reviews
    """
    from regard.errors import UsageError

    found = opened(model, "classify")
    if takes_support(found, support):
        answer_episodes(found, files, support, form, top=top, attention=attention)  # type: ignore[arg-type]
        return
    if files is not None and len(files) > 1:
        raise UsageError(
            f"expected one file of lines; found {len(files)}: {', '.join(map(str, files[:3]))}.",
            hint="Write them on standard input: ls photos/*.png | regard classify MODEL",
        )
    if attention and form == "text" and found.reads != "text":
        raise UsageError("the cells of an image do not go into a line of text.", hint="Add --format jsonl.")

    def line(answer: Classification) -> list[str]:
        return [_class_json(answer, top) if form == "jsonl" else _class_line(answer, top, attention)]

    _filter(found, files[0] if files else None, line, record=attention or form == "jsonl")


def tag(model: ModelFolder, file: File = None, form: TagForm = "text") -> None:
    """Find a tag for each word of each line of standard input (or a file); words are what stands between spaces.

    Example: echo "they plan a walk ." | regard tag runs/tagger --format conll
    """
    found = opened(model, "tag")

    def lines(answer: Tagging) -> list[str]:
        if form == "jsonl":
            return [_tags_json(answer)]
        if form == "conll":
            pairs = zip(answer.words, answer.tags, strict=True)
            return [*(f"{_cell(word)}\t{_cell(each)}" for word, each in pairs), ""]
        return [answer.drawn()]

    _filter(found, file, lines, record=form == "jsonl")


def opened(folder: Path, verb: str) -> Any:
    """The model, if this verb is its own; one of another task is told which verb is."""
    from regard.engine.home import holds_model, model_home
    from regard.errors import UsageError
    from regard.tasks.objects import open_model, verb_of

    asked = verb_of(folder)
    if asked != verb and holds_model(model_home(folder)):
        raise UsageError(
            f"{folder}: expected a model that was made to {verb}; it was made to {asked}.",
            hint=f"Use `regard {asked}`.",
        )
    return open_model(folder)


def _filter(model: Any, file: Path | None, lines: Callable[[Any], Iterable[str]], **asked: Any) -> None:
    """Answer groups of lines as they come; `asked` is what the model's `answer` takes."""
    from regard.chunks import one_line

    for group in read_lines(file):
        cells = group if model.reads == "text" else _paths(group)
        told = [line for answer in model.answer(cells, **asked) for line in lines(answer)]
        sys.stdout.buffer.write("".join(f"{one_line(line)}\n" for line in told).encode("utf-8"))
        sys.stdout.buffer.flush()


def _paths(lines: list[str]) -> list[str]:
    """Paths of images, a line each."""
    from regard.errors import UsageError

    empty = [number for number, line in enumerate(lines, 1) if not line.strip()]
    if empty:
        raise UsageError(
            f"expected the path of an image in every line; one is empty, {empty[0]} of the {len(lines)} read together.",
            hint="This model reads images: ls photos/*.png | regard classify MODEL",
        )
    return lines


def _class_line(answer: Classification, top: int, attention: bool) -> str:
    ranked = sorted(answer.probabilities.items(), key=lambda each: -each[1])[:top]
    cells = [cell for name, share in ranked for cell in (_cell(name), f"{share:.4f}")]
    return "\t".join([*cells, _weights(answer.seen)] if attention else cells)  # type: ignore[arg-type]


def _weights(seen: Shaded) -> str:
    """Words and what they were looked at with, all queries together; nothing of a model that does not attend."""
    if not len(seen.weights):
        return ""
    pairs = zip(seen.words, seen.weights.mean(0).tolist(), strict=True)
    return " ".join(f"{_cell(word)}:{weight:.3f}" for word, weight in pairs)


def _class_json(answer: Classification, top: int) -> str:
    from regard.chunks import one_json_line
    from regard.show.masked import MaskedImage
    from regard.show.shaded import Shaded

    ranked = sorted(answer.probabilities.items(), key=lambda each: -each[1])
    told: dict[str, Any] = {"source": str(answer.source), "label": answer.label, "probability": answer.probability}
    told["probabilities"] = dict(ranked[:top] if top > 1 else ranked)
    seen = answer.seen
    if isinstance(seen, Shaded):
        told |= {"words": seen.words, "weights": seen.weights.tolist()}
        told |= {} if seen.gates is None else {"gates": seen.gates.tolist()}
        told |= {"attention": [each.tolist() for each in answer.looked.encoder]} if answer.looked.encoder else {}
    elif isinstance(seen, MaskedImage):
        told["masks"] = [each.mask.tolist() for each in seen.modules]
    elif seen.weights is not None:
        told["grid"] = seen.weights.tolist()
    return one_json_line(told)


def _tags_json(answer: Tagging) -> str:
    from regard.chunks import one_json_line

    told: dict[str, Any] = {"words": answer.words, "tags": answer.tags, "probabilities": answer.probabilities}
    if answer.alignment is not None:
        told["weights"] = answer.alignment.matrix.tolist()
    return one_json_line(told)


def _cell(text: str) -> str:
    """A text between tabs."""
    from regard.chunks import one_line

    return one_line(text, columns=True)
