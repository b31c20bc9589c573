"""A language model as a person uses it: a prompt in; a text, or how likely a text is, and what was looked at, out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar, cast, overload

from regard.align.record import Aligner, Layer, Record, start_last, tokenized
from regard.data.examples.blocks import Blocks
from regard.data.padding import pad
from regard.data.running import encode_running, read_running
from regard.data.sides.nothing import Nothing
from regard.data.sides.text import Framed, Text
from regard.data.texts import texts_of
from regard.data.tokenizer import END, UNKNOWN, Pieces
from regard.embed.position import Learned
from regard.engine.pytorch.columns import columns_together, vocabulary_by_columns
from regard.errors import UsageError
from regard.evaluate.likelihood import Likelihood
from regard.evaluate.metrics import GENERATED
from regard.fast.direct import helps
from regard.model import Model
from regard.predict.words import Readout
from regard.search import Hypothesis, beam_search, greedy_search, sample
from regard.search.greedy import Greedy
from regard.search.loop import Running, in_use
from regard.search.queue import Queue
from regard.search.sampling import Draw, dice_of
from regard.show.watch import watch
from regard.task import Side
from regard.tasks.cache import Cache, tuned
from regard.tasks.generation import GenerateOptions, Generation, Scored
from regard.tasks.scoring import piece_nll, read_texts
from regard.tasks.seen import words_of_pieces
from regard.tasks.streaming import Emitter
from regard.tasks.using import TaskModel
from regard.types import nothing

ROWS = 64  # texts that are written at a time
LONGEST = 1024  # pieces that are read at once by a model that says no less


class LanguageModel(TaskModel):
    """A trained model that writes text, and reads none but what it is to go on from."""

    verb: ClassVar[str] = "generate"
    wants: ClassVar[str] = "text"
    usual: ClassVar[tuple[str, ...]] = GENERATED
    target: Text

    def __init__(self, model: Model, source: Side, target: Side, name: str = "") -> None:
        if not isinstance(source, Nothing) or not isinstance(target, Text):
            raise UsageError("a language model has nothing as its source and text as its target.")
        super().__init__(model, source, target, name)

    @staticmethod
    def arrange(model: Model) -> None:
        """One text at a time is written most. It waits most for the vocabulary's product, then for all others."""
        TaskModel.arrange(columns_together(model) if helps() else vocabulary_by_columns(model))

    @property
    def reads(self) -> str:
        """What a corpus has as its source."""
        return "nothing"

    @property
    def context(self) -> int | None:
        """The most positions that it can tell apart; None where there is no such limit."""
        position = getattr(getattr(self.model.predict, "embed", None), "position", None)
        return len(position.table) if isinstance(position, Learned) else None

    @property
    def window(self) -> int:
        """How many pieces are predicted at once where a text is scored: as in training, where that was by blocks."""
        limits = [self.blocks.length if self.blocks else LONGEST, self.context or LONGEST]
        return min(limits)

    @property
    def blocks(self) -> Blocks | None:
        """How long text was cut in training; None where each text was learnt by itself."""
        examples = None if self.parts is None else self.parts.examples
        return examples if isinstance(examples, Blocks) else None

    # --- writing -------------------------------------------------------------------------------------------

    @overload
    def generate(self, prompts: str = "", options: GenerateOptions | None = None, **asked: Any) -> Generation: ...
    @overload
    def generate(
        self, prompts: list[str], options: GenerateOptions | None = None, **asked: Any
    ) -> list[Generation]: ...
    def generate(self, prompts: Any = "", options: GenerateOptions | None = None, **asked: Any) -> Any:
        """Go on from a prompt, or from each of many, in order; with more `draws`, a list of texts for each.

        What may be asked by name is what `GenerateOptions` explains: max_length, min_length, greedy, beam,
        length_penalty, temperature, top_k, top_p, typical, no_repeat, stop, seed, draws.
        """
        settled = GenerateOptions.of(asked, options)
        found = self._written(texts_of("prompts", prompts), settled)
        if settled.draws == 1:
            return found[0][0] if isinstance(prompts, str) else [each[0] for each in found]
        return found[0] if isinstance(prompts, str) else found

    def stream(self, prompt: str = "", options: GenerateOptions | None = None, **asked: Any) -> Iterator[str]:
        """The same text as `generate` writes after one prompt, bit by bit as it is written."""
        settled = GenerateOptions.of(asked, options)
        if settled.draws > 1:
            raise UsageError(f"stream: one text is told as it is written; {settled.draws} draws were asked for.")
        if settled.beam > 1:
            raise UsageError(
                f"stream: a beam of {settled.beam} knows its text only at its end.", hint="Write generate(...)."
            )
        (given,) = texts_of("prompt", [prompt])
        ids = encode_running(self.target.tokenizer, given).ids
        search = self._within(settled, ids).search([ids])
        emitter = Emitter(partial(read_running, self.target.tokenizer), ids, settled.stop)
        queue = Queue(nothing(1), search)
        strategy = Greedy() if search.sampling is None else Draw(search.sampling, search, _dice(settled.seed, [ids]))
        with in_use(self.model):
            running = Running(self.model, queue, strategy, start=END, end=END, record=False)
        while len(running.rows) and not emitter.stopped:
            with in_use(self.model):  # not around a yield: whoever listens would be in it too
                running.advance()
            if len(running.rows) and running.backpointers.step > len(ids):
                yield from emitter.add(int(running.token[0]))
        yield from emitter.end()

    def answer(self, cells: Any, *, record: bool = True) -> list[Generation]:
        """A text for each prompt, greedily; None is no prompt."""
        prompts = ["" if each is None else each for each in cells]
        return [each[0] for each in self._written(texts_of("prompts", prompts), GenerateOptions(greedy=True))]

    def _written(self, prompts: Sequence[str], asked: GenerateOptions) -> list[list[Generation]]:
        """Texts for each prompt. Those that have as much room go together, some at a time."""
        pieces = [encode_running(self.target.tokenizer, each) for each in prompts]
        settled = [self._within(asked, each.ids) for each in pieces]
        found: dict[int, list[Generation]] = {}
        for options in dict.fromkeys(settled):
            rows = [row for row, each in enumerate(settled) if each == options]
            rows.sort(key=lambda row: len(pieces[row]))  # prompts of like length are read at once
            count = max(1, ROWS // max(options.draws, options.beam))
            for some in (rows[first : first + count] for first in range(0, len(rows), count)):
                outputs = self._searched(options, [pieces[row].ids for row in some])
                for row, hypotheses in zip(some, outputs, strict=True):
                    found[row] = [self._told(prompts[row], pieces[row], each, options) for each in hypotheses]
        return [found[row] for row in range(len(prompts))]

    def _within(self, asked: GenerateOptions, prompt: Sequence[int]) -> GenerateOptions:
        """What is asked, as far as the model can tell positions apart."""
        if self.context is None:
            return asked
        room = self.context - 1 - len(prompt)
        if room < 1:
            raise UsageError(
                f"the model can tell {self.context} positions apart; the prompt has {len(prompt)} pieces.",
                hint="Give it the last part of the prompt alone.",
            )
        within = {"max_length": min(asked.max_length, room), "min_length": min(asked.min_length, room)}
        return GenerateOptions.of(within, asked)

    def _searched(self, asked: GenerateOptions, prompts: Sequence[Sequence[int]]) -> list[list[Hypothesis]]:
        options, source = asked.search(prompts), nothing(len(prompts))
        if options.beam > 1:
            return beam_search(self.model, source, options, start=END, end=END)
        if options.sampling is None:
            return [[each] for each in greedy_search(self.model, source, options, start=END, end=END)]
        dice = _dice(asked.seed, prompts)
        return sample(self.model, source, options.sampling, options, start=END, end=END, generator=dice)

    def _told(self, prompt: str, given: Pieces, found: Hypothesis, asked: GenerateOptions) -> Generation:
        tokenizer = self.target.tokenizer
        whole, begun = read_running(tokenizer, found.ids), read_running(tokenizer, given.ids)
        text, ended = whole.text[len(begun.text) :], len(found.ids) < len(given) + asked.max_length
        stops = [text.index(stop) for stop in asked.stop if stop in text]
        if stops:
            text, ended = text[: min(stops)], True
            whole = _shortened(whole, len(begun.text) + len(text))
        look = partial(self._looked, whole) if self.attends else None
        return Generation(prompt, text, whole.pieces[len(given) :], found.likelihood, ended, look)

    # --- scoring -------------------------------------------------------------------------------------------

    @overload
    def score(self, texts: str, cache: Cache | None = None) -> Scored: ...
    @overload
    def score(self, texts: list[str], cache: Cache | None = None) -> list[Scored]: ...
    def score(self, texts: Any, cache: Cache | None = None) -> Scored | list[Scored]:
        """How likely a text is, or each of many, by itself: as a whole, and each of its words.

        With a cache, what is predicted looks back at the text so far; what it looked at comes with the score.
        """
        lines = texts_of("texts", texts)
        pieces = [encode_running(self.target.tokenizer, line) for line in lines]
        values = piece_nll(self.model, [(END, *each.ids, END) for each in pieces], self.window, self._checked(cache))
        found = [self._scored(*each, cache) for each in zip(pieces, values, strict=True)]
        return found[0] if isinstance(texts, str) else found

    def likelihoods(
        self, rows: Sequence[str], cache: Cache | None = None, window: int | None = None
    ) -> list[Likelihood]:
        """How likely each row of a corpus is: after those before it, where the model was taught in blocks.

        `window` is how many pieces are predicted at once, if not as many as usual: the longer, the more stands before
        each, as far as the model can tell positions apart.
        """
        framed, texts = self._flow(rows)
        longest = self.longest(window)
        flow = iter(chain.from_iterable(piece_nll(self.model, texts, longest, self._checked(cache))))
        values = [list(islice(flow, len(each) - 1)) for each in framed]
        return [Likelihood.of(text, sum(own), len(own)) for text, own in zip(rows, values, strict=True)]

    def tuned(self, cache: Cache, rows: Sequence[str], window: int | None = None) -> Cache:
        """The cache with which held-out rows of a corpus are likeliest: its theta and its share."""
        return tuned(cache, read_texts(self.model, self._flow(rows)[1], self.longest(window)))

    def longest(self, window: int | None) -> int:
        """How many pieces are predicted at once, where so many are asked for: at most what the model can tell apart."""
        if window is not None and window < 1:
            raise UsageError(f"window: expected 1 piece or more; found {window}.")
        return self.window if window is None else min(window, self.context or window)

    def _flow(self, rows: Sequence[str]) -> tuple[list[Framed], list[Sequence[int]]]:
        """Rows in their frames, and the texts that they make: one, where the model was taught in blocks."""
        framed = cast("list[Framed]", self._framing().encode(rows))
        if self.blocks is None:
            return framed, [each.ids for each in framed]
        return framed, [(END, *(piece for each in framed for piece in each.ids[1:]))]

    def _checked(self, cache: Cache | None) -> Cache | None:
        """A cache, if the model says what its predictions are made of."""
        if cache is not None and not isinstance(getattr(self.model.predict, "readout", None), Readout):
            raise UsageError("a cache looks back at what predictions are made of; this model's decoder hides it.")
        return cache

    def unknown(self, rows: Sequence[str]) -> float:
        """The share of pieces that its tokenizer does not know, and for which any word may stand."""
        ids = [piece for line in self.target.tokenizer.encode_ids(rows) for piece in line]
        return ids.count(UNKNOWN) / max(1, len(ids))

    def _scored(self, pieces: Pieces, values: Sequence[float], cache: Cache | None) -> Scored:
        words, owners = words_of_pieces(self.target.tokenizer, pieces)
        shares = [0.0] * len(words)
        for owner, value in zip(owners, values, strict=True):
            shares[owner] -= value
        amounts = Likelihood(
            sum(values),
            len(values),
            len(pieces.text.split()) + pieces.text.count("\n") + 1,
            len(pieces.text.encode()) + 1,
        )
        return Scored(pieces.text, -sum(values), tuple(words), tuple(shares), amounts, self._seen_by(pieces, cache))

    def _seen_by(self, pieces: Pieces, cache: Cache | None) -> Callable[[], Record] | None:
        """What shows where a text was looked at: by the cache, where there is one, else by the model, if it can."""
        if cache is not None:
            return partial(self._looked_back, pieces, cache)
        within = self.context is None or len(pieces) < self.context
        return partial(self._looked, pieces) if self.attends and within else None

    def _framing(self) -> Text:
        """The side as it cuts rows in training."""
        side = Text.of(self.target.tokenizer, "target")
        side.framed = True
        return side

    # --- seeing --------------------------------------------------------------------------------------------

    def look(self, cell: Any, cache: Cache | None = None) -> Record:
        """Everything looked at while a given text is written, all layers and heads; of a cache, what that looks at."""
        (text,) = texts_of("text", [cell])
        pieces = encode_running(self.target.tokenizer, text)
        return self._looked(pieces) if cache is None else self._looked_back(pieces, cache)

    def _looked_back(self, pieces: Pieces, cache: Cache) -> Record:
        """What a cache looks at while a text is written: each piece at those before it, the first at none."""
        self._checked(cache)
        (reading,) = read_texts(self.model, [(END, *pieces.ids, END)], self.window)
        return self._record(pieces, (Layer("decoder-self", 0, cache.weights(reading.features).unsqueeze(0)),))

    def _looked(self, pieces: Pieces) -> Record:
        if self.context is not None and len(pieces) + 1 > self.context:
            raise UsageError(f"the model can tell {self.context} positions apart; the text has {len(pieces)} pieces.")
        ids = pad([(END, *pieces.ids)])
        with in_use(self.model), watch(self.model) as seen:
            self.model.predict.teach(ids, self.model.nothing_read(1))
        kind = "decoder-self"
        count = seen.kinds.get(kind, 0)
        if not count:
            raise UsageError(
                "this model does not attend, so there is nothing to see.",
                hint="How likely each word is: regard score MODEL FILE --words (in Python model.score).",
            )
        layers = tuple(
            Layer(kind, layer, start_last(kind, seen.weights(kind, layer)[0].float())) for layer in range(count)
        )
        return self._record(pieces, layers)

    def _record(self, pieces: Pieces, layers: tuple[Layer, ...]) -> Record:
        """What a text looked at in itself, the last layer first."""
        end, written = (tokenized(self.target.tokenizer, each) for each in (Pieces("", (), ()), pieces))
        return Record(end, written, layers, Aligner("decoder-self", len(layers) - 1), self.name)

    @property
    def attends(self) -> bool:
        """Does it look back, so that there is something to see?"""
        return any("self_attend" in name for name, _ in self.model.predict.named_modules())

    def __repr__(self) -> str:
        told = self._repr(f"{len(self.target.tokenizer):,} pieces")
        return told.replace(f"{self.verb}, answer", f"{self.verb}, stream, score, answer")


def _shortened(pieces: Pieces, length: int) -> Pieces:
    """The pieces of the first so many characters."""
    count = sum(end <= length for _, end in pieces.spans)
    return Pieces(pieces.text[:length], pieces.ids[:count], pieces.spans[:count])


def _dice(seed: int | None, prompts: Sequence[Sequence[int]]) -> Any:
    """What draws for each prompt: by the seed and the prompt alone, whatever stands beside it."""
    return None if seed is None else [dice_of(seed, ids) for ids in prompts]
