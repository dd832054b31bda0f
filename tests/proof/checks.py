"""What has to hold of the files of a memory, whatever happened to the processes that wrote them."""

import json
from contextlib import closing

import apsw
import numpy as np

from embedders import HashEmbedder
from tests.proof.model import NEW_KEY, held_of
from vectormem.cli.checkup import examine


async def state_of(memory):
    """Return all items by key, oldest first, and the ids that a migration copied."""
    keys = await memory.scope_keys()
    state = {key: [held_of(item) for item in await memory.list(key)][::-1] for key in keys}
    for key, items in state.items():
        assert await memory.count(key) == len(items), key
    return state, await memory._items.read(NEW_KEY, lambda rows: rows.copied_ids())


def check_files(kind, folder):
    """Check that the files are whole, but for what a dead process was writing beside them."""
    if kind == "file":
        for path in (folder / "files").glob("*"):
            assert path.suffix in (".json", ".lock", ".tmp"), path
            if path.suffix == ".json":
                json.loads(path.read_bytes())
    elif (folder / "memory.db").exists():
        _check_database(folder / "memory.db")


def _check_database(path):
    with closing(apsw.Connection(str(path))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        if not connection.execute("SELECT 1 FROM sqlite_schema").get:
            return  # who died had not made the tables yet, and the next one does: all of them, or none
        _check_vectors(connection)
    problems = [finding for finding in examine(path, key=None, reindex="").findings if finding.level == "problem"]
    assert problems == []


def _check_vectors(connection):
    """Each vector is that of the text beside it, by the embedder that it names."""
    rows = connection.execute(
        "SELECT name, text, embedding FROM memory_items JOIN memory_vectors USING (key_id, seq)"
        " JOIN memory_embedders ON memory_embedders.id=embedder_id"
    ).fetchall()
    for name in {row[0] for row in rows}:
        own = [row for row in rows if row[0] == name]
        expected = vectors_of(int(name.partition(":")[2]), [text for _, text, _ in own])
        found = np.array([np.frombuffer(blob, "<f4") for *_, blob in own])
        assert np.allclose(found, expected, atol=1e-6), name


def vectors_of(dimensions, texts):
    return _run(HashEmbedder(dimensions).embed(texts))


def _run(coroutine):
    """Drive a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")
