"""Text as it is written, piece by piece: told as soon as it is certain, and no further than a text to stop at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from regard.data.tokenizer import Pieces

BROKEN = "\N{REPLACEMENT CHARACTER}"  # what stands for a character of which only some bytes are there


class Emitter:
    """Tells what pieces add to a text. `read` makes text of ids; `prompt` are the ids that were there before."""

    def __init__(self, read: Callable[[Sequence[int]], Pieces], prompt: Sequence[int], stop: Sequence[str]) -> None:
        self.read, self.ids, self.stop = read, list(prompt), tuple(stop)
        self.begun = len(read(prompt).text)
        self.told = 0  # characters after the prompt
        self.stopped = False

    def add(self, piece: int) -> Iterator[str]:
        """The text that is certain after one more piece, if there is some."""
        self.ids.append(piece)
        text = self._text()
        place = self._stops_at(text)
        if place is None:
            yield from self._tell(text[: len(text) - self._uncertain(text)])
        else:
            self.stopped = True
            yield from self._tell(text[:place])

    def end(self) -> Iterator[str]:
        """The rest, when no more pieces come."""
        if not self.stopped:
            yield from self._tell(self._text())

    def _text(self) -> str:
        return self.read(self.ids).text[self.begun :]

    def _tell(self, text: str) -> Iterator[str]:
        if len(text) > self.told:
            yield text[self.told :]
            self.told = len(text)

    def _stops_at(self, text: str) -> int | None:
        return min((text.index(stop) for stop in self.stop if stop in text), default=None)

    def _uncertain(self, text: str) -> int:
        """Characters at the end that may become others, or the beginning of a text to stop at."""
        broken = len(text) - len(text.rstrip(BROKEN))
        begins = [size for stop in self.stop for size in range(1, len(stop)) if text.endswith(stop[:size])]
        return max([broken, *begins])
