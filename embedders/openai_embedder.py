"""Embedding models of OpenAI and of the many servers that speak like it."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_name, check_positive, check_texts
from embedders.errors import EmbedderError
from embedders.long_texts import mean_of_pieces, pieces, warn_of_chunks
from embedders.openai_server import OpenAIServer, TextTooLongError
from embedders.protocol import Kind, Vectors
from embedders.retrying import retried

_MOST_TOKENS_A_REQUEST = 250_000
_MOST_TOKENS_A_TEXT = 8191
_BYTES_A_TOKEN = 2  # on the safe side: English has four


class OpenAIEmbedder:
    """Embeds through OpenAI or any server with the same endpoint (extra `openai`).

    `base_url` names another server; `client` is an OpenAI, AsyncOpenAI or Azure client of your own. Without
    them, OPENAI_API_KEY and OPENAI_BASE_URL are read. Requests hold at most `batch_size` texts. A request is
    tried again after 429, 5xx, answers that are cut off and network errors, as `Retry-After` asks, and ends
    within `timeout` seconds, all tries included. A text of more than `max_tokens` tokens, generously
    estimated, becomes the mean of its chunks, with a warning. Raises EmbedderError for all that fails; no
    message holds the key. The `id` names a server that is not OpenAI's, and the dimensions where they are asked for.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        client: object = None,
        dimensions: int | None = None,
        id: str | None = None,
        batch_size: int = 256,
        max_tokens: int = _MOST_TOKENS_A_TEXT,
        timeout: float = 60.0,
    ) -> None:
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
        self._model = check_name(model, "model", "it is the model's name at the server")
        self.dimensions = dimensions if dimensions is None else check_positive(dimensions, "dimensions")
        self.max_batch = check_positive(batch_size, "batch_size")
        self._max_tokens = check_positive(max_tokens, "max_tokens")
        self._timeout = timeout
        self._server = OpenAIServer(model, client, base_url, api_key)
        self.id = check_id(id) if id is not None else self._default_id()

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors, one row a text; `kind` makes no difference."""
        cut = [pieces(text, lambda piece: _estimated_tokens(piece) <= self._max_tokens) for text in check_texts(texts)]
        flat = [piece or " " for parts in cut for piece in parts]  # servers refuse empty texts
        if len(flat) > len(texts):
            warn_of_chunks(self.id, sum(len(parts) > 1 for parts in cut), len(texts), len(flat))
        answers = [await self._rows(batch) for batch in self._batches(flat)]
        if len({rows.shape[1] for rows in answers}) > 1:
            raise EmbedderError(f"{self.id!r} answered with vectors of several lengths")
        rows = np.concatenate(answers) if answers else np.empty((0, self.dimensions or 0), np.float32)
        return mean_of_pieces(unit_rows(rows), [len(parts) for parts in cut])

    async def _rows(self, batch: list[str]) -> Vectors:
        """Return the rows of a batch; one that the server finds too long is halved, and so is a lone text."""
        send = partial(self._server.rows, batch, self.dimensions)
        try:
            return await retried(send, seconds=self._timeout)
        except TextTooLongError:
            if len(batch) == 1 and len(batch[0]) < 2:
                raise
        if len(batch) > 1:
            middle = len(batch) // 2
            return np.concatenate([await self._rows(batch[:middle]), await self._rows(batch[middle:])])
        half = (len(batch[0]) + 1) // 2
        halves = pieces(batch[0], lambda piece: len(piece) <= half)
        warn_of_chunks(self.id, 1, 1, len(halves))
        rows = np.concatenate([await self._rows([piece]) for piece in halves])
        return mean_of_pieces(unit_rows(rows), [len(rows)])

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        tokens = 0
        for text in texts:
            more = _estimated_tokens(text)
            if batch and (len(batch) == self.max_batch or tokens + more > _MOST_TOKENS_A_REQUEST):
                yield batch
                batch, tokens = [], 0
            batch.append(text)
            tokens += more
        if batch:
            yield batch

    def _default_id(self) -> str:
        server = "" if self._server.is_official else f"@{self._server.address}"
        length = "" if self.dimensions is None else f":{self.dimensions}"
        chunks = "" if self._max_tokens == _MOST_TOKENS_A_TEXT else f":max={self._max_tokens}"
        return f"openai:{self._model}{server}{length}{chunks}"

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, id={self.id!r})"


def _estimated_tokens(text: str) -> int:
    return len(text.encode(errors="replace")) // _BYTES_A_TOKEN + 1
