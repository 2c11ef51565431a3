"""Who may use the page: the browser that opened the address with the token, and no other site.

A page on the internet can make a browser send requests to this machine. It knows no token, cannot set the
header ``Host`` to this server's (a name that is made to point here is another name), and cannot hide its
``Origin``.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

PARAMETER = "token"
SAFE = ("GET", "HEAD")


class Access:
    """Lets requests pass to ``app`` that come from this machine's browser with the ``token``."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"hinter-view-{port}"
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await (self._refusal(scope) or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        """Return why the request is refused, or where it is sent on to; None where it may pass."""
        headers = Headers(scope=scope)
        if headers.get("host") not in self._hosts:
            return PlainTextResponse("This page is for this machine alone.", 421)
        origin, safe = headers.get("origin"), scope["method"] in SAFE
        if (origin is None and not safe) or (origin is not None and origin not in self._origins):
            return PlainTextResponse("The request comes from another page.", 403)
        if self._knows(_cookie(headers.get("cookie", ""), self._cookie)):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if safe and self._knows(dict(query).get(PARAMETER, "")):
            return self._welcome(scope["path"], [(key, value) for key, value in query if key != PARAMETER])
        return PlainTextResponse("Open the address that hinter view printed: it has the token.", 401)

    @property
    def _origins(self) -> frozenset[str]:
        return frozenset(f"http://{host}" for host in self._hosts)

    def _knows(self, value: str) -> bool:
        return hmac.compare_digest(value.encode(), self._token.encode())

    def _welcome(self, path: str, query: list[tuple[str, str]]) -> Response:
        """Return a redirection to the same page, with a cookie in place of the token."""
        where = "/" + path.lstrip("/")
        response = RedirectResponse(where + (f"?{urlencode(query)}" if query else ""), 303)
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="lax")
        return response


def _cookie(header: str, name: str) -> str:
    try:
        morsel = SimpleCookie(header).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""
