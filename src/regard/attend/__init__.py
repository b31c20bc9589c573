"""Attend: a query looks at keys and gets a context. Score, scope and choice are independent; heads multiply them."""

from regard.attend import additive, gate, gated, hard, heads
from regard.attend.attention import Attention, attention
from regard.attend.choice import Choice
from regard.attend.heads import Heads
from regard.attend.scope import Scope, View
from regard.attend.score import Score

__all__ = [
    "Attention",
    "Choice",
    "Heads",
    "Scope",
    "Score",
    "View",
    "additive",
    "attention",
    "gate",
    "gated",
    "hard",
    "heads",
]
