"""Search: from a source, outputs; with their likelihoods, their scores and what they looked at.

options     what may be asked for
hypothesis  what is found
loop        step, apply the constraints, pick, part with what has ended
queue       the sentences that wait for a place
reading     sources of like length are read together
rows        the hypotheses still being written
constraints what may be written next: lengths, prefixes, repeats
shortlist   the few pieces that a source may lead to
words       which pieces are scored: all, or those of a shortlist
largest     the best of all pieces, found quickly
penalty     how finished outputs are ranked
backpointers    and how outputs are read off them
beam, greedy, sampling      three ways to pick; forced: no search at all, a given output

Names are imported when they are first used: an engine that needs no PyTorch takes the first two alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.search.hypothesis import Hypothesis
from regard.search.options import Options, Sampling

if TYPE_CHECKING:
    from regard.search.beam import beam_search
    from regard.search.forced import force
    from regard.search.greedy import greedy_search
    from regard.search.penalty import coverage_penalty, length_penalty
    from regard.search.sampling import sample
    from regard.search.shortlist import Shortlist

_HOMES = {
    "Shortlist": "shortlist",
    "beam_search": "beam",
    "coverage_penalty": "penalty",
    "force": "forced",
    "greedy_search": "greedy",
    "length_penalty": "penalty",
    "sample": "sampling",
}
__all__ = [
    "Hypothesis",
    "Options",
    "Sampling",
    "Shortlist",
    "beam_search",
    "coverage_penalty",
    "force",
    "greedy_search",
    "length_penalty",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard.search' has no attribute '{name}'")
    return getattr(import_module(f"regard.search.{_HOMES[name]}"), name)
