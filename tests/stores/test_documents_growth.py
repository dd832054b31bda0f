"""What is done with documents costs the same among few and among many: SQLite's own count of steps says so."""

from itertools import islice

import apsw
import numpy as np
import pytest

from vectormem import SqliteStore
from vectormem.stores.rows import VectorKind
from vectormem.stores.sqlite import documents as module
from vectormem.stores.sqlite.document_space import Draft
from vectormem.stores.sqlite.documents import Documents

KIND = VectorKind("e", 4)


def steps_of(store, work):
    """Return how many steps SQLite's machine takes in the writing connection during the work."""
    counts = []

    def count(event):
        counts.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    store.write(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count))
    work()
    store.write(lambda connection: connection.trace_v2(0, None))
    return sum(counts)


def fill(documents, start, end):
    def change(writer):
        for number in range(start, end):
            vector = np.eye(4, dtype=np.float32)[number % 4]
            writer.put(("a",), Draft(str(number), "{}", number, None), "e", np.array([vector, vector]))

    documents.change(change)


WORKS = {
    "a put": lambda writer: writer.put(("a",), Draft("3", "{}", 1, None), "e", np.eye(4, dtype=np.float32)[:2]),
    "a deletion": lambda writer: writer.delete(("a",), "7"),
    "a get": lambda writer: writer.get(("a",), "9"),
    "a sweep": lambda writer: writer.sweep(5),
    "the newest": lambda writer: list(islice(writer.newest(("a",)), 10)),
    "the newest of all paths": lambda writer: list(islice(writer.newest(()), 10)),
    "documents of vectors": lambda writer: module.Space(writer._connection, writer._encode(("a",))).of_vectors(
        [*range(1, 60)]
    ),
    "vectors": lambda writer: module.Space(writer._connection, writer._encode(("a",))).vectors(KIND).of(range(1, 60)),
}


@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_the_steps_do_not_grow(tmp_path, work):
    with SqliteStore(tmp_path / "m.db") as store:
        documents = Documents(store, "root")
        fill(documents, 0, 50)
        few = steps_of(store, lambda: documents.change(work))
        fill(documents, 50, 4000)
        many = steps_of(store, lambda: documents.change(work))
    assert many < 3 * few, (few, many)
