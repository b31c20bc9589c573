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
    """Whether somebody asked to stop: the number of the signal, or 0."""

    asked: int = 0


@contextmanager
def stopping() -> Iterator[Stop]:
    """Inside, Ctrl-C and a polite kill are noted instead of obeyed; whatever comes after a Ctrl-C is obeyed at once.

    A launcher hands on the second Ctrl-C as a kill. Two kills are one: a cluster and a launcher both send theirs.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():  # only there can signals be caught
        yield stop
        return

    def note(number: int, frame: FrameType | None) -> None:
        if stop.asked and signal.SIGINT in (stop.asked, number):
            raise KeyboardInterrupt
        stop.asked = number

    before = {number: signal.signal(number, note) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside, `kill` stops as Ctrl-C does: for whoever has processes in sessions of their own, which would live on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(each, signal.signal(each, signal.default_int_handler)) for each in SIGNALS]
    try:
        yield
    finally:
        for each, handler in before:
            signal.signal(each, handler)
