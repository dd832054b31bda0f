"""The built-in providers on a Postgres database; the driver, an extra, is needed to make one."""

from typing import TYPE_CHECKING, TypeAlias, Unpack

from embedders import Embedder
from vectormem.errors import MemoryInvalidError
from vectormem.origin import Origin
from vectormem.providers.base import BuiltinProvider
from vectormem.providers.vector import VectorProvider
from vectormem.ranking.choice import Ranking
from vectormem.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from vectormem.stores.postgres.items import PostgresItems

StoreOrDsn: TypeAlias = PostgresStore | str


class PostgresMemory(BuiltinProvider):
    """Items in a `PostgresStore`, found by words. A DSN in its place is opened, and closed by `aclose`."""

    def __init__(self, store: StoreOrDsn, *, max_items: int | None = 1000, **origin: Unpack[Origin]) -> None:
        super().__init__(_items(store), max_items=max_items, **origin)


class PostgresVectorMemory(VectorProvider):
    """Items and vectors in a `PostgresStore`, found by meaning.

    A DSN in place of the store is opened, and closed by `aclose`. Any number of machines may write one
    database. Large keys are searched through an HNSW index once it is built, unless `exact`.
    """

    def __init__(
        self,
        store: StoreOrDsn,
        *,
        embedder: Embedder,
        max_items: int | None = 5000,
        min_score: float = 0.2,
        exact: bool = False,
        ranking: Ranking = "vector",
        **origin: Unpack[Origin],
    ) -> None:
        super().__init__(
            _items(store),
            embedder=embedder,
            max_items=max_items,
            min_score=min_score,
            exact=exact,
            ranking=ranking,
            **origin,
        )


def _items(store: object) -> "PostgresItems":
    if not isinstance(store, PostgresStore | str):
        raise MemoryInvalidError(f"store must be a PostgresStore or a DSN, not {type(store).__name__}")
    opened = store if isinstance(store, PostgresStore) else PostgresStore(store)
    from vectormem.stores.postgres.items import PostgresItems

    return PostgresItems(opened, owned=isinstance(store, str))
