"""What a change costs does not grow with the key: SQLite's own count of steps, and not a clock, says so."""

import asyncio

import apsw

from embedders import HashEmbedder
from vectormem import ChatStorage, SqliteMemory, SqliteStore


def steps_of(store, work):
    """Return how many steps SQLite's machine takes in the writing connection while the coroutine runs."""
    counts = []

    def count(event):
        counts.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    store.write(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, count))
    asyncio.run(work)
    store.write(lambda connection: connection.trace_v2(0, None))
    return sum(counts)


def texts(start, end):
    return [f"item {number}" for number in range(start, end)]


def test_a_batch_of_items_costs_the_same_in_a_small_and_in_a_large_key(tmp_path):
    with SqliteStore(tmp_path / "memory.db") as store:
        memory = SqliteMemory(store, max_items=None)
        small = steps_of(store, memory.add_many("k", texts(0, 50)))
        asyncio.run(memory.add_many("k", texts(50, 5000)))
        large = steps_of(store, memory.add_many("k", texts(5000, 5050)))
    assert large < 3 * small


def messages(chat, start, end):
    async def save():
        for number in range(start, end):
            await chat.save_message("c", "user", f"green tea number {number} of {number % 7}", id=f"m{number}")

    return save()


def test_deleting_or_replacing_a_message_costs_the_same_among_few_and_among_many(tmp_path):
    with SqliteStore(tmp_path / "chats.db") as store:
        chat = ChatStorage(store, embedder=HashEmbedder(), auto_embed_messages=False)
        asyncio.run(messages(chat, 0, 20))
        few = [
            steps_of(store, work) for work in (chat.delete_message("m5"), chat.save_message("c", "user", "x", id="m6"))
        ]
        asyncio.run(messages(chat, 20, 1000))
        many = [
            steps_of(store, work)
            for work in (chat.delete_message("m500"), chat.save_message("c", "user", "x", id="m501"))
        ]
    assert all(later < 3 * earlier for earlier, later in zip(few, many, strict=True)), (few, many)
