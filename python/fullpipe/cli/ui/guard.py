"""Access control of `fullpipe ui`, and limits of its runs and connections."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any, ClassVar
from urllib.parse import parse_qs

import h11
import uvicorn
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from fullpipe.analysis.expected import datagrams_per_s, narrow_hops
from fullpipe.errors import ScenarioError
from fullpipe.scenario import Scenario, resolve
from fullpipe.scenario.quantities import BITS

# Limits on the page's runs and on its clients. Larger runs are possible with `fullpipe run`.


_WAY_OUT = "save the scenario and run it with fullpipe run"
MOST_POINTS = 30
"""Maximum number of capture points, as the page draws one lane per point."""


@dataclass(frozen=True)
class Limits:
    """Maximum values for each run, for all runs together, and for connections."""

    duration_s: float = 600.0
    """Simulated time of a run."""
    packets: int = 20_000_000
    """Data packets that the narrowest links can carry in the simulated time, plus the datagrams sent.

    A million packets take about 0.5 s to simulate."""
    rows: int = 2_000_000
    """Samples of all flows of a run."""
    rows_in_all: int = 20_000_000
    """Samples of all runs of a comparison, which are in memory together. A million samples take 120 MB."""
    captured: int = 3_000_000
    """Captured data packets, over all capture points. ACKs are not counted."""
    points: int = MOST_POINTS
    """Points at which packets are captured."""
    wall_s: float = 60.0
    """Real time of a run, sending included, in s; also the time in s in which a client must read the
    response."""
    memory_bytes: int = 4_000_000_000
    """Memory of the whole process. Above this limit, runs stop, and no run begins."""
    seeds: int = 50
    """Seeds of a comparison."""
    at_once: int = 2
    """Simultaneous runs; further runs wait."""
    waiting: int = 32
    """Waiting requests; further requests are refused."""
    body_bytes: int = 1_000_000
    """Size of the body of a request."""
    request_s: float = 10.0
    """Real time in s until a request is complete, counted from the connection or the last response."""
    connections: int = 500
    """Simultaneous connections; further connections are closed immediately."""

    def check(self, scenario: Scenario, times: int = 1) -> None:
        """Refuse a scenario that is too large to run `times` times.

        Raises:
            ScenarioError: If `times` runs exceed a limit. The error has a line per limit.
        """
        lines = list(self._exceeded(scenario, times))
        if lines:
            raise ScenarioError(lines)

    def _exceeded(self, scenario: Scenario, times: int) -> Iterator[str]:
        if scenario.sweep:
            yield f"sweep: the page runs a single point; leave out the sweep, or {_WAY_OUT}"
            return
        if scenario.duration_s > self.duration_s:
            yield f"duration: the page runs at most {self.duration_s:g} s; {_WAY_OUT}"
        network = resolve(scenario)
        interval_s = scenario.record.interval_s
        if not interval_s:
            yield 'record.interval: is off, so there are no samples to draw; write "100 ms"'
        else:
            rows = len(network.flows) * scenario.duration_s / interval_s
            most = min(self.rows, self.rows_in_all / times)
            if rows > most:
                yield (
                    f"record.interval: more than {most:,.0f} samples; write a longer interval, or {_WAY_OUT}"
                )
        packet_bits = BITS * min((routed.tcp.segment_bytes for routed in network.flows), default=1514)
        rate_bps = sum(hop.limit_bps or 0 for hop in narrow_hops(network))
        packets = times * scenario.duration_s * (rate_bps / packet_bits + datagrams_per_s(network))
        if packets > self.packets:
            yield (
                f"duration: up to {packets:,.0f} packets, and the page simulates {self.packets:,} at most;"
                f" reduce the duration or the rates, or {_WAY_OUT}"
            )
        points = len(scenario.record.packets or ())
        if points > self.points:
            yield f"record.packets: {points} points, and the page draws {self.points} at most; {_WAY_OUT}"
        captured = packets * points
        if captured > self.captured:
            yield (
                f"record.packets: up to {captured:,.0f} packets, and the page captures {self.captured:,} at"
                f" most; reduce the duration or the rates, or {_WAY_OUT}"
            )


# Connections to the page: limits of their number, and of the time in which clients must send and read.


_UNFINISHED = (h11.IDLE, h11.SEND_BODY)
"""States of a client that has not sent a whole request."""


def server_of(app: Any, limits: Limits) -> uvicorn.Server:
    """A server for an application. The server closes connections that exceed a limit."""

    class Bounded(Connection):
        """A connection with `limits` as an attribute of the class, as uvicorn passes it no arguments."""

    Bounded.limits = limits
    config = uvicorn.Config(
        app, http=Bounded, log_level="warning", ws="none", server_header=False, date_header=False
    )
    return uvicorn.Server(config)


class Connection(H11Protocol):
    """A connection that is closed, and whose run is stopped, if its client is too slow."""

    limits: ClassVar[Limits] = Limits()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Close the connection immediately if there are too many connections; otherwise wait for a
        request."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.abort()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of an incomplete request. Parts of a request do not restart the timer."""
        super().data_received(data)
        if self.conn.their_state in _UNFINISHED:
            self._await_request()
        else:
            self._stop_asking()

    def pause_writing(self) -> None:
        """Start a timer that closes the connection if the client does not read the response."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.limits.wall_s, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer, as the client has read most of the response."""
        super().resume_writing()
        self._stop_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
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


# Access: only one browser, which has sent the token that was printed in the terminal.


HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response."""
_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>fullpipe</title>
<h1>{what}</h1><p>{why}</p><p><a href="/">Open the page</a></p></html>
"""
_AGAIN = "Stop fullpipe ui in its terminal, start it again, and open the address that it prints."


class Guard:
    """Passes requests of the user's own browser to the application, and refuses all other requests.

    Args:
        app: Application that answers accepted requests.
        hosts: Accepted values of the header `Host`, with the port.
        cookie: The name of the cookie. The name includes the port, as all ports of a host share their
            cookies.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], cookie: str) -> None:
        self._app, self._hosts, self._cookie = app, hosts, cookie
        self.token = secrets.token_urlsafe(32)
        """Token in the printed address. The token opens the page once."""
        self._session = secrets.token_urlsafe(32)
        self._is_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # the server closes WebSockets

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refused = self._refused(scope)
        with suppress(ClientDisconnect):  # the client has left, so no answer reaches it
            await (refused or self._app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """The response if the request is refused; None if the app may answer."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host") not in self._hosts:
            return _page(403, "Not this server", "The request names another host.")
        if not self._is_own(headers):
            return _page(403, "Not from here", "The request comes from another site.")
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if asked and scope["path"] == "/":
            return self._opened(asked[0])
        if not self._knows(headers.get("cookie", "")):
            return _page(401, "This page is not open to this browser", _AGAIN)
        if scope["method"] not in ("GET", "POST"):
            return JSONResponse({"problems": ["only GET and POST"]}, 405)
        kind = headers.get("content-type", "").partition(";")[0].strip()
        if scope["method"] == "POST" and kind != "application/json":
            return JSONResponse({"problems": ["the body must be JSON"]}, 415)
        return None

    def _is_own(self, headers: Mapping[str, str]) -> bool:
        """Whether a request comes from the page itself, by its headers `Origin` and `Sec-Fetch-Site`.

        Only browsers send these headers. A request without them is accepted.
        """
        origin = headers.get("origin")
        own = {f"http://{host}" for host in self._hosts}
        return (origin is None or origin in own) and headers.get("sec-fetch-site", "none") in (
            "none",
            "same-origin",
        )

    def _opened(self, token: str) -> Response:
        if self._is_used or not hmac.compare_digest(token.encode(), self.token.encode()):
            return _page(401, "This address has been used", f"It works once. {_AGAIN}")
        self._is_used = True
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict", path="/")
        return answer

    def _knows(self, cookies: str) -> bool:
        try:
            found = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._session.encode())


def _page(status: int, what: str, why: str) -> Response:
    return HTMLResponse(_PAGE.format(what=what, why=why), status)
