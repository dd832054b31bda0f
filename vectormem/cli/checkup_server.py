"""The checks of `doctor` for a Postgres server, which looks after its files itself."""

from collections.abc import Iterator

from vectormem.cli.checkup import Checkup, Finding, Level, check_counters, check_coverage, problem
from vectormem.cli.inspection import Tables, inspect, key_counts, vector_counts
from vectormem.cli.opening import opened_store
from vectormem.cli.output import counted
from vectormem.cli.place import ServerPlace
from vectormem.stores.chat_rows import Database
from vectormem.stores.postgres.schema import MIGRATIONS

_RESTORE = "restore a backup; the server's log may tell what happened"
_STRAYS = (
    "SELECT count(*) FROM memory_vectors AS v WHERE NOT EXISTS"
    " (SELECT 1 FROM memory_items AS i WHERE i.key_id=v.key_id AND i.seq=v.seq)"
)
_BROKEN_INDEXES = (
    "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid=i.indexrelid"
    " WHERE c.relnamespace=current_schema()::regnamespace AND NOT i.indisvalid ORDER BY c.relname"
)


def examine_server(place: ServerPlace, *, key: str | None, reindex: str) -> Checkup:
    """Check a database on a server without changing its rows; `reindex` is the command to advise.

    Raises StorageFailedError where it cannot be opened: it says why, and what to do.
    """
    checkup = Checkup(place.shown, current_schema_version=len(MIGRATIONS))
    with opened_store(place) as store:
        inspect(store, lambda tables: _examine(tables, checkup, key, reindex))
    return checkup


def _examine(tables: Tables, checkup: Checkup, key: str | None, reindex: str) -> None:
    ((version,),) = tables.database.query("SELECT version FROM memory_schema")
    counts = key_counts(tables, key)
    checkup.schema_version = version
    checkup.keys, checkup.items = len(counts), sum(count.items for count in counts)
    checkup.vectors = vector_counts(tables, key)
    checkup.findings = [
        *check_counters(tables.database),
        *_check_strays(tables.database),
        *check_coverage(checkup, reindex),
        *_check_indexes(tables.database),
    ]


def _check_strays(database: Database) -> Iterator[Finding]:
    ((strays,),) = database.query(_STRAYS)
    if strays:
        yield problem("orphans", f"{counted(strays, 'vector')} of no item", _RESTORE)


def _check_indexes(database: Database) -> Iterator[Finding]:
    for (name,) in database.query(_BROKEN_INDEXES):
        advice = f"it is built again when its key is searched; if nothing builds it, DROP INDEX {name}"
        yield Finding(
            Level.NOTE, "indexes", f"the index {name} is unfinished: it is being built, or that failed", advice
        )
