"""The ways to rank what is stored against a query."""

from typing import Literal, TypeAlias, get_args

from vectormem.errors import MemoryInvalidError

Ranking: TypeAlias = Literal["vector", "keyword", "hybrid"]


def check_ranking(ranking: object) -> Ranking:
    """Return a known ranking."""
    if ranking not in get_args(Ranking):
        raise MemoryInvalidError(f'ranking must be "vector", "keyword" or "hybrid", not {ranking!r}')
    return ranking  # type: ignore[return-value]  # checked above
