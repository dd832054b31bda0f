"""Embedders whose cosines the tests choose, and short ways to fill and ask a chat memory."""

import re
from collections.abc import Sequence

import numpy as np

from vectormem import ChatStorage, MessageMatch


class Marked:
    """Embeds "... cos=0.35 ..." so that its cosine with every query is 0.35; other texts are at right angles."""

    def __init__(self, id: str = "marked", dimensions: int = 2) -> None:
        self.id = id
        self.dimensions = dimensions
        self.calls: list[tuple[str, list[str]]] = []
        self.fails = False

    async def embed(self, texts: Sequence[str], *, kind: str = "document") -> np.ndarray:
        if self.fails:
            raise ConnectionError("the model is gone")
        self.calls.append((kind, list(texts)))
        return np.array([self._vector(text, kind) for text in texts])

    def _vector(self, text: str, kind: str) -> list[float]:
        marks = re.findall(r"cos=(-?[\d.]+\d)", text)
        cosine = 1.0 if kind == "query" else max(map(float, marks), default=0.0)
        return [cosine, (1 - cosine * cosine) ** 0.5, *[0.0] * (self.dimensions - 2)]

    @property
    def documents(self) -> list[str]:
        """The texts that were embedded to be stored."""
        return [text for kind, texts in self.calls if kind == "document" for text in texts]


async def fill(chat: ChatStorage, *contents: str, conversation: str = "c", role: str = "user") -> list[str]:
    """Save messages and return their ids."""
    return [(await chat.save_message(conversation, role, content)).id for content in contents]


def contents(matches: Sequence[MessageMatch]) -> list[str]:
    return [match.message.content for match in matches]
