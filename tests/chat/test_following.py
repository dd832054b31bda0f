"""An index in memory follows the file: a storage in use answers as a fresh one does."""

import asyncio
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedders import HashEmbedder
from tests.chat.models import Marked, contents, fill
from vectormem import ChatStorage, SqliteStore

WORDS = st.sampled_from(["tea", "coffee", "garden", "bicycle", "piano", "window", "river", "lamp"])
TEXTS = st.lists(WORDS, min_size=2, max_size=5).map(" ".join)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("save"), st.integers(0, 9), st.integers(0, 2), TEXTS),
        st.tuples(st.just("delete"), st.integers(0, 9)),
        st.tuples(st.just("clear"), st.integers(0, 2)),
        st.tuples(st.just("ask"), TEXTS),
    ),
    max_size=25,
)


@pytest.mark.parametrize("ranking", ["vector", "keyword", "hybrid"])
@given(actions=ACTIONS)
@settings(max_examples=25)
def test_a_storage_in_use_answers_as_a_fresh_one(ranking: str, actions: list) -> None:
    async def main() -> None:
        with SqliteStore(":memory:") as store:
            used = ChatStorage(store, embedder=HashEmbedder(64), ranking=ranking, min_content_length=0)
            homes: dict[int, int] = {}
            for action, *values in [*actions, ("ask", "tea garden")]:
                if action == "save":
                    number, home, text = values
                    home = homes.setdefault(number, home)
                    await used.save_message(f"c{home}", "user", text, id=f"m{number}")
                elif action == "delete":
                    homes.pop(values[0], None)
                    await used.delete_message(f"m{values[0]}")
                elif action == "clear":
                    homes = {number: home for number, home in homes.items() if home != values[0]}
                    await used.delete_conversation(f"c{values[0]}")
                else:
                    given = await used.search_messages(values[0], min_similarity=0, limit=20)
                    store.cache.__init__(store.cache.budget)
                    assert given == await used.search_messages(values[0], min_similarity=0, limit=20)

    asyncio.run(main())


def test_another_process_is_seen_at_once(tmp_path) -> None:
    program = (
        "import sys; from embedders import HashEmbedder; from vectormem import ChatStorage, blocking\n"
        "with blocking(ChatStorage(sys.argv[1], embedder=HashEmbedder())) as chat:\n"
        "    chat.delete_message('m1'); chat.save_message('c', 'user', 'the key lies under the mat', id='m2')\n"
    )

    async def main() -> None:
        path = tmp_path / "chat.db"
        async with ChatStorage(path, embedder=HashEmbedder()) as chat:
            await chat.save_message("c", "user", "the key lies under the pot", id="m1")
            assert contents(await chat.search_messages("key")) == ["the key lies under the pot"]
            subprocess.run([sys.executable, "-c", program, str(path)], check=True)
            assert contents(await chat.search_messages("key")) == ["the key lies under the mat"]

    asyncio.run(main())


def test_chats_too_large_for_the_cache_are_searched_all_the_same() -> None:
    async def main() -> None:
        with SqliteStore(":memory:", cache_bytes=2000) as store:
            chat = ChatStorage(store, embedder=HashEmbedder())
            await fill(chat, *[f"message about topic{place}" for place in range(30)])
            for place in (3, 17):
                found = await chat.search_messages(f"topic{place}", limit=1)
                assert contents(found) == [f"message about topic{place}"]
            assert sum(entry.nbytes for entry in store.cache._entries.values()) <= 3000

    asyncio.run(main())


def test_an_older_database_gains_the_tables_of_chats(tmp_path) -> None:
    from vectormem.stores.sqlite import schema

    async def main() -> None:
        path = tmp_path / "old.db"
        steps = schema.MIGRATIONS
        schema.MIGRATIONS = steps[:2]
        try:
            SqliteStore(path).close()
        finally:
            schema.MIGRATIONS = steps
        async with ChatStorage(path, embedder=Marked()) as chat:
            await fill(chat, "said in a new table cos=0.90")
            assert contents(await chat.search_messages("anything")) == ["said in a new table cos=0.90"]

    asyncio.run(main())


def test_many_storages_save_at_once_and_every_message_is_kept(tmp_path) -> None:
    async def main() -> None:
        path = tmp_path / "chat.db"
        async with ChatStorage(path, embedder=HashEmbedder()) as one, ChatStorage(path, embedder=HashEmbedder()) as two:
            saves = [
                chat.save_message("c", "user", f"message {place} of writer {writer}")
                for place in range(20)
                for writer, chat in enumerate((one, two))
            ]
            await asyncio.gather(*saves)
            assert len(await one.messages("c")) == 40
            assert await two.embed_pending() == 0
            assert len(await two.search_messages("message writer", limit=99, min_similarity=0.1)) == 40

    asyncio.run(main())
