"""What models print while they load and embed goes to standard error: standard output holds what commands say."""

import ctypes
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from embedders import Embedder
    from embedders.protocol import Kind


@contextmanager
def stray_output_on_stderr() -> Iterator[None]:
    """Send what Python code and libraries write to standard output meanwhile to standard error."""
    sys.stdout.flush()
    with redirect_stdout(sys.stderr), _descriptor_redirected():
        yield


@contextmanager
def _descriptor_redirected() -> Iterator[None]:
    try:
        kept = os.dup(1)
    except OSError:  # it is closed: nothing can go astray
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        _flush_libraries()
        os.dup2(kept, 1)
        os.close(kept)


def _flush_libraries() -> None:
    """Let libraries in C write out what they hold back, before standard output is back in its place."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)


class QuietEmbedder:
    """An embedder that prints nothing on standard output."""

    def __init__(self, embedder: "Embedder") -> None:
        self._embedder = embedder
        self.id = embedder.id

    async def embed(self, texts: Sequence[str], *, kind: "Kind" = "document") -> Any:
        """Embed the texts, in order."""
        with stray_output_on_stderr():
            return await self._embedder.embed(texts, kind=kind)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)
