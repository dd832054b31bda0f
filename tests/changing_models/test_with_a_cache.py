"""Going back to an earlier model costs no embedding where its vectors are cached."""

import pytest

from embedders import CachedEmbedder
from vectormem import MemoryContext, MemoryRun, SqliteStore, SqliteVectorMemory, blocking, define_memory
from vectormem.testing import ScriptedEmbedder

TEXTS = [f"fact {n}" for n in range(30)]


@pytest.fixture
def store(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as opened:
        yield opened


def test_reindexing_there_and_back_asks_each_model_once(store, tmp_path):
    models = [ScriptedEmbedder(id=name, dimensions=size) for name, size in (("one", 6), ("two", 9))]
    one, two = (
        blocking(SqliteVectorMemory(store, embedder=CachedEmbedder(model, tmp_path / "cache.db"))) for model in models
    )
    one.add_many("k", TEXTS)
    assert (two.reindex(), one.reindex(), two.reindex()) == (30, 30, 30)
    assert [sum(len(texts) for texts, _ in model.calls) for model in models] == [30, 30]


def test_a_run_goes_on_without_the_old_items_and_says_so(store, caplog):
    old, new = (SqliteVectorMemory(store, embedder=ScriptedEmbedder(id=name)) for name in ("old", "new"))
    blocking(old).add("facts#global", "Sam likes tea")
    slot = define_memory(name="facts", scope="global", provider=new, recall={"query": "last-input"})
    run = blocking(MemoryRun([slot], MemoryContext()))
    assert run.system_prompt("Help.", last_input="Sam likes tea") == "Help."
    assert "1 of 'old' (4 d); reindex('facts#global') adds them" in caplog.text
    blocking(new).reindex()
    again = blocking(MemoryRun([slot], MemoryContext()))
    assert "- Sam likes tea" in again.system_prompt("Help.", last_input="Sam likes tea")
