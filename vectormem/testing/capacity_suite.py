"""The rules of a full memory, shown on one that holds three items a key."""

from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.suite import KEY, OTHER_KEY, ProviderFixtures, add_all, texts, verbs


class CapacitySuite(ProviderFixtures):
    """One item too many drops the oldest one of its key."""

    async def test_one_item_too_many_drops_the_oldest(self, small_provider: MemoryProvider) -> None:
        await add_all(small_provider, KEY, "one", "two", "three", "four")
        assert texts(await small_provider.list(KEY)) == ["four", "three", "two"]

    async def test_a_full_key_drops_nothing_of_another(self, small_provider: MemoryProvider) -> None:
        await small_provider.add(OTHER_KEY, "quiet")
        await add_all(small_provider, KEY, "one", "two", "three", "four", "five")
        assert texts(await small_provider.list(OTHER_KEY)) == ["quiet"]

    async def test_a_stored_text_drops_nothing(self, small_provider: MemoryProvider) -> None:
        await add_all(small_provider, KEY, "one", "two", "three", "one", "two")
        assert texts(await small_provider.list(KEY)) == ["three", "two", "one"]

    async def test_using_an_item_does_not_keep_it(self, small_provider: MemoryProvider) -> None:
        await add_all(small_provider, KEY, "one", "two", "three")
        await small_provider.list(KEY, query="one")
        await add_all(small_provider, KEY, "one", "four")
        assert texts(await small_provider.list(KEY)) == ["four", "three", "two"]

    async def test_a_dropped_text_can_be_stored_as_a_new_item(self, small_provider: MemoryProvider) -> None:
        old = (await add_all(small_provider, KEY, "one", "two", "three", "four"))[0]
        new = await small_provider.add(KEY, "one")
        assert new.id != old.id
        assert texts(await small_provider.list(KEY)) == ["one", "four", "three"]

    async def test_a_removed_item_makes_room(self, small_provider: MemoryProvider) -> None:
        items = await add_all(small_provider, KEY, "one", "two", "three")
        await small_provider.remove(KEY, items[1].id)
        await small_provider.add(KEY, "four")
        assert texts(await small_provider.list(KEY)) == ["four", "three", "one"]

    async def test_a_replaced_item_is_the_last_to_be_dropped(self, small_provider: MemoryProvider) -> None:
        memory = verbs(small_provider, "upsert")
        first = (await add_all(memory, KEY, "one", "two", "three"))[0]
        await memory.upsert(KEY, "one again", id=first.id)
        await memory.add(KEY, "four")
        assert texts(await memory.list(KEY)) == ["four", "one again", "three"]

    async def test_an_upsert_of_a_new_item_drops_the_oldest(self, small_provider: MemoryProvider) -> None:
        memory = verbs(small_provider, "upsert")
        await add_all(memory, KEY, "one", "two", "three")
        await memory.upsert(KEY, "four", id="my-id")
        assert texts(await memory.list(KEY)) == ["four", "three", "two"]

    async def test_add_many_beyond_the_room_keeps_the_last(self, small_provider: MemoryProvider) -> None:
        memory = verbs(small_provider, "add_many", "count")
        items = await memory.add_many(KEY, ["one", "two", "three", "four", "five"])
        assert texts(items) == ["one", "two", "three", "four", "five"]
        assert list(await memory.list(KEY)) == [items[4], items[3], items[2]]
        assert await memory.count(KEY) == 3

    async def test_add_many_gives_the_answers_of_adds_one_after_the_other(self, small_provider: MemoryProvider) -> None:
        memory = verbs(small_provider, "add_many")
        batch = ["a", "b", "c", "a", "d", "a", "b"]
        singles = await add_all(memory, OTHER_KEY, *batch)
        many = await memory.add_many(KEY, batch)
        assert _same_items(many) == _same_items(singles)
        assert texts(await memory.list(KEY)) == texts(await memory.list(OTHER_KEY))

    async def test_restore_beyond_the_room_keeps_the_newest(self, small_provider: MemoryProvider) -> None:
        memory = verbs(small_provider, "restore")
        for n in range(5):
            await memory.add(f"{OTHER_KEY}{n}", f"item {n}")
        exported = [item for n in range(5) for item in await memory.list(f"{OTHER_KEY}{n}")]
        await memory.restore(KEY, exported)
        assert texts(await memory.list(KEY)) == ["item 4", "item 3", "item 2"]


def _same_items(items: object) -> list[int]:
    """Return, for each item, the position of the first one with its id."""
    ids = [item.id for item in items]  # type: ignore[attr-defined]
    return [ids.index(item_id) for item_id in ids]
