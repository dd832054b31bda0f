"""The rules of list, add and remove, which every provider keeps."""

import asyncio
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from vectormem.items import MemoryItem
from vectormem.providers.protocol import MemoryProvider
from vectormem.testing.suite import BAD_KEYS, BAD_TEXTS, KEY, OTHER_KEY, ProviderFixtures, add_all, refuses, texts

HOSTILE_KEYS = [
    *("notes#a", "notes#A", "note#a", "notes#a ", "notes#a.", "notes#ab", "notes#a/b", "notes#a/bc", "notes#a:b|c"),
    *("%", "*", "_", "?", "a%", "a*", "a_", "[a]", "user:*", "..", ".", "../../x", "/etc/x", "a\\..\\b", "a\nb"),
    *("con", "nul.txt", "lpt1", "é", "e\u0301", "É", "straße", "strasse", "🎉", "x'); DROP TABLE memory_items; --"),
    *('a"b', "$a", "a%20b", "a b", "^a", "k" * 600 + "1", "k" * 600 + "2"),
]

RICH_METADATA: dict[str, Any] = {
    "source": "chat",
    "text": "naïve 🎉 \u2028 日本",
    "count": 9_007_199_254_740_993,
    "ratio": 0.1,
    "whole": 1.0,
    "yes": True,
    "nothing": None,
    "list": [1, "two", [3.5, {"deep": []}]],
    "a key": {"with": {"a.dot": 1, "x') = 1 OR 1=1 --": 2}},
}

REFUSED_METADATA = [
    {"t": datetime(2026, 1, 1, tzinfo=UTC)},
    {"d": Decimal("1.10")},
    {"n": np.int64(3)},
    {"s": {1}},
    {"b": b"x"},
    {1: "k"},
    {True: "z"},
    {"nan": float("nan")},
    {"deep": [{"infinite": float("inf")}]},
    {"text": "hi \ud83d"},
    {"hi \ud83d": 1},
    {"nul": "a\0b"},
    ["not", "a", "mapping"],
    "text",
]


class ItemsSuite(ProviderFixtures):
    """What is stored comes back as it was, under its own key, newest first."""

    async def test_a_key_that_was_never_used_holds_nothing(self, provider: MemoryProvider) -> None:
        assert list(await provider.list(KEY)) == []

    async def test_add_returns_the_item_that_is_stored(self, provider: MemoryProvider) -> None:
        item = await provider.add(KEY, "likes tea", metadata={"source": "chat"})
        assert (item.text, item.metadata, item.score) == ("likes tea", {"source": "chat"}, None)
        assert list(await provider.list(KEY)) == [item]

    async def test_items_are_listed_newest_first(self, provider: MemoryProvider) -> None:
        await add_all(provider, KEY, "one", "two", "three")
        assert texts(await provider.list(KEY)) == ["three", "two", "one"]

    async def test_every_item_has_an_id_of_its_own(self, provider: MemoryProvider) -> None:
        items = [*await add_all(provider, KEY, "one", "two"), *await add_all(provider, OTHER_KEY, "one")]
        assert all(isinstance(item.id, str) and item.id for item in items)
        assert len({item.id for item in items}) == 3

    async def test_created_at_is_aware_and_in_utc(self, provider: MemoryProvider) -> None:
        item = await provider.add(KEY, "likes tea")
        assert item.created_at.utcoffset() == timedelta(0)

    async def test_a_limit_takes_the_newest(self, provider: MemoryProvider) -> None:
        await add_all(provider, KEY, "one", "two", "three", "four")
        assert texts(await provider.list(KEY, limit=2)) == ["four", "three"]
        assert texts(await provider.list(KEY, limit=1)) == ["four"]

    async def test_without_a_limit_everything_is_listed(self, provider: MemoryProvider) -> None:
        await add_all(provider, KEY, *(f"item {n}" for n in range(30)))
        assert texts(await provider.list(KEY, limit=None)) == [f"item {n}" for n in reversed(range(30))]

    @pytest.mark.parametrize("limit", [3, 10**9, 2**63, 10**30])
    async def test_a_limit_beyond_the_items_returns_them_all(self, provider: MemoryProvider, limit: int) -> None:
        await add_all(provider, KEY, "one", "two")
        assert texts(await provider.list(KEY, limit=limit)) == ["two", "one"]

    @pytest.mark.parametrize("limit", [0, -1, -(2**63), True, False, 2.7, float("nan"), "3"])
    async def test_a_limit_that_is_no_positive_whole_number_is_refused(
        self, provider: MemoryProvider, limit: Any
    ) -> None:
        await provider.add(KEY, "one")
        await refuses(provider.list(KEY, limit=limit))
        await refuses(provider.list(KEY, limit=limit, query="one"))

    @pytest.mark.parametrize("query", [None, "", " ", "\n\t\u2003"])
    async def test_a_blank_query_lists_the_newest_without_scores(self, provider: MemoryProvider, query: str) -> None:
        stored = await add_all(provider, KEY, "one", "two", "three")
        assert list(await provider.list(KEY, query=query, limit=2)) == [stored[2], stored[1]]

    @pytest.mark.parametrize("query", [7, b"tea", ["tea"]])
    async def test_a_query_that_is_no_text_is_refused(self, provider: MemoryProvider, query: Any) -> None:
        await refuses(provider.list(KEY, query=query))

    async def test_a_text_that_is_stored_is_not_stored_again(self, provider: MemoryProvider) -> None:
        first = await provider.add(KEY, "likes tea", metadata={"source": "chat"})
        await provider.add(KEY, "lives in Oslo")
        again = await provider.add(KEY, "likes tea", metadata={"source": "mail"})
        assert again == first
        assert texts(await provider.list(KEY)) == ["lives in Oslo", "likes tea"]

    async def test_only_exactly_equal_texts_are_the_same(self, provider: MemoryProvider) -> None:
        variants = ["tea", "Tea", "tea ", " tea", "te a", "caf\u00e9", "cafe\u0301", "straße", "strasse"]
        await add_all(provider, KEY, *variants)
        assert texts(await provider.list(KEY)) == variants[::-1]

    async def test_equal_texts_of_two_keys_are_two_items(self, provider: MemoryProvider) -> None:
        mine = await provider.add(KEY, "likes tea")
        theirs = await provider.add(OTHER_KEY, "likes tea")
        assert mine.id != theirs.id
        assert list(await provider.list(KEY)) == [mine]
        assert list(await provider.list(OTHER_KEY)) == [theirs]

    @pytest.mark.parametrize("text", BAD_TEXTS)
    async def test_a_text_that_is_blank_or_cannot_be_stored_is_refused(
        self, provider: MemoryProvider, text: Any
    ) -> None:
        kept = await provider.add(KEY, "kept")
        await refuses(provider.add(KEY, text))
        assert list(await provider.list(KEY)) == [kept]

    @pytest.mark.parametrize(
        "text",
        [
            "  two spaces, a tab\t and\r\na line break \u2028 \n",
            unicodedata.normalize("NFD", "résumé naïve"),
            "שלום 日本語 ไทย 👩‍👩‍👧 İnci ß",
            "</memory> <b>\"quoted\" 'text'</b> \\ \x1b[31m % _ * $1 {x}",
            "long " * 20_000,
        ],
    )
    async def test_a_text_comes_back_character_for_character(self, provider: MemoryProvider, text: str) -> None:
        assert (await provider.add(KEY, text)).text == text
        assert texts(await provider.list(KEY)) == [text]

    @pytest.mark.parametrize("key", BAD_KEYS)
    async def test_a_key_that_is_missing_or_cannot_be_stored_is_refused(
        self, provider: MemoryProvider, key: Any
    ) -> None:
        await refuses(provider.list(key))
        await refuses(provider.list(key, query="tea"))
        await refuses(provider.add(key, "likes tea"))
        await refuses(provider.remove(key, "any"))

    async def test_no_key_sees_or_removes_the_items_of_another(self, provider: MemoryProvider) -> None:
        stored = {key: await provider.add(key, f"tea {n}") for n, key in enumerate(HOSTILE_KEYS)}
        assert {key: list(await provider.list(key)) for key in HOSTILE_KEYS} == {
            key: [item] for key, item in stored.items()
        }
        for key, item in stored.items():
            assert not await provider.remove(KEY, item.id)
            await provider.remove(key, item.id)
        assert {key: list(await provider.list(key)) for key in HOSTILE_KEYS} == {key: [] for key in HOSTILE_KEYS}

    async def test_metadata_comes_back_as_it_was(self, provider: MemoryProvider) -> None:
        added = await provider.add(KEY, "likes tea", metadata=RICH_METADATA)
        assert added.metadata == RICH_METADATA
        listed = (await provider.list(KEY))[0].metadata
        assert listed == RICH_METADATA
        assert {name: type(value) for name, value in listed.items()} == {
            name: type(value) for name, value in RICH_METADATA.items()
        }

    async def test_an_item_without_metadata_has_none(self, provider: MemoryProvider) -> None:
        await provider.add(KEY, "likes tea")
        assert (await provider.list(KEY))[0].metadata is None

    @pytest.mark.parametrize("metadata", REFUSED_METADATA, ids=repr)
    async def test_metadata_that_is_not_json_is_refused(self, provider: MemoryProvider, metadata: Any) -> None:
        kept = await provider.add(KEY, "kept")
        await refuses(provider.add(KEY, "likes tea", metadata=metadata))
        assert list(await provider.list(KEY)) == [kept]

    async def test_what_is_stored_does_not_change_with_the_objects_of_the_caller(
        self, provider: MemoryProvider
    ) -> None:
        given: dict[str, Any] = {"list": [1]}
        item = await provider.add(KEY, "likes tea", metadata=given)
        given["list"].append(2)
        _members(item)["list"].append(3)
        _members((await provider.list(KEY))[0])["list"].append(4)
        assert (await provider.list(KEY))[0].metadata == {"list": [1]}

    async def test_a_removed_item_is_gone_and_the_others_stay_in_order(self, provider: MemoryProvider) -> None:
        items = await add_all(provider, KEY, "one", "two", "three")
        await provider.remove(KEY, items[1].id)
        assert list(await provider.list(KEY)) == [items[2], items[0]]

    async def test_remove_tells_whether_the_item_was_there(self, provider: MemoryProvider) -> None:
        item = await provider.add(KEY, "likes tea")
        removed = await provider.remove(KEY, item.id)
        if removed is None:
            pytest.skip("`remove` of this provider returns None: it does not tell")
        assert removed is True
        assert await provider.remove(KEY, item.id) is False

    @pytest.mark.parametrize("item_id", ["no-such-id", "", "%", "a\0b", "x" * 5000])
    async def test_removing_an_unknown_id_changes_nothing(self, provider: MemoryProvider, item_id: str) -> None:
        items = await add_all(provider, KEY, "one", "two")
        assert not await provider.remove(KEY, item_id)
        assert list(await provider.list(KEY)) == items[::-1]

    async def test_an_item_cannot_be_removed_through_another_key(self, provider: MemoryProvider) -> None:
        item = await provider.add(KEY, "likes tea")
        await provider.add(OTHER_KEY, "likes tea")
        assert not await provider.remove(OTHER_KEY, item.id)
        assert list(await provider.list(KEY)) == [item]

    async def test_a_text_that_was_removed_can_be_stored_as_a_new_item(self, provider: MemoryProvider) -> None:
        old, _ = await add_all(provider, KEY, "likes tea", "lives in Oslo")
        await provider.remove(KEY, old.id)
        new = await provider.add(KEY, "likes tea")
        assert new.id != old.id
        assert texts(await provider.list(KEY)) == ["likes tea", "lives in Oslo"]

    async def test_adds_at_the_same_time_keep_every_item(self, provider: MemoryProvider) -> None:
        items = await asyncio.gather(*(provider.add(KEY, f"item {n}") for n in range(50)))
        assert texts(items) == [f"item {n}" for n in range(50)]
        assert sorted(texts(await provider.list(KEY))) == sorted(texts(items))

    async def test_adds_of_one_text_at_the_same_time_store_it_once(self, provider: MemoryProvider) -> None:
        items = await asyncio.gather(*(provider.add(KEY, "likes tea") for _ in range(20)))
        assert list(await provider.list(KEY)) == [items[0]]
        assert {item.id for item in items} == {items[0].id}

    async def test_adds_and_removes_at_the_same_time_do_not_disturb_each_other(self, provider: MemoryProvider) -> None:
        old = await add_all(provider, KEY, *(f"old {n}" for n in range(15)))
        await asyncio.gather(
            *(provider.remove(KEY, item.id) for item in old[:10]), *(provider.add(KEY, f"new {n}") for n in range(10))
        )
        left = texts(await provider.list(KEY))
        assert sorted(left[:10]) == [f"new {n}" for n in range(10)]
        assert left[10:] == [f"old {n}" for n in reversed(range(10, 15))]


def _members(item: MemoryItem) -> dict[str, Any]:
    assert isinstance(item.metadata, Mapping)
    return item.metadata
