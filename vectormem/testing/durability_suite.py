"""The rules of storage that outlives the provider object."""

from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.suite import KEY, ProviderFixtures, Reopen, add_all, texts


class DurabilitySuite(ProviderFixtures):
    """What was stored is there for the next object on the same storage."""

    async def test_items_are_there_after_reopening(self, provider: MemoryProvider, reopened: Reopen) -> None:
        await provider.add(KEY, "likes tea", metadata={"source": "chat", "list": [1, 2.5]})
        await provider.add(KEY, "lives in Oslo")
        stored = list(await provider.list(KEY))
        assert texts(stored) == ["lives in Oslo", "likes tea"]
        assert list(await reopened().list(KEY)) == stored

    async def test_a_removed_item_is_gone_after_reopening(self, provider: MemoryProvider, reopened: Reopen) -> None:
        tea, oslo = await add_all(provider, KEY, "likes tea", "lives in Oslo")
        await provider.remove(KEY, tea.id)
        again = reopened()
        assert list(await again.list(KEY)) == [oslo]
        assert "likes tea" not in texts(await again.list(KEY, query="likes tea"))

    async def test_items_that_are_added_after_reopening_are_newer(
        self, provider: MemoryProvider, reopened: Reopen
    ) -> None:
        await add_all(provider, KEY, "one", "two", "three")
        again = reopened()
        await add_all(again, KEY, "four", "one")
        assert texts(await again.list(KEY)) == ["four", "three", "two", "one"]

    async def test_two_objects_on_one_storage_see_each_others_changes(
        self, provider: MemoryProvider, reopened: Reopen
    ) -> None:
        other = reopened()
        one = await provider.add(KEY, "one")
        two = await other.add(KEY, "two")
        await provider.remove(KEY, one.id)
        three = await provider.add(KEY, "three")
        assert list(await other.list(KEY)) == [three, two]
        assert list(await provider.list(KEY)) == [three, two]
