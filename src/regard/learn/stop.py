"""Stopping: signals that let a step finish first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Stop:
    """Whether somebody asked to stop, and how."""

    asked: str | None = None


@contextmanager
def stopping() -> Iterator[Stop]:
    """Inside, Ctrl-C and a polite kill are noted instead of obeyed; the second Ctrl-C is obeyed at once."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():  # only there can signals be caught
        yield stop
        return

    def note(number: int, frame: FrameType | None) -> None:
        if stop.asked is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.asked = signal.Signals(number).name

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
