"""Which items a search passes over, since another embedder made their vectors or none did."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from vectormem.cli.inspection import Tables, VectorCount, key_counts, vector_counts

if TYPE_CHECKING:
    from embedders import Embedder


class Skipped(NamedTuple):
    """How many of the items of a key a search passes over, and the other vectors that they have."""

    items: int = 0
    of: int = 0
    others: Sequence[VectorCount] = ()

    def explain(self, options: str) -> str:
        """Return a sentence that names the cause and the command that helps, with these options."""
        bare = self.items - sum(other.vectors for other in self.others)
        causes = [f"{other.vectors} embedded by {other.embedder} ({other.dimensions} d)" for other in self.others]
        causes += [f"{bare} without a vector"] if bare else []
        return (
            f"note: {self.items} of {self.of} items were not searched: {', '.join(causes)}; "
            f"`vectormem reindex {options}` makes them searchable"
        )


def find_skipped(tables: Tables, key: str, embedder: "Embedder") -> Skipped:
    """Return what a search by this embedder passes over in the key."""
    items = sum(count.items for count in key_counts(tables, key))
    counts = vector_counts(tables, key)
    others = [count for count in counts if not _is_made_by(count, embedder)]
    searched = sum(count.vectors for count in counts) - sum(other.vectors for other in others)
    return Skipped(items - searched, items, others)


def _is_made_by(count: VectorCount, embedder: "Embedder") -> bool:
    dimensions = getattr(embedder, "dimensions", None) or count.dimensions
    return (count.embedder, count.dimensions) == (embedder.id, dimensions)


@contextmanager
def heard_warnings() -> Iterator[list[str]]:
    """Collect what the package logs, which the command says in its own words on standard error."""
    logger, listener = logging.getLogger("vectormem"), _Listener()
    logger.addHandler(listener)
    try:
        yield listener.messages
    finally:
        logger.removeHandler(listener)


class _Listener(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
