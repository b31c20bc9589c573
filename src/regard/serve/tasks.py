"""What a model of each task is asked, and how its answers are made: many alike at once, or one that is steered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from regard.errors import RegardError
from regard.search import Options, Sampling
from regard.serve.counters import Counters
from regard.serve.refused import Refused
from regard.serve.shelf import Entry, Shelf
from regard.show.grown import Tree, grown
from regard.show.steer import Off, Pin, steer
from regard.tasks.generation import GenerateOptions

TINY = 1e-6  # of a temperature, and of a share
LONG = 200  # characters that no piece of a text has on average


@dataclass(frozen=True)
class Cell:
    """One input, and what its output is made to begin with: a text, or ids of pieces."""

    given: Any
    prefix: str | tuple[int, ...] = ""


@dataclass(frozen=True)
class Asked:
    """What holds for all inputs of a request; those that were asked alike are answered together.

    `sampling` draws `options.nbest` outputs; `stop` is for models that continue a text. `record` keeps what was
    looked at.
    """

    options: Options = field(default_factory=Options)
    record: bool = True
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Steering:
    """What is done to a model while it answers, and whether the tree of its search is kept."""

    pins: tuple[Pin, ...] = ()
    off: tuple[Off, ...] = ()
    tree: bool = False

    def __bool__(self) -> bool:
        return bool(self.pins or self.off or self.tree)


@dataclass(frozen=True)
class Steered:
    """The answers to one input of a model that was steered, and the tree of the search."""

    answers: list[Any]
    tree: Tree | None = field(default=None, repr=False)


class Served:
    """One model behind the queue. All that is here runs in the thread of the models."""

    def __init__(self, shelf: Shelf, entry: Entry, longest: int, counters: Counters) -> None:
        self.shelf, self.entry, self.longest, self.counters = shelf, entry, longest, counters

    @property
    def model(self) -> Any:
        """The model, opened if it is not."""
        return self.shelf.open(self.entry)

    def work(self, cells: Sequence[Cell], asked: Any) -> list[Any]:
        """The answers to each of many inputs, best first; in the place of one that cannot be answered, why."""
        model, found = self.model, dict[int, Any]()
        for place, cell in enumerate(cells):
            try:
                self.check_length(cell.given)
            except RegardError as error:
                found[place] = Refused(400, _said(error), "inputs")
            except Refused as error:
                found[place] = error
        rows = [place for place in range(len(cells)) if place not in found]
        self.counters.texts(self.entry.name, len(rows))
        found |= zip(rows, self._each(model, [cells[row] for row in rows], asked), strict=True)
        return [found[place] for place in range(len(cells))]

    def steered(self, cell: Cell, asked: Asked, steering: Steering) -> Steered:
        """The answers to one input, of a model that is steered meanwhile."""
        model = self.model
        self.check_length(cell.given)
        whole = model.model  # of a translator, that of the engine that can be looked into
        with ExitStack() as stack:
            tree = stack.enter_context(grown()) if steering.tree else None
            stack.enter_context(steer(whole, steering.pins, steering.off))
            (found,) = self._answered(model, [cell], asked)
        return Steered(found, tree)

    def _each(self, model: Any, cells: Sequence[Cell], asked: Asked) -> list[Any]:
        """All at once; where one of them cannot be answered, each by itself, so that it alone is refused."""
        if not cells:
            return []
        try:
            return self._answered(model, cells, asked)
        except RegardError as error:
            if len(cells) == 1:
                return [Refused(400, _said(error))]
            return [answers for cell in cells for answers in self._each(model, [cell], asked)]

    def _answered(self, model: Any, cells: Sequence[Cell], asked: Asked) -> list[Any]:
        given = [cell.given for cell in cells]
        if self.entry.reads == "nothing":
            return _continued(model, given, asked)
        if hasattr(model, "search"):
            return self._searched(model, cells, asked)
        if hasattr(model, "verb"):
            return [[each] for each in model.answer(given, record=asked.record)]
        return [[each] for each in model.answer(given)]

    def _searched(self, model: Any, cells: Sequence[Cell], asked: Asked) -> list[Any]:
        prefix = [self._prefix(model, cell.prefix) for cell in cells]
        options = replace(asked.options, prefix=prefix) if any(prefix) else asked.options
        return model.search([cell.given for cell in cells], options, record=asked.record)

    def _prefix(self, model: Any, prefix: str | tuple[int, ...]) -> tuple[int, ...]:
        if not isinstance(prefix, str):
            return prefix
        return tuple(tokenizer_of(model).encode(prefix).ids) if prefix else ()

    def check_length(self, text: Any) -> None:
        """Refuse what is too long. Each piece covers a byte or more, so that most texts need not be cut to know."""
        if not isinstance(text, str) or len(text) * 4 <= self.longest:
            return
        if len(text) > LONG * self.longest:  # however it is cut: to cut it would hold up all others
            told = f"Too long: {len(text)} characters, limit {self.longest} tokens"
            raise Refused(400, told, "inputs", "too_long")
        count = self.pieces(text)
        if count > self.longest:
            raise Refused(400, f"Too long: {count} tokens, limit {self.longest}", "inputs", "too_long")

    def pieces(self, text: str) -> int:
        """How many pieces a text has; of a model that cuts none, how many characters."""
        return _pieces(self.model, self.entry.reads, text)

    def pieces_if_open(self, text: str) -> int:
        """The same from any thread; none of a model that was let go meanwhile."""
        model = self.entry.model
        return _pieces(model, self.entry.reads, text) if model is not None and text else 0


def _continued(model: Any, prompts: list[str], asked: Asked) -> list[Any]:
    found = model.generate(prompts, continuing(asked))
    return [each if isinstance(each, list) else [each] for each in found]


def continuing(asked: Asked) -> GenerateOptions:
    """The same request to a model that continues a text: a beam of one is greedy."""
    options = asked.options
    told: dict[str, Any] = {"max_length": options.max_length, "stop": asked.stop, "no_repeat": options.no_repeat}
    if (drawn := options.sampling) is not None:
        told |= {"temperature": drawn.temperature, "top_k": drawn.top_k, "top_p": drawn.top_p}
        return GenerateOptions(**told, seed=drawn.seed, draws=drawn.draws)
    if options.nbest > 1:
        raise Refused(400, "A language model tells one likeliest text; draw several.", "nbest")
    penalty: dict[str, Any] = {} if options.alpha is None else {"length_penalty": options.alpha}
    return GenerateOptions(**told, **penalty, greedy=options.beam == 1, beam=options.beam)


def _pieces(model: Any, reads: str, text: str) -> int:
    tokenizer = reader_of(model, reads)
    return len(text if tokenizer is None else tokenizer.encode(text))


def reader_of(model: Any, reads: str) -> Any:
    """What cuts the inputs of a model; None where nothing does."""
    if reads == "nothing":
        return tokenizer_of(model)
    side = getattr(model, "source", None) or model.parts.source
    return side if hasattr(side, "backend") else getattr(side, "tokenizer", None)


def tokenizer_of(model: Any) -> Any:
    """What cuts the outputs of a model that writes."""
    return getattr(model.target, "tokenizer", model.target)


def drawing(temperature: float, top_k: int, top_p: float, draws: int, seed: int | None) -> Sampling:
    """What outputs are drawn from. What is too small to divide by is none."""
    return Sampling(temperature if temperature > TINY else 0.0, top_k, max(top_p, TINY), draws, seed)


def _said(error: RegardError) -> str:
    return str(error)
