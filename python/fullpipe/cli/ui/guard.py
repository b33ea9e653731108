"""Who may ask: one browser on this machine, which has shown the token that only the terminal knows."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from contextlib import suppress
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
"""Of every answer."""
_PAGE = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>fullpipe</title>
<h1>{what}</h1><p>{why}</p><p><a href="/">Open the page</a></p></html>
"""
_AGAIN = "Stop fullpipe ui in its terminal, start it again, and open the address that it prints."


class Guard:
    """Lets requests pass that are this user's own, and turns away all others.

    Args:
        app: What answers those that pass.
        hosts: What `Host` may say, with the port.
        cookie: The name of the cookie; cookies of one host are common to all its ports.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str], cookie: str) -> None:
        self._app, self._hosts, self._cookie = app, hosts, cookie
        self.token = secrets.token_urlsafe(32)
        """Opens the page once."""
        self._session = secrets.token_urlsafe(32)
        self._is_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a WebSocket is closed by what serves this

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refused = self._refused(scope)
        with suppress(ClientDisconnect):  # the client has left, so no answer reaches it
            await (refused or self._app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        """What is answered in place of the app, if anything is."""
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
        """Whether no other site is behind a request. Browsers say so; what is no browser says nothing."""
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
