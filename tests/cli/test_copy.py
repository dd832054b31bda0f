"""`copy`: everything of one database in another, as often as it is called."""

import asyncio

import pytest

from embedders import HashEmbedder
from vectormem import ChatStorage, SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores import copying
from vectormem.stores.sqlite.items import SqliteItems


def fill(path, *, count=5):
    """Fill a database with items of two keys, one without a vector, and with a chat."""
    with SqliteStore(path) as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder(), max_items=None))
        memory.add_many("notes#a", [f"fact {number} about tea" for number in range(count)], metadata={"n": 1})
        memory.add("notes#b", "lives in Oslo")
        chat = blocking(ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid", scope_key="user:ada"))
        chat.save_message("c", "user", "Where did we hide the spare key?", id="m1")
        chat.save_message("c", "assistant", "Under the blue flower pot.", id="m2", metadata={"by": "bot"})


def held(path):
    """Return all that a database answers, without embedding a document."""
    with SqliteStore(path) as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder(), max_items=None))
        chat = blocking(ChatStorage(store, embedder=HashEmbedder(), ranking="hybrid", scope_key="user:ada"))
        found = [list(memory.list(key)) for key in memory.scope_keys()]
        found += [list(memory.list("notes#a", query="tea")), list(chat.messages("c"))]
        return [
            *found,
            list(chat.search_messages("spare key", min_similarity=0)),
            chat.embed_pending(),
            memory.reindex(),
        ]


def test_items_and_chats_are_the_same_in_the_copy_vectors_and_order_too(run, run_json, folder):
    fill("from.db")
    assert run_json("copy", "from.db", "to.db") == {
        "items": {"read": 6, "copied": 6},
        "messages": {"read": 2, "copied": 2},
    }
    assert held("to.db") == held("from.db")
    assert held("to.db")[-2:] == [0, 0]
    assert run("copy", "from.db", "to.db").stdout == (
        "copied 0 items, 6 of 6 were there already\ncopied 0 messages, 2 of 2 were there already\n"
    )
    assert held("to.db") == held("from.db")


def test_an_interrupted_copy_is_finished_by_the_next_one(run_json, folder, monkeypatch):
    fill("from.db", count=25)
    monkeypatch.setattr(copying, "_AT_ONCE", 10)
    with SqliteStore("from.db") as one, SqliteStore("to.db") as other:

        def break_off(done, total):
            raise InterruptedError

        ends = SqliteItems(one, owned=False), SqliteItems(other, owned=False)
        with pytest.raises(InterruptedError):
            asyncio.run(copying.copy_items(*ends, break_off))
        memory = blocking(SqliteVectorMemory(other, embedder=HashEmbedder()))
        assert memory.count("notes#a") == 10
    assert run_json("copy", "from.db", "to.db")["items"] == {"read": 26, "copied": 16}
    assert held("to.db") == held("from.db")


def test_what_the_other_database_holds_already_stays_as_it_is(run_json, folder):
    fill("from.db")
    with SqliteStore("to.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        own = memory.add("notes#a", "fact 3 about tea", metadata={"mine": True})
    assert run_json("copy", "from.db", "to.db")["items"] == {"read": 6, "copied": 5}
    with SqliteStore("to.db") as store:
        items = blocking(SqliteVectorMemory(store, embedder=HashEmbedder())).list("notes#a")
    assert [item.text[5] for item in items] == ["4", "2", "1", "0", "3"]
    assert items[-1] == own


def test_a_migration_that_was_done_is_not_done_again_in_the_copy(run_json, folder):
    with SqliteStore("from.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        memory.add("global", "likes tea")
        asyncio.run(memory.target.copy_from("global", "notes#global"))
        memory.remove("notes#global", memory.list("notes#global")[0].id)
        memory.add("notes#global", "likes milk")
    run_json("copy", "from.db", "to.db")
    with SqliteStore("to.db") as store:
        memory = blocking(SqliteVectorMemory(store, embedder=HashEmbedder()))
        asyncio.run(memory.target.copy_from("global", "notes#global"))
        assert [item.text for item in memory.list("notes#global")] == ["likes milk"]


def test_a_missing_source_is_refused_and_nothing_is_created(run, folder):
    result = run("copy", "from.db", "to.db")
    assert result.exit_code == 1
    assert "no database from.db" in result.stderr
    assert list(folder.iterdir()) == []


def test_a_database_is_not_copied_to_itself(run, folder):
    fill("from.db")
    assert run("copy", "from.db", "from.db").exit_code == 2
