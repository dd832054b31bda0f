"""The rules of the verbs beyond list, add and remove; a provider that lacks one skips its tests."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from vectormem.errors import MemoryInvalidError
from vectormem.items import MemoryItem
from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.suite import (
    BAD_KEYS,
    BAD_TEXTS,
    KEY,
    OTHER_KEY,
    ProviderFixtures,
    add_all,
    refuses,
    texts,
    verbs,
)

_THEN = datetime(2020, 2, 29, 12, 30, 15, 123456, UTC)


class VerbsSuite(ProviderFixtures):
    """Upsert, add_many, get, count, clear, scope_keys and restore."""

    async def test_upsert_replaces_an_item_which_keeps_its_id_and_becomes_the_newest(
        self, provider: MemoryProvider
    ) -> None:
        memory = verbs(provider, "upsert")
        old = await memory.add(KEY, "speaks French", metadata={"sure": False})
        other = await memory.add(KEY, "lives in Oslo")
        new = await memory.upsert(KEY, "speaks English", id=old.id, metadata={"sure": True})
        assert (new.id, new.text, new.metadata) == (old.id, "speaks English", {"sure": True})
        assert new.created_at >= other.created_at
        assert list(await memory.list(KEY)) == [new, other]

    async def test_upsert_without_metadata_leaves_none(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        old = await memory.add(KEY, "speaks French", metadata={"sure": False})
        await memory.upsert(KEY, "speaks English", id=old.id)
        assert (await memory.list(KEY))[0].metadata is None

    async def test_upsert_of_the_same_text_replaces_the_metadata_and_makes_it_the_newest(
        self, provider: MemoryProvider
    ) -> None:
        memory = verbs(provider, "upsert")
        old, other = await add_all(memory, KEY, "likes tea", "lives in Oslo")
        new = await memory.upsert(KEY, "likes tea", id=old.id, metadata={"sure": True})
        assert (new.id, new.metadata) == (old.id, {"sure": True})
        assert list(await memory.list(KEY)) == [new, other]

    async def test_upsert_without_an_id_is_add(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        old, other = await add_all(memory, KEY, "likes tea", "lives in Oslo")
        assert await memory.upsert(KEY, "likes tea", metadata={"ignored": True}) == old
        new = await memory.upsert(KEY, "speaks English")
        assert list(await memory.list(KEY)) == [new, other, old]

    async def test_upsert_of_an_unknown_id_stores_a_new_item_under_it(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        other = await memory.add(KEY, "lives in Oslo")
        new = await memory.upsert(KEY, "likes tea", id="my-id")
        assert new.id == "my-id"
        assert list(await memory.list(KEY)) == [new, other]

    async def test_upsert_removes_another_item_that_has_the_text(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        first, second, third = await add_all(memory, KEY, "likes tea", "likes coffee", "lives in Oslo")
        new = await memory.upsert(KEY, "likes coffee", id=first.id)
        assert list(await memory.list(KEY)) == [new, third]
        assert new.id == first.id
        assert not await memory.remove(KEY, second.id)

    async def test_upsert_of_an_unknown_id_takes_over_a_stored_text(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        _, other = await add_all(memory, KEY, "likes tea", "lives in Oslo")
        new = await memory.upsert(KEY, "likes tea", id="my-id")
        assert list(await memory.list(KEY)) == [new, other]
        assert new.id == "my-id"

    async def test_upsert_touches_one_key_only(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        theirs = await memory.upsert(OTHER_KEY, "likes tea", id="my-id")
        mine = await memory.upsert(KEY, "likes tea", id="my-id")
        await memory.upsert(KEY, "likes coffee", id=mine.id)
        assert list(await memory.list(OTHER_KEY)) == [theirs]

    @pytest.mark.parametrize("text", BAD_TEXTS)
    async def test_upsert_of_a_refused_text_leaves_the_item_as_it_was(
        self, provider: MemoryProvider, text: Any
    ) -> None:
        memory = verbs(provider, "upsert")
        kept = await memory.add(KEY, "kept", metadata={"a": 1})
        await refuses(memory.upsert(KEY, text, id=kept.id))
        await refuses(memory.upsert(KEY, "text", id=kept.id, metadata={"nan": float("nan")}))
        assert list(await memory.list(KEY)) == [kept]

    async def test_upserts_of_one_id_at_the_same_time_leave_one_item(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "upsert")
        await asyncio.gather(*(memory.upsert(KEY, f"version {n}", id="my-id") for n in range(10)))
        assert [item.id for item in await memory.list(KEY)] == ["my-id"]

    async def test_add_many_returns_one_item_for_each_text_in_order(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "add_many")
        stored = await memory.add(KEY, "two")
        items = await memory.add_many(KEY, ["one", "two", "three", "one"])
        assert texts(items) == ["one", "two", "three", "one"]
        assert items[1] == stored
        assert items[3] == items[0]
        assert list(await memory.list(KEY)) == [items[2], items[0], stored]

    async def test_add_many_takes_metadata_for_all_or_for_each(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "add_many")
        shared = await memory.add_many(KEY, ["one", "two"], metadata={"source": "chat"})
        each = await memory.add_many(KEY, ["three", "four"], metadata=[{"n": 3}, None])
        assert [item.metadata for item in [*shared, *each]] == [{"source": "chat"}, {"source": "chat"}, {"n": 3}, None]
        assert list(await memory.list(KEY)) == [each[1], each[0], shared[1], shared[0]]

    @pytest.mark.parametrize("text", BAD_TEXTS)
    async def test_add_many_with_one_refused_text_stores_none(self, provider: MemoryProvider, text: Any) -> None:
        memory = verbs(provider, "add_many")
        await refuses(memory.add_many(KEY, ["one", text, "three"]))
        assert list(await memory.list(KEY)) == []

    @pytest.mark.parametrize("metadata", [[None], [{}, {}, {}], "ab", 7, [{"nan": float("nan")}, None]])
    async def test_add_many_with_metadata_that_does_not_fit_stores_none(
        self, provider: MemoryProvider, metadata: Any
    ) -> None:
        memory = verbs(provider, "add_many")
        await refuses(memory.add_many(KEY, ["one", "two"], metadata=metadata))
        assert list(await memory.list(KEY)) == []

    async def test_add_many_takes_no_single_string(self, provider: MemoryProvider) -> None:
        await refuses(verbs(provider, "add_many").add_many(KEY, "tea"))

    async def test_add_many_of_nothing_returns_nothing(self, provider: MemoryProvider) -> None:
        assert list(await verbs(provider, "add_many").add_many(KEY, [])) == []

    async def test_add_many_reports_its_progress_up_to_the_end(self, provider: MemoryProvider) -> None:
        memory, seen = verbs(provider, "add_many"), []
        await memory.add_many(KEY, ["one", "two", "three"], on_progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (3, 3)
        assert seen == sorted(set(seen))

    async def test_get_finds_an_item_by_its_id_in_its_key_only(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "get")
        item = await memory.add(KEY, "likes tea", metadata={"source": "chat"})
        assert await memory.get(KEY, item.id) == item
        assert await memory.get(OTHER_KEY, item.id) is None
        assert await memory.get(KEY, "no-such-id") is None

    async def test_count_is_the_number_of_items_of_the_key(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "count")
        item, *_ = await add_all(memory, KEY, "one", "two", "three", "two")
        await memory.add(OTHER_KEY, "one")
        assert await memory.count(KEY) == 3
        await memory.remove(KEY, item.id)
        assert await memory.count(KEY) == 2
        assert await memory.count("notes#unused") == 0

    async def test_clear_deletes_the_items_of_one_key_and_tells_how_many(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "clear")
        await add_all(memory, KEY, "one", "two")
        theirs = await memory.add(OTHER_KEY, "one")
        assert await memory.clear(KEY) == 2
        assert await memory.clear(KEY) == 0
        assert list(await memory.list(KEY)) == []
        assert list(await memory.list(OTHER_KEY)) == [theirs]

    async def test_a_cleared_key_can_be_used_again(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "clear")
        old = await memory.add(KEY, "likes tea")
        await memory.clear(KEY)
        new = await memory.add(KEY, "likes tea")
        assert new.id != old.id
        assert list(await memory.list(KEY)) == [new]

    async def test_scope_keys_are_those_that_hold_items_sorted(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "scope_keys", "clear")
        for key in ("b#é", "a#2", "b#Z", "a#10", "c#gone"):
            await memory.add(key, "likes tea")
        await memory.clear("c#gone")
        assert list(await memory.scope_keys()) == ["a#10", "a#2", "b#Z", "b#é"]

    async def test_restore_brings_items_back_with_their_ids_times_and_order(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "restore")
        items = [_item("a", 0), _item("b", 1, {"n": 1.0, "list": ["x"]}), _item("c", 2)]
        assert await memory.restore(KEY, items) == 3
        assert list(await memory.list(KEY)) == items[::-1]

    async def test_restore_takes_a_listing_newest_first(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "restore")
        items = [_item("c", 2), _item("b", 1), _item("a", 0)]
        await memory.restore(KEY, items)
        assert list(await memory.list(KEY)) == items

    async def test_restore_skips_what_is_stored_already(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "restore", "upsert")
        same_id = await memory.upsert(KEY, "another text", id="a")
        same_text = await memory.add(KEY, "text of b")
        assert await memory.restore(KEY, [_item("a", 0), _item("b", 1), _item("c", 2)]) == 1
        assert list(await memory.list(KEY)) == [_item("c", 2), same_text, same_id]

    async def test_restore_refuses_a_bad_item_and_stores_none(self, provider: MemoryProvider) -> None:
        memory = verbs(provider, "restore")
        await refuses(memory.restore(KEY, [_item("a", 0), _item("b", 1).model_copy(update={"text": " "})]))
        assert list(await memory.list(KEY)) == []

    @pytest.mark.parametrize("key", BAD_KEYS)
    @pytest.mark.parametrize(
        ("verb", "arguments"),
        [
            ("upsert", ["likes tea"]),
            ("add_many", [["likes tea"]]),
            ("get", ["any"]),
            ("count", []),
            ("clear", []),
            ("restore", [[]]),
        ],
    )
    async def test_every_verb_refuses_a_key_that_is_missing_or_cannot_be_stored(
        self, provider: MemoryProvider, verb: str, arguments: list[Any], key: Any
    ) -> None:
        method = getattr(verbs(provider, verb), verb)
        with pytest.raises(MemoryInvalidError):
            await method(key, *arguments)


def _item(id: str, day: int, metadata: dict[str, Any] | None = None) -> MemoryItem:
    return MemoryItem(id=id, text=f"text of {id}", created_at=_THEN + timedelta(days=day), metadata=metadata)
