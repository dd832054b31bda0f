"""The door of the HTTP server: a request without a token that is known comes no further."""

from typing import Any

from vectormem.adapters.missing import missing_extra
from vectormem.mcp_server.caller import Caller
from vectormem.mcp_server.tokens import Tokens

try:
    from starlette.datastructures import Headers
    from starlette.responses import JSONResponse
    from starlette.types import ASGIApp, Receive, Scope, Send
except ImportError as error:
    raise missing_extra("mcp", error) from error

_CALLER = "vectormem.caller"


class Bearer:
    """Lets requests with a known bearer token through, with whom it proves; the others get one and the same refusal."""

    def __init__(self, app: ASGIApp, tokens: Tokens) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif caller := self._caller(scope):
            await self._app({**scope, _CALLER: caller}, receive, send)
        else:
            refusal = JSONResponse({"error": "unauthorized"}, 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)

    def _caller(self, scope: Scope) -> Caller | None:
        given = Headers(scope=scope).getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        return self._tokens.caller(token.strip()) if scheme.lower() == "bearer" else None


def proved_caller(request: Any) -> Caller:
    """Return whom the token of an HTTP request proved; KeyError for one that did not come through the door."""
    caller: Caller = request.request.scope[_CALLER]
    return caller
