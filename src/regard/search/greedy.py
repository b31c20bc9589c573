"""Greedy search: the likeliest next piece, again and again."""

from __future__ import annotations

from dataclasses import replace

from regard.model import Model
from regard.search.alone import is_alone, search_alone
from regard.search.hypothesis import Hypothesis
from regard.search.loop import search
from regard.search.options import Options
from regard.search.strategy import Strategy
from regard.types import Grid, Padded


def greedy_search(
    model: Model,
    source: Padded | Grid,
    options: Options | None = None,
    *,
    start: int,
    end: int,
    record: bool = False,
    tokens: int | None = None,
) -> list[Hypothesis]:
    """One output for each sentence: what a beam of one finds, with less to do at each step.

    With `tokens`, no more than so many padded source positions are searched for at a time.
    """
    options = options or Options()
    single = replace(options, beam=1, nbest=1)
    if is_alone(source, single):
        return search_alone(model, source, single, start=start, end=end, record=record)
    outputs = search(model, source, options, Greedy(), start=start, end=end, record=record, tokens=tokens)
    return [found[0] for found in outputs]


class Greedy(Strategy):
    """Every row goes on with its likeliest piece."""

    continuous = True
