"""Items that another embedder has embedded: queries pass over them and say so once."""

import asyncio
import logging

import pytest

from vectormem import EmbeddingError, SqliteMemory, SqliteStore, SqliteVectorMemory, blocking
from vectormem.testing import ScriptedEmbedder

KEY = "notes#global"


@pytest.fixture
def changed(tmp_path):
    """Return a memory of a new embedder on a file with items of an old one."""
    with SqliteStore(tmp_path / "memory.db") as store:
        old = blocking(SqliteVectorMemory(store, embedder=ScriptedEmbedder(id="old")))
        old.add_many(KEY, ["tea", "oolong"])
        old.add("other#global", "tea")
        yield blocking(SqliteVectorMemory(store, embedder=ScriptedEmbedder(id="new", dimensions=6)))


def test_a_warning_names_the_key_both_embedders_the_count_and_the_call_that_helps(changed, caplog):
    changed.add(KEY, "new one")
    changed.list(KEY, query="tea")
    assert [(record.name, record.levelno) for record in caplog.records] == [("vectormem", logging.WARNING)]
    text = caplog.text
    for part in (f"'{KEY}'", "'new' (6 d)", "2 of 'old' (4 d)", f"reindex('{KEY}')"):
        assert part in text


def test_the_warning_comes_once_a_key(changed, caplog):
    for _ in range(3):
        changed.list(KEY, query="tea")
        changed.list("other#global", query="tea")
    assert [KEY in record.getMessage() for record in caplog.records] == [True, False]


def test_listing_getting_and_counting_warn_of_nothing(changed, caplog):
    item = changed.list(KEY)[0]
    changed.get(KEY, item.id)
    changed.count(KEY)
    assert caplog.records == []


def test_nothing_is_warned_of_where_everything_is_current(changed, caplog):
    changed.reindex()
    changed.list(KEY, query="tea")
    assert caplog.records == []


def test_a_failing_reindex_tells_what_is_done_and_what_is_left(changed):
    embedder = changed.target.embedder
    embedder.max_batch = 1
    embedder.answer = lambda texts: [] if texts == ["oolong"] else [[1.0] * 6]
    with pytest.raises(EmbeddingError, match="1 of 2 items were reindexed"):
        changed.reindex(KEY)
    embedder.answer = None
    assert changed.reindex(KEY) == 1


def test_items_of_a_keyword_memory_on_the_same_store_are_embedded_by_reindex(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as store:
        words, vectors = SqliteMemory(store), SqliteVectorMemory(store, embedder=ScriptedEmbedder())
        item = blocking(words).add(KEY, "likes tea")
        memory = blocking(vectors)
        assert list(memory.list(KEY)) == [item]
        assert list(memory.list(KEY, query="likes tea")) == []
        assert memory.reindex() == 1
        assert [found.id for found in memory.list(KEY, query="likes tea")] == [item.id]


def test_an_item_that_is_removed_while_reindexing_does_not_come_back():
    class Removing(ScriptedEmbedder):
        """Removes the item while it is being embedded."""

        async def embed(self, texts, *, kind="document"):
            await self.memory.remove(KEY, self.item.id)
            return await super().embed(texts, kind=kind)

    async def scenario():
        async with SqliteStore(":memory:") as store:
            old = SqliteVectorMemory(store, embedder=ScriptedEmbedder(id="old"))
            embedder = Removing(id="new")
            memory = SqliteVectorMemory(store, embedder=embedder)
            await old.add(KEY, "tea")
            embedder.memory, embedder.item = memory, await old.add(KEY, "oolong")
            assert await memory.reindex(KEY) == 1
            return [item.text for item in await memory.list(KEY)]

    assert asyncio.run(scenario()) == ["tea"]


def test_items_that_are_gone_when_they_would_be_named_are_not_warned_of(changed, caplog, monkeypatch):
    provider = changed.target
    read = provider._items.read

    async def after_a_reindex(key, work, *, brief=False):
        await provider.reindex(key)
        return await read(key, work, brief=brief)

    with monkeypatch.context() as patched:
        patched.setattr(provider, "_items", Reading(provider._items, after_a_reindex))
        changed.list(KEY, query="tea")
    assert caplog.records == []


class Reading:
    """A store of which one call is another."""

    def __init__(self, store, read):
        self._store, self._read, self._reads = store, read, 0

    def __getattr__(self, name):
        if name == "read" and not self._reads:
            self._reads += 1
            return self._read
        return getattr(self._store, name)
