"""A server with OpenAI's embeddings endpoint: one request, and what its failures mean."""

import asyncio
import inspect
import json
import os
import re
import time
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from embedders.daemon_thread import in_daemon_thread
from embedders.errors import EmbedderError
from embedders.extras import load_extra
from embedders.openai_answer import rows_of
from embedders.protocol import Vectors
from embedders.retrying import TemporaryError, asked_pause

_OFFICIAL = "api.openai.com"
_NO_KEY = "no-key-was-given"
_TOO_LONG = re.compile(r"context.length|too.long|too.large|(maximum|max).(input|context)|input.length", re.IGNORECASE)
_SECRETS = re.compile(r"\bsk-[\w*.-]+|\S*\*{2,}\S*|(?<=://)[^/\s@]+@")


class TextTooLongError(EmbedderError):
    """The server says that a request is longer than its model reads."""


class OpenAIServer:
    """A model at a server, reached through a client of the library openai, which must not retry on its own.

    Errors are made anew, outside the handlers of the library's: those hold the request, and so the key.
    """

    def __init__(self, model: str, client: Any, base_url: str | None, api_key: str | None) -> None:
        self._library = load_extra("openai", "openai")
        self._model = model
        self._client = self._given(client, base_url, api_key) if client is not None else self._made(base_url, api_key)
        self.address = _address(str(getattr(self._client, "base_url", "")))
        self._name = f"{model!r} at {self.address or _OFFICIAL}"

    @property
    def is_official(self) -> bool:
        """Whether a model's name means the same here as at OpenAI."""
        return not self.address or self.address.partition("/")[0].endswith(_OFFICIAL)

    async def rows(self, texts: list[str], dimensions: int | None, seconds: float) -> Vectors:
        """Send one request. Raises TemporaryError, TextTooLongError, or EmbedderError for all else."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self._post(texts, dimensions, seconds)
        except TimeoutError:
            failure: Exception = TemporaryError(f"{self._name} did not answer in time")
        except json.JSONDecodeError:
            failure = TemporaryError(f"{self._name} answered with JSON that is cut off or broken")
        except self._library.OpenAIError as error:
            failure = self._failure(error)
        else:
            return self._checked(answer, len(texts), dimensions)
        raise failure

    async def _post(self, texts: list[str], dimensions: int | None, seconds: float) -> Any:
        asked = {} if dimensions is None else {"dimensions": dimensions}
        create = self._client.embeddings.create
        call = partial(create, model=self._model, input=texts, encoding_format="base64", timeout=seconds, **asked)
        answer = call() if inspect.iscoroutinefunction(create) else await in_daemon_thread(call)
        return await answer if inspect.isawaitable(answer) else answer

    def _checked(self, answer: object, count: int, dimensions: int | None) -> Vectors:
        try:
            rows = rows_of(answer, count)
        except EmbedderError as error:
            raise EmbedderError(f"{self._name}: {self._masked(str(error))}") from None
        if dimensions not in (None, rows.shape[1]):
            raise EmbedderError(
                f"{self._name} answered with {rows.shape[1]} dimensions, though {dimensions} were asked for"
            )
        return rows

    def _failure(self, error: Any) -> Exception:
        status = getattr(error, "status_code", None)
        if status is None:
            reason = f"{self._name} cannot be reached: {self._masked(str(error.__cause__ or '') or str(error))}"
            return (TemporaryError if isinstance(error, self._library.APIConnectionError) else EmbedderError)(reason)
        reason = f"{self._name} answered {status}: {self._masked(_message(error))}"
        if status >= 500 or (status == 429 and error.code != "insufficient_quota"):
            headers = error.response.headers
            pause = asked_pause(headers.get("retry-after"), headers.get("retry-after-ms"), time.time())
            return TemporaryError(reason, pause)
        is_too_long = status in (400, 413, 422) and _TOO_LONG.search(f"{error.code} {reason}")
        return (TextTooLongError if is_too_long else EmbedderError)(reason)

    def _masked(self, text: str) -> str:
        key = getattr(self._client, "api_key", None)
        hidden = text.replace(key, "***") if isinstance(key, str) and key else text
        return _SECRETS.sub("***", hidden)[:500]

    def _given(self, client: Any, base_url: str | None, api_key: str | None) -> Any:
        if base_url is not None or api_key is not None:
            raise ValueError("give either client, or base_url and api_key")
        if not hasattr(getattr(client, "embeddings", None), "create"):
            raise ValueError(f"client must be an OpenAI or AsyncOpenAI client, not {type(client).__name__}")
        return client.with_options(max_retries=0) if hasattr(client, "with_options") else client

    def _made(self, base_url: str | None, api_key: str | None) -> Any:
        key = api_key or os.environ.get("OPENAI_API_KEY")
        if not key and not base_url and not os.environ.get("OPENAI_BASE_URL"):
            raise ValueError("OpenAI needs a key: pass api_key=... or set OPENAI_API_KEY")
        return self._library.OpenAI(base_url=base_url, api_key=key or _NO_KEY, max_retries=0)


def _address(base_url: str) -> str:
    """Return host, port and path, without scheme, credentials and query."""
    parts = urlsplit(base_url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def _message(error: Any) -> str:
    return str(error.body["message"] if isinstance(error.body, dict) and error.body.get("message") else error)
