"""Embedding models that the library litellm reaches."""

from collections.abc import Sequence

import numpy as np

from embedders.arrays import unit_rows
from embedders.checks import check_id, check_name, check_texts
from embedders.extras import load_extra
from embedders.openai_answer import rows_of
from embedders.protocol import Kind, Vectors


class LiteLLMEmbedder:
    """Embeds with a model of litellm, named as there: "cohere/embed-v4.0" (extra `litellm`).

    `options` go to `litellm.aembedding` as they are, among them `dimensions`, `api_base` and `num_retries`.
    Those that change the vectors belong into the `id`; by default it names the model, the dimensions and `api_base`.
    """

    def __init__(self, model: str, *, id: str | None = None, **options: object) -> None:
        self._embed = load_extra("litellm", "litellm").aembedding
        self._options = {"model": check_name(model, "model", 'such as "cohere/embed-v4.0"'), **options}
        named = [f"{key}={options[key]}" for key in ("dimensions", "api_base") if key in options]
        self.id = check_id(id) if id is not None else ":".join(["litellm", model, *named])

    async def embed(self, texts: Sequence[str], *, kind: Kind = "document") -> Vectors:
        """Return unit vectors, one row a text; `kind` makes no difference."""
        wanted = check_texts(texts)
        if not wanted:
            return np.empty((0, 0), np.float32)
        return unit_rows(rows_of(await self._embed(input=wanted, **self._options), len(wanted)))
