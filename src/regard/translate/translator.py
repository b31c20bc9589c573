"""A model with its tokenizers: raw text in; text, scores and what was looked at out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from regard.align.alignment import Alignment
from regard.align.record import KINDS, Aligner, Layer, Record, Tokenized, cross_layers, start_last, tokenized
from regard.data.texts import texts_of
from regard.data.tokenizer import END, PAD, START, UNKNOWN, Pieces, Tokenizer
from regard.data.tokenizer import SOURCE_FILE as SOURCE_FILE
from regard.data.tokenizer import TARGET_FILE as TARGET_FILE
from regard.engine import Engine, open_engine, silent
from regard.engine.home import LENGTHS_FILE as LENGTHS_FILE
from regard.engine.home import describe, model_home, named_folder, read_aligner, read_alpha
from regard.engine.tokenizers import open_tokenizers
from regard.engine.workers import batches_of, in_workers, pools
from regard.errors import UsageError
from regard.search import Hypothesis, Options
from regard.search.hypothesis import penalty_of
from regard.search.options import ALPHA, Number, Sampling

if TYPE_CHECKING:
    from torch import Tensor

    from regard.evaluate import Report
    from regard.model import Model

Spaced = tuple[bool | None, bool | None]  # do spaces part the words of source and target? None: each line tells


@dataclass(frozen=True)
class Translation:
    """One output: its text, its score, its pieces, how its words align, and every weight it was written with.

    `score` is what outputs are ranked by, `likelihood` the log-likelihood of the pieces and the end. Of a model that
    does not attend, `alignment` and `record` are None.
    """

    text: str
    score: float
    likelihood: float
    pieces: tuple[str, ...]
    alignment: Alignment | None
    sides: tuple[Tokenized, Tokenized] | None = None
    look: Callable[[], Record] | None = field(default=None, repr=False)
    ids: tuple[int, ...] = field(default=(), repr=False)

    @cached_property
    def record(self) -> Record | None:
        """All that was looked at in the source. Where a fast engine kept less, the model looks now."""
        return self.look() if self.look else None

    @property
    def attention(self) -> tuple[Tensor, ...]:
        """A tensor (heads, target pieces and the end, source pieces and the end) for each layer that looks there."""
        return tuple(each.weights for each in self.record.attention) if self.record else ()

    def __repr__(self) -> str:
        links = f", links={self.alignment.pharaoh()!r}" if self.alignment else ""
        return f"Translation({self.text!r}, score={self.score:.4f}{links})"

    def _repr_html_(self) -> str:
        told = f'<p dir="auto"><strong>{escape(self.text)}</strong></p>\n<p>score {self.score:.4f}</p>'
        return told + (f"\n{self.alignment._repr_html_()}" if self.alignment else "")


NOTHING = Translation("", 0.0, 0.0, (), None)  # what an empty line is translated to
Outputs = Translation | list[Translation] | list[list[Translation]]
TOKENS = 4096  # padded positions that are searched for at a time
WIDE = 16  # hypotheses of a sentence; with more of them, fewer sentences are searched for at a time
SILENT = (PAD, START, UNKNOWN)  # pieces that have no text, and are never written


class Translator:
    """A trained model as a person uses it.

    `model` is one in memory, or an engine that runs one. `aligner` names the heads that alignments are read from;
    without one it is the last layer, all heads. `name` stands on pages. `alpha` is the length penalty that outputs are
    ranked with where nobody asks for another.
    """

    folder: Path | None = None  # that it was read from

    def __init__(
        self,
        model: Model | Engine,
        source: Tokenizer,
        target: Tokenizer,
        aligner: Aligner | None = None,
        name: str = "",
        alpha: Number = ALPHA,
    ) -> None:
        self.engine: Engine
        if hasattr(type(model), "search"):  # the class is asked: to ask an engine may open another
            self.engine = cast("Engine", model)
        else:
            self.model = cast("Model", model)
        self.source, self.target = source, target
        self.aligner, self.name, self.alpha = self.engine.reader(aligner), name, alpha
        self._chosen = aligner

    @classmethod
    def load(
        cls,
        folder: str | Path,
        engine: str | None = None,
        threads: int | None = None,
        say: Callable[[str], None] = silent,
    ) -> Translator:
        """Read a model folder, the best model of a run folder, or an exported folder.

        The folder itself says which engine runs it; `engine` insists on one, and "auto" takes CTranslate2 where it does
        the same sooner, of which `say` hears. `threads` is how many may compute.
        """
        home = model_home(folder)
        opened = open_engine(home, engine, threads, say)
        source, target = open_tokenizers(home, opened.sizes)
        found = cls(opened, source, target, read_aligner(home), named_folder(folder).name, read_alpha(home))
        found.folder = home
        return found

    @property
    def model(self) -> Model:
        """The model itself, for those who look inside it; an exported one has none."""
        from regard.engine.pytorch import Torch

        whole = self.engine.whole()
        if not isinstance(whole, Torch):
            raise UsageError(
                f"{self.name or 'this model'} is an exported model, which cannot be looked into: "
                "it tells what was looked at in the source, and no more.",
                hint="Use the model folder that it was exported from.",
            )
        return whole.model

    @model.setter
    def model(self, model: Model) -> None:
        from regard.engine.pytorch import Torch

        self.engine = Torch(model)

    @overload
    def translate(  # type: ignore[overload-overlap] # an nbest of 1 is an int too
        self, lines: str, *, beam: int = 5, nbest: Literal[1] = 1, max_length: int = 200, alpha: Number | None = None
    ) -> Translation: ...
    @overload
    def translate(
        self,
        lines: list[str],
        *,
        beam: int = 5,
        nbest: Literal[1] = 1,
        max_length: int = 200,
        alpha: Number | None = None,
    ) -> list[Translation]: ...
    @overload
    def translate(
        self, lines: str | list[str], *, beam: int = 5, nbest: int, max_length: int = 200, alpha: Number | None = None
    ) -> list[Translation] | list[list[Translation]]: ...
    def translate(
        self,
        lines: str | list[str],
        *,
        beam: int = 5,
        nbest: int = 1,
        max_length: int = 200,
        alpha: Number | None = None,
    ) -> Outputs:
        """The best translation of a line, or of each of many, in order; with `nbest` more, a list of them for each.

        A line without text has one, without text. `alpha` is the length penalty, the model's own where none is given.
        """
        options = Options(beam=max(beam, nbest), nbest=nbest, max_length=max_length, alpha=alpha)
        return self._outputs(lines, options)

    def sample(
        self,
        lines: str | list[str],
        *,
        draws: int = 1,
        temperature: Number = 1.0,
        top_k: int = 0,
        top_p: Number = 1.0,
        seed: int | None = None,
        max_length: int = 200,
    ) -> Outputs:
        """A translation that is drawn, piece by piece, for a line or each of many; with more `draws`, lists of them.

        `temperature`, `top_k` and `top_p` are those of `regard.search.Sampling`. The same `seed` draws the same for the
        same line. Scores and alignments are as those of `translate`.
        """
        sampling = Sampling(temperature, top_k, top_p, draws, seed)
        return self._outputs(lines, Options(max_length=max_length, sampling=sampling))

    def search(
        self,
        lines: Sequence[str],
        options: Options | None = None,
        *,
        tokens: int | None = None,
        record: bool = True,
        continuous: bool = False,
    ) -> list[list[Translation]]:
        """The best translations of each line, best first. `record` keeps attention and alignment.

        Lines of like length are searched for together, at most `tokens` padded positions at a time: 4,096, greedily
        twice as many. With `continuous` batching the next ones enter as soon as half of the places are free: faster
        for long sources whose outputs may be of any length, slower for translations, which end about when others of
        their length do (benchmarks/LOG.md).
        """
        options, lines = self._settled(options or Options()), texts_of("lines", lines)
        tokens = tokens or _tokens(options)
        if continuous:
            self._check_continuous(options)
        pieces = self.source.encode_batch(lines)
        found = [[NOTHING] for _ in lines]
        real = [row for row, line in enumerate(lines) if line.strip() and pieces[row].ids]

        def fill(some: list[int]) -> None:
            rows = [real[each] for each in some]
            source = [[*pieces[row].ids, END] for row in rows]
            chosen = replace(options, prefix=[options.prefix[row] for row in rows]) if options.prefix else options
            outputs = self.engine.search(source, chosen, record=record, tokens=tokens if continuous else None)
            for row, hypotheses in zip(rows, outputs, strict=True):
                found[row] = [self._told(pieces[row], self.target.read(each.ids), each) for each in hypotheses]

        workers = self.engine.workers
        lengths = [len(pieces[row]) for row in real]
        batches = pools(lengths, tokens, workers) if continuous else batches_of(lengths, tokens, workers)
        in_workers(self.engine, fill, list(batches), workers)
        return found

    @overload
    def align(self, source: str, target: str, *, spaced: Spaced = ...) -> Alignment: ...
    @overload
    def align(self, source: list[str], target: list[str], *, spaced: Spaced = ...) -> list[Alignment]: ...
    def align(
        self, source: str | list[str], target: str | list[str], *, spaced: Spaced = (None, None)
    ) -> Alignment | list[Alignment]:
        """How the words of given pairs align: the model is made to write the target, and watched."""
        found = self.force(source, target, spaced=spaced)
        if any(each.alignment is None for each in found):
            raise UsageError("this model does not attend, so it has no alignment.")
        alignments = [each.alignment for each in found if each.alignment is not None]
        return alignments[0] if isinstance(source, str) else alignments

    @overload
    def score(self, source: str, target: str) -> float: ...
    @overload
    def score(self, source: list[str], target: list[str]) -> list[float]: ...
    def score(self, source: str | list[str], target: str | list[str]) -> float | list[float]:
        """The log-likelihood of given targets."""
        found = [each.likelihood for each in self.force(source, target, record=False)]
        return found[0] if isinstance(source, str) else found

    def force(
        self,
        source: str | list[str],
        target: str | list[str],
        *,
        tokens: int = TOKENS,
        record: bool = True,
        spaced: Spaced = (None, None),
    ) -> list[Translation]:
        """Given targets as if the model had written them, in order.

        `spaced` says for source and target whether spaces part words: (True, True) counts as gold links do.
        """
        sources, targets = texts_of("source", source), texts_of("target", target)
        if len(sources) != len(targets):
            raise UsageError(f"expected as many targets as sources; found {len(sources)} and {len(targets)}.")
        asked, wanted = self.source.encode_batch(sources), self.target.encode_batch(targets)
        found: list[Translation | None] = [None] * len(sources)
        for rows in batches_of([len(asked[row]) + len(wanted[row]) for row in range(len(sources))], tokens):
            pairs = [[*asked[row].ids, END] for row in rows], [wanted[row].ids for row in rows]
            for row, forced in zip(rows, self.engine.force(*pairs, record=record), strict=True):
                score = forced.likelihood / penalty_of(len(forced.ids) + 1, self.alpha)
                found[row] = self._told(asked[row], wanted[row], replace(forced, score=score), spaced)
        return [each for each in found if each is not None]

    def look(self, source: str, target: str | None = None, *, beam: int = 5) -> Record:
        """Everything looked at while `target` (or the translation) is written: all kinds of attention, every head."""
        from regard.show.watch import watch

        (source,) = texts_of("source", [source])
        model, engine, asked = self.model, self.engine.whole(), self.source.encode(source)
        if target is None:
            best = engine.search([[*asked.ids, END]], self._settled(Options(beam=beam)), record=False)
            wanted = self.target.read(best[0][0].ids)
        else:
            wanted = self.target.encode(target)
        with watch(model) as seen:
            engine.force([[*asked.ids, END]], [wanted.ids], record=False)
        layers = [
            Layer(kind, layer, start_last(kind, seen.weights(kind, layer)[0].float()))
            for kind in KINDS
            for layer in range(seen.kinds.get(kind, 0))
        ]
        if not layers:
            raise UsageError("this model does not attend, so there is nothing to see.")
        return self._record(asked, wanted, tuple(layers), engine.reader(self._chosen))

    def answer(self, cells: Sequence[str], *, record: bool = True) -> list[Translation]:
        """The best translation of each line, as models of every task answer; `record` keeps what was looked at."""
        return [best[0] for best in self.search(cells, record=record)]

    def evaluate(self, data: Any, **asked: Any) -> Report:
        """Measure it on a corpus; `regard.evaluate` says what can be asked."""
        from regard import evaluate

        return evaluate(self, data, **asked)

    def __repr__(self) -> str:
        told = describe(self.folder) if self.folder else "a model in memory"
        pieces = f"{len(self.source):,} source and {len(self.target):,} target pieces"
        return f"<Translator {self.name}: {told}; {pieces}; translate, sample, align, score, look, evaluate>"

    def _outputs(self, lines: str | list[str], options: Options) -> Outputs:
        """What was found for a line or each of many: one output, or a list where several were asked for."""
        found = self.search(texts_of("lines", lines), options)
        if options.outputs == 1:
            return found[0][0] if isinstance(lines, str) else [best[0] for best in found]
        return found[0] if isinstance(lines, str) else found

    def _settled(self, options: Options) -> Options:
        """What was asked, with what this model wants where nothing was."""
        return replace(options, avoid=SILENT, alpha=self.alpha if options.alpha is None else options.alpha)

    def _check_continuous(self, options: Options) -> None:
        """Refuse to let lines in later where that cannot be."""
        if not self.engine.continuous():
            raise UsageError(
                "lines cannot enter a search of this model while others are in it: it has a shortlist, runs in another "
                "engine, or looks where its own position tells it to.",
                hint="Leave out `continuous`; batches are searched for one after another.",
            )
        if options.beta or options.no_repeat or options.sampling:
            raise UsageError("continuous does not go with beta, no_repeat or sampling.", hint="Leave one of them out.")

    def _told(self, source: Pieces, target: Pieces, found: Hypothesis, spaced: Spaced = (None, None)) -> Translation:
        alignment, sides, look = None, None, None
        if found.weights:
            record = self._record(source, target, cross_layers(found.weights), self.aligner, spaced)
            alignment, sides = record.alignment(), (record.source, record.target)
            look = partial(self._looked, source, target, spaced) if self.engine.condensed else lambda: record
        return Translation(
            target.text, found.score, found.likelihood, target.pieces, alignment, sides, look, tuple(found.ids)
        )

    def _looked(self, source: Pieces, target: Pieces, spaced: Spaced) -> Record:
        """What an output looked at, by the engine that records most."""
        engine = self.engine.whole()
        (found,) = engine.force([[*source.ids, END]], [target.ids], record=True)
        return self._record(source, target, cross_layers(found.weights), engine.reader(self._chosen), spaced)

    def _record(
        self,
        source: Pieces,
        target: Pieces,
        layers: tuple[Layer, ...],
        aligner: Aligner | None,
        spaced: Spaced = (None, None),
    ) -> Record:
        heads = [len(each.numpy()) for each in layers if each.kind == "cross"]
        aligner = aligner or Aligner.default(len(heads) or 1)
        if heads:
            aligner = aligner.within(len(heads), heads[min(aligner.layer, len(heads) - 1)])
        ours, theirs = tokenized(self.source, source, spaced[0]), tokenized(self.target, target, spaced[1])
        return Record(ours, theirs, layers, aligner, self.name)


def _tokens(options: Options) -> int:
    """Padded positions to search for at a time: each has as many rows as hypotheses of it are followed."""
    return max(1, TOKENS * 2 if options.rows == 1 else min(TOKENS, TOKENS * WIDE // options.rows))
