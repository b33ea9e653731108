"""Connections to the page: how many there are, and how long a client may take to ask and to read."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from fullpipe.cli.ui.limits import Limits

_UNFINISHED = (h11.IDLE, h11.SEND_BODY)
"""States of a client that has not sent a whole request."""


def server_of(app: Any, limits: Limits) -> uvicorn.Server:
    """A server of an application that closes connections beyond the limits."""

    class Bounded(Connection):
        """A connection with these limits: uvicorn makes it without arguments of ours."""

    Bounded.limits = limits
    config = uvicorn.Config(
        app, http=Bounded, log_level="warning", ws="none", server_header=False, date_header=False
    )
    return uvicorn.Server(config)


class Connection(H11Protocol):
    """A connection that is closed if its client takes too long, which also stops the run that it watches."""

    limits: ClassVar[Limits] = Limits()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close it at once if there are too many; otherwise wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of a request, if there is one. Parts of it do not prolong the wait."""
        super().data_received(data)
        if self.conn.their_state in _UNFINISHED:
            self._await_request()
        else:
            self._stop_asking()

    def pause_writing(self) -> None:
        """Wait for the client to read what was sent."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.limits.wall_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read most of it."""
        super().resume_writing()
        self._stop_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_asking()
        self._stop_reading()
        super().connection_lost(exc)

    def _await_request(self) -> None:
        if self._asking is None:
            self._asking = self.loop.call_later(self.limits.request_s, self.transport.close)

    def _stop_asking(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None

    def _stop_reading(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
