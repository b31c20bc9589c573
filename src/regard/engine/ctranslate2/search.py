"""CTranslate2 behind the same door: it searches and looks, we number the pieces, rank the outputs and read the links.

Its search is a beam too, with differences that are met here, or told:

- An output is ranked by likelihood / |Y|^alpha. We take all that its beam has found, undo that, and rank by our own lp.
- It knows one longest output for a batch, and stops there without an end. We let it write one piece more and cut each
  output at its own limit; what was cut, or begun by force, is scored again, with its end.
- When an output ends, another takes its place in the beam; ours leaves it empty. A beam of one finds the same in both,
  a wider one may find another output. It stops when as many have ended as the beam is wide: mostly short ones, which
  end first. We let it go on for some more, and find as good outputs as our own search does.
- What may not be written it takes out before the softmax, so that likelihoods are a little higher than ours where a
  model gives such pieces a chance.
- A source of nothing but its end it passes over: the output is empty.

Letters: H heads (one: the mean of those that align), T pieces and the end, S source pieces and the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from regard.align.record import Aligner
from regard.data.tokenizer import END
from regard.engine import Ids
from regard.engine.ctranslate2.manifest import Carried, Manifest
from regard.errors import ShapeError, UsageError
from regard.search import Hypothesis, Options
from regard.search.hypothesis import penalty_of
from regard.search.options import Number

if TYPE_CHECKING:
    import ctranslate2
    from jaxtyping import Float

Rows = Sequence[Sequence[float]]

PATIENCE = 1.4  # times the beam: so many outputs have ended before it stops; measured in docs/export.md
TOGETHER = 32  # sentences at a time: its fastest, measured (docs/speed.md), and enough parts for all its workers


@dataclass(frozen=True)
class _Draft:
    """An output as it was found: its likelihood is None where it has to be scored again, `looked` where none asked.

    What it looked at stays as it came: most drafts are dropped, and to make an array costs more than all else here.
    """

    ids: tuple[int, ...]
    likelihood: float | None
    looked: Rows | None


@dataclass(frozen=True)
class _Asked:
    """A search for some lines: the most pieces that the output of each may have, and what holds for all."""

    lines: list[list[str]]
    limits: list[int]
    options: Options
    record: bool

    def only(self, rows: list[int]) -> _Asked:
        """The same for some of the lines."""
        prefix = [self.options.prefix[row] for row in rows] if self.options.prefix else ()
        lines, limits = [self.lines[row] for row in rows], [self.limits[row] for row in rows]
        return _Asked(lines, limits, replace(self.options, prefix=prefix), self.record)


class CTranslate2:
    """An exported model. It is given batches; what it makes of them inside is its own affair."""

    condensed = False

    def __init__(self, backend: ctranslate2.Translator, manifest: Manifest, names: tuple[list[str], list[str]]) -> None:
        self.backend, self.manifest = backend, manifest
        self.source_names, self.target_names = names
        self.numbers = {name: number for number, name in enumerate(self.target_names)}
        # Its workers would wait while we number pieces and read links: with one call more than workers, none does. One
        # worker is left with one call, so that one thread stays one.
        self.workers = backend.num_translators + 1 if backend.num_translators > 1 else 1

    @property
    def sizes(self) -> tuple[int, int]:
        """As many pieces as it has names for."""
        return len(self.source_names), len(self.target_names)

    def whole(self) -> CTranslate2:
        """There is no other engine behind it."""
        return self

    def able(self, sources: Sequence[Ids], options: Options) -> bool:
        """Can it make such a search, of such sources?"""
        longest = max(options.limits([len(source) for source in sources]), default=0)
        lengths = max(map(len, sources), default=0), longest + 1
        ours = options.beta or options.shortlist is not None or options.sampling is not None
        return not ours and self._has_room(*lengths)

    def has_room(self, sources: Sequence[Ids], targets: Sequence[Ids]) -> bool:
        """Are these within the positions that were exported, the end of each target included?"""
        return self._has_room(max(map(len, sources), default=0), max(map(len, targets), default=0) + 1)

    def _has_room(self, source: int, target: int) -> bool:
        return source <= self.manifest.positions[0] and target <= self.manifest.positions[1]

    def continuous(self) -> bool:
        """It makes its own batches."""
        return False

    def pool(self, workers: int) -> ThreadPoolExecutor:
        """Plain threads: they wait for its workers."""
        return ThreadPoolExecutor(workers)

    def search(
        self, sources: Sequence[Ids], options: Options, *, record: bool, tokens: int | None = None
    ) -> list[list[Hypothesis]]:
        """Its beam search, ranked as ours; `record` keeps the mean of the heads that align."""
        if not sources:
            return []
        _check_options(options)
        options.check_pieces(len(sources), size=len(self.target_names), end=END)
        limits = options.limits([len(source) for source in sources])
        self._check_room(max(map(len, sources)), max(limits) + 1)
        lines = self._named(sources)
        asked = _Asked(lines, limits, options, record)
        drafts = self._found(asked, max(limits))
        # One limit for all would let a sentence be searched further beside a longer one than by itself.
        for limit in sorted(set(limits))[:-1]:
            rows = [row for row, some in enumerate(drafts) if limits[row] == limit and _reached(some, limit, options)]
            again = self._found(asked.only(rows), limit) if rows else []
            for row, some in zip(rows, again, strict=True):
                drafts[row] = some
        return self._ranked(lines, drafts, options)

    def force(self, sources: Sequence[Ids], targets: Sequence[Ids], *, record: bool) -> list[Hypothesis]:
        """Given outputs: scored in one pass; what they look at is told only while they are written, piece by piece."""
        if not sources:
            return []
        self._check_room(max(map(len, sources)), max(map(len, targets)) + 1)
        lines = self._named(sources)
        looked = self._looked(lines, targets) if record else [None] * len(lines)
        found = zip(map(tuple, targets), self._likelihoods(lines, targets), looked, strict=True)
        return [self._hypothesis(*each, Options().exponent) for each in found]

    def reader(self, aligner: Aligner | None) -> Aligner:
        """The heads that align are the one row that is recorded."""
        shape = (self.manifest.layers, self.manifest.heads)
        origin = (aligner or Aligner.default(shape[0])).within(*shape)
        return Carried("cross", 0, shift=origin.shift, origin=str(origin))

    def _found(self, asked: _Asked, limit: int) -> list[list[_Draft]]:
        """Search all lines to one limit; the drafts of each, cut at its own."""
        options, always = asked.options, self._always(asked.lines)
        shortlist = self.manifest.shortlist > 0 and not options.prefix
        if shortlist:
            # Sentences of a batch share their candidates: together they would have many, and not each its own.
            always["max_batch_size"] = 1
        results = self.backend.translate_batch(
            asked.lines,
            [self._written(prefix) for prefix in options.prefix] or None,
            beam_size=options.beam,
            patience=PATIENCE,
            num_hypotheses=options.beam,
            length_penalty=options.exponent,
            min_decoding_length=options.min_length,
            max_decoding_length=limit + 1,
            no_repeat_ngram_size=options.no_repeat,
            suppress_sequences=[[name] for name in self._written(options.avoid) if name] or None,
            use_vmap=shortlist,
            return_scores=True,
            return_attention=asked.record,
            **always,
        )
        mixed = asked.record and options.beam > 1 and always["max_batch_size"] > 1
        first = self._first(asked.lines) if mixed else [()] * len(asked.lines)
        return [self._drafts(*each, asked) for each in zip(results, first, asked.limits, strict=True)]

    def _first(self, lines: list[list[str]]) -> list[Rows]:
        """What the first step of each line looks at, whatever it then writes.

        Asked for apart, since in a beam CTranslate2 gives the first steps of a batch to the wrong sentences (4.8.4):
        it repeats what each sentence looked at, once a place in the beam, and then counts as if it had not. The first
        sentence gets its own, so that one sentence at a time needs no second call.
        """
        found = self.backend.translate_batch(
            lines, beam_size=1, max_decoding_length=1, return_attention=True, **self._always(lines)
        )
        return [result.attention[0] for result in found]

    def _always(self, lines: list[list[str]]) -> dict[str, Any]:
        """What is asked for in every call: whole sources, shared out among the threads, and the end as a piece."""
        together = min(TOGETHER, -(-len(lines) // self.backend.num_translators))
        return {"max_input_length": 0, "max_batch_size": together, "return_end_token": True}

    def _named(self, sources: Sequence[Ids]) -> list[list[str]]:
        last = None if self.manifest.source_end else -1
        return [[self.source_names[piece] for piece in source[:last]] for source in sources]

    def _written(self, ids: Sequence[int]) -> list[str]:
        return [self.target_names[piece] for piece in ids]

    def _drafts(self, result: Any, first: Rows, limit: int, asked: _Asked) -> list[_Draft]:
        """Each different output that was found, cut where it is too long; `first` is what its first step looked at."""
        found: dict[tuple[int, ...], _Draft] = {}
        options, end = asked.options, self.target_names[END]
        outputs, scores, looks = result.hypotheses, result.scores, result.attention  # each is made when it is asked for
        for number, names in enumerate(outputs):
            ended = names[-1:] == [end]
            ids = tuple(self.numbers[name] for name in (names[:-1] if ended else names))
            # Its score is the sum divided by |Y| ^ alpha; a forced beginning counts nothing in the sum.
            known = ended and len(ids) <= limit and not options.prefix
            likelihood = scores[number] * len(names) ** options.exponent if known else None
            looked = [*first, *looks[number][len(first) :]] if asked.record else None
            found.setdefault(ids[:limit], _Draft(ids[:limit], likelihood, looked))
        return list(found.values())

    def _ranked(self, lines: list[list[str]], drafts: list[list[_Draft]], options: Options) -> list[list[Hypothesis]]:
        """The best drafts of each line by our own score, once the likelihoods that some lack are found, in one go."""
        lacking = [(row, each) for row, some in enumerate(drafts) for each in some if each.likelihood is None]
        scored = iter(self._likelihoods([lines[row] for row, _ in lacking], [each.ids for _, each in lacking]))
        found = []
        for some in drafts:
            values = [next(scored) if each.likelihood is None else each.likelihood for each in some]
            scores = [_score(each.ids, value, options.exponent) for each, value in zip(some, values, strict=True)]
            best = sorted(range(len(some)), key=lambda place: -scores[place])[: options.nbest]
            found.append(
                [self._hypothesis(some[each].ids, values[each], some[each].looked, options.exponent) for each in best]
            )
        return found

    def _likelihoods(self, lines: list[list[str]], targets: Sequence[Sequence[int]]) -> list[float]:
        """The log-likelihood of each target and its end."""
        if not lines:
            return []
        given = {"max_input_length": 0, "max_batch_size": self._always(lines)["max_batch_size"]}
        found = self.backend.score_batch(lines, [self._written(target) for target in targets], **given)
        return [float(sum(each.log_probs)) for each in found]

    def _hypothesis(self, ids: tuple[int, ...], likelihood: float, looked: Rows | None, alpha: Number) -> Hypothesis:
        weights = () if looked is None else (_weights(looked, len(ids), self.manifest.source_end),)
        return Hypothesis(ids, _score(ids, likelihood, alpha), likelihood, weights)

    def _looked(self, lines: list[list[str]], targets: Sequence[Sequence[int]]) -> list[Rows | None]:
        """What each target and its end look at: they are given as a beginning that leaves nothing to write."""
        results = self.backend.translate_batch(
            lines,
            [self._written([*target, END]) for target in targets],
            beam_size=1,
            max_decoding_length=max(map(len, targets)) + 1,
            return_attention=True,
            **self._always(lines),
        )
        return [result.attention[0] for result in results]

    def _check_room(self, source: int, target: int) -> None:
        """Refuse what is longer than the positions that were exported."""
        for side, length, longest in zip(("source", "target"), (source, target), self.manifest.positions, strict=True):
            if length > longest:
                raise ShapeError(
                    f"this exported model knows {longest:,} positions of a {side}; one was to have up to {length:,}.",
                    hint="Cut the sentence." if side == "source" else f"Write max_length = {longest - 1} or less.",
                )


def _check_options(options: Options) -> None:
    if options.beta:
        raise UsageError(
            "the coverage penalty counts what all heads look at; the engine ctranslate2 knows the aligning ones alone.",
            hint="Write beta = 0, or translate with the model folder that was exported.",
        )
    if options.shortlist is not None:
        raise UsageError(
            "the engine ctranslate2 has the shortlist that it was exported with, and takes no other.",
            hint="Export with --shortlist N, or translate with the model folder that was exported.",
        )
    if options.sampling is not None:
        raise UsageError(
            "the engine ctranslate2 searches for the best outputs, and draws none.",
            hint="Sample with the model folder that was exported.",
        )


def _reached(drafts: list[_Draft], limit: int, options: Options) -> bool:
    """Has a sentence come to its limit in a beam? (Greedy search comes there by one way only.)"""
    return options.beam > 1 and any(len(each.ids) >= limit for each in drafts)


def _score(ids: tuple[int, ...], likelihood: float, alpha: Number) -> float:
    return likelihood / penalty_of(len(ids) + 1, alpha)


def _weights(rows: Rows, pieces: int, source_end: bool) -> Float[np.ndarray, "1 T S"]:
    """The rows of the pieces and of the end, as those of one head; an end that no source has is never looked at."""
    # A source of nothing but its end is passed over, and has one place to look at.
    if not rows or (source_end and len(rows[0]) == 1):
        return np.ones((1, pieces + 1, 1), dtype=np.float32)
    # The step after the last piece looked the same whether it wrote the end or went on.
    found = np.array(rows[: pieces + 1], dtype=np.float32)[None]
    return found if source_end else np.pad(found, ((0, 0), (0, 0), (0, 1)))
