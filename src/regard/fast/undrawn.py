"""Building a model whose weights will be read: nothing is drawn for it.

To draw the weights of a large model takes longer than to read them, and touches memory that a table of vectors in use
may never ask for. What is allocated and not written to costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Any

from torch import nn

DRAWS = (
    *("uniform_", "normal_", "trunc_normal_", "orthogonal_", "sparse_"),
    *("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"),
)
_resting: ContextVar[bool] = ContextVar("resting", default=False)
_lock = Lock()
_drawing: dict[str, Callable[..., Any]] = {}  # what torch.nn.init has, while others stand in its place
_inside = [0]


@contextmanager
def undrawn() -> Iterator[None]:
    """In the block, what `torch.nn.init` would draw is left as it lies; in other threads it draws as ever.

    What is set to a number still is, and so is what is drawn in any other way.
    """
    with _lock:
        _inside[0] += 1
        if _inside[0] == 1:
            _drawing.update({name: getattr(nn.init, name) for name in DRAWS})
            for name, draw in _drawing.items():
                setattr(nn.init, name, _unless_resting(draw))
    token = _resting.set(True)
    try:
        yield
    finally:
        _resting.reset(token)
        with _lock:
            _inside[0] -= 1
            if not _inside[0]:
                for name, draw in _drawing.items():
                    setattr(nn.init, name, draw)


def _unless_resting(draw: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(draw)
    def drawn(tensor: Any, *given: Any, **named: Any) -> Any:
        return tensor if _resting.get() else draw(tensor, *given, **named)

    return drawn
