"""A connection that is closed where no request comes: uvicorn's own waits for the head of a request for ever."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


class Line(H11Protocol):
    """One connection. Who connects, or has been answered, has as long to send a whole head as a line is kept open."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody connects. Transports of other loops (uvloop) are no subclasses of asyncio's."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """He is gone."""
        super().connection_lost(exc)
        self._stop()

    def on_response_complete(self) -> None:
        """A request was answered."""
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        self._stop()
        self._late = self.loop.call_later(self.timeout_keep_alive, self._close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()

    def _close(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
