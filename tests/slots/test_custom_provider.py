"""Custom providers in slots: three verbs are enough."""

import asyncio

import pytest

from tests.providers.stand_ins import FailingProvider, MinimalProvider, SilentProvider, UpsertingProvider
from vectormem import (
    InMemoryMemory,
    MemoryProvider,
    MemoryRun,
    StorageFailedError,
    UpsertProvider,
    blocking,
    define_memory,
    migrate_memory_keys,
)

KEY = "notes#global"


def define(provider):
    return define_memory(name="notes", scope="global", provider=provider, expose={"forget": True})


def call(slot, tool, arguments):
    return blocking(MemoryRun([slot])).call(tool, arguments)


def test_protocols_are_told_apart_by_isinstance():
    kinds = {
        kind: (isinstance(kind(), MemoryProvider), isinstance(kind(), UpsertProvider))
        for kind in (MinimalProvider, SilentProvider, UpsertingProvider, InMemoryMemory)
    }
    assert kinds == {
        MinimalProvider: (True, False),
        SilentProvider: (True, False),
        UpsertingProvider: (True, True),
        InMemoryMemory: (True, True),
    }


@pytest.mark.parametrize("kind", [MinimalProvider, SilentProvider, UpsertingProvider])
def test_a_custom_provider_remembers_recalls_and_forgets(kind):
    provider = kind()
    slot = define(provider)
    remembered = call(slot, "remember_notes", {"text": "likes tea"})["remembered"]
    call(slot, "remember_notes", {"text": "lives in Oslo"})
    assert [item["text"] for item in call(slot, "recall_notes", {})["items"]] == ["lives in Oslo", "likes tea"]
    assert call(slot, "forget_notes", {"id": remembered}) == {"forgotten": remembered}
    assert [item["text"] for item in call(slot, "recall_notes", {})["items"]] == ["lives in Oslo"]


@pytest.mark.parametrize("kind", [MinimalProvider, SilentProvider, UpsertingProvider])
def test_forget_of_an_unknown_id_says_so_also_where_remove_does_not_tell(kind):
    provider = kind()
    blocking(provider).add(KEY, "likes tea")
    assert call(define(provider), "forget_notes", {"id": "no-such-id"})["forgotten"] is None
    assert [item.text for item in blocking(provider).list(KEY)] == ["likes tea"]


def test_forget_looks_for_the_item_among_a_hundred_thousand():
    provider = SilentProvider()
    call(define(provider), "forget_notes", {"id": "any"})
    assert provider.calls[0] == ("list", KEY, 100_000, None)


def test_the_ranking_of_a_custom_provider_is_kept():
    class Alphabetical(MinimalProvider):
        async def list(self, scope_key, *, limit=None, query=None):
            items = await super().list(scope_key, limit=None, query=query)
            return sorted(items, key=lambda item: item.text)[:limit] if query else items[:limit]

    slot = define(Alphabetical())
    for text in ("b", "c", "a"):
        call(slot, "remember_notes", {"text": text})
    shown = call(slot, "recall_notes", {"query": "anything", "limit": 2})["items"]
    assert [item["text"] for item in shown] == ["a", "b"]


def test_scores_of_a_custom_provider_are_shown():
    class Scoring(MinimalProvider):
        async def list(self, scope_key, *, limit=None, query=None):
            items = await super().list(scope_key, limit=limit, query=query)
            return [item.model_copy(update={"score": 0.25}) for item in items] if query else items

    slot = define(Scoring())
    call(slot, "remember_notes", {"text": "likes tea"})
    assert call(slot, "recall_notes", {"query": "tea"})["items"][0]["score"] == 0.25
    assert "score" not in call(slot, "recall_notes", {})["items"][0]


def test_a_failing_provider_fails_its_tools_and_not_the_run():
    run = blocking(MemoryRun([define(FailingProvider(TimeoutError("no answer")))]))
    assert run.system_prompt("Be brief.") == "Be brief."
    with pytest.raises(StorageFailedError, match="no answer"):
        run.call("recall_notes", {})


def test_blocking_drives_a_custom_provider():
    memory = blocking(MinimalProvider())
    item = memory.add(KEY, "likes tea", metadata={"source": "chat"})
    assert list(memory.list(KEY, limit=5)) == [item]
    assert memory.remove(KEY, item.id) is True
    assert memory.remove(KEY, item.id) is False


def test_items_under_an_old_key_are_copied_in_a_custom_provider():
    provider = MinimalProvider()
    memory = blocking(provider)
    memory.add("global", "one", metadata={"n": 1})
    memory.add("global", "two")
    memory.add(KEY, "two")
    result = asyncio.run(migrate_memory_keys(define(provider), remove_legacy=True))
    assert (result.moved, result.copied) == (2, 1)
    assert [(item.text, item.metadata) for item in memory.list(KEY)] == [("one", {"n": 1}), ("two", None)]
    assert list(memory.list("global")) == []
