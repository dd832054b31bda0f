"""What every embedder of a real model has to show."""

import asyncio
import logging
import subprocess
import sys

import numpy as np

from embedders import Embedder
from vectormem import SqliteVectorMemory, blocking


def embed(embedder: Embedder, texts: list[str], kind: str = "document") -> np.ndarray:
    return asyncio.run(embedder.embed(texts, kind=kind))


def check_unit_rows(vectors: np.ndarray) -> None:
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def check_finds_what_shares_no_word(embedder: Embedder) -> None:
    """Ask what the user likes to eat; the answer that shares no word with the question comes first."""
    memory = blocking(SqliteVectorMemory(":memory:", embedder=embedder, min_score=-1))
    memory.add_many("k", ["The office is in Oslo", "Sam is vegetarian", "The train leaves at nine"])
    assert memory.list("k", query="What does the user like to eat?")[0].text == "Sam is vegetarian"
    memory.close()


def warnings_of(caplog, embedder: Embedder, texts: list[str]) -> list[str]:
    """Return what the logger `embedders` says while the texts are embedded."""
    caplog.clear()
    with caplog.at_level(logging.WARNING, "embedders"):
        embed(embedder, texts)
    return [record.getMessage() for record in caplog.records if record.name == "embedders"]


def in_new_process(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False, timeout=300)
