"""Two scope keys never meet, whatever characters they hold and whichever verb is used."""

import string
import unicodedata
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embedders import HashEmbedder
from tests.faults.attacks import PATHS, SQL
from vectormem import (
    ChatStorage,
    MemoryContext,
    MemoryInvalidError,
    MemoryRun,
    SqliteStore,
    blocking,
    define_memory,
    memory_key,
)
from vectormem.providers.vector import VectorProvider

NAMES = [
    *PATHS,
    *SQL,
    "user:Alice",
    "É",
    "ﬁ",
    "K",
    "a",
    "%",
    "_",
    "*",
    "a#b",
    "k" * 200,
    "memory/a",
    "\n",
    " a ",
    "\U0001f375",
]
TWINS = {
    "case": str.swapcase,
    "lower": str.lower,
    "casefold": str.casefold,
    "NFC": lambda key: unicodedata.normalize("NFC", key),
    "NFD": lambda key: unicodedata.normalize("NFD", key),
    "NFKC": lambda key: unicodedata.normalize("NFKC", key),
    "quoted": lambda key: quote(key, safe=""),
    "quoted lower": lambda key: quote(key, safe="").lower(),
    "caret": lambda key: "^" + key.lower(),
    "prefix": lambda key: key[:-1],
    "longer": lambda key: key + "2",
    "wildcard": lambda key: key[:-1] + "%",
    "any": lambda key: "_" * len(key),
    "glob": lambda key: key + "*",
    "space": lambda key: key + " ",
    "dot": lambda key: key + ".",
    "suffix": lambda key: key + ".json",
    "lock": lambda key: key + ".json.lock",
    "slot": lambda key: key + "#" + key,
    "mark": lambda key: key + "\u0301",
    "joiner": lambda key: key + "\u200b",
}
ALPHABET = string.ascii_letters + "%_*?'\"\\/.:#^+~-[]{}()|;&$@! \t\n\x01\x7féÉ\u0301ßſKﬁ茶\u202e\U0001f375"


@st.composite
def two_keys(draw):
    """Return two different keys, mostly such as programs have taken for the same."""
    first = draw(st.one_of(st.sampled_from(NAMES), st.text(ALPHABET, min_size=1, max_size=12)))
    second = draw(st.sampled_from(list(TWINS.values())))(first) or draw(st.sampled_from(NAMES))
    return (first, second) if first != second else (first, first + draw(st.sampled_from("2%*. ")))


hostile = settings(
    max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def seen(memory, key):
    """All that any reading verb shows of a key."""
    items = list(memory.list(key))
    return (
        items,
        sorted(item.text for item in memory.list(key, query="tea")),
        memory.count(key),
        [memory.get(key, item.id) for item in items],
        key in memory.scope_keys(),
    )


CHANGES = {
    "add": lambda memory, key, other: memory.add(key, "tea, more"),
    "add what the other holds": lambda memory, key, other: memory.add(key, other.text),
    "add_many beyond the cap": lambda memory, key, other: memory.add_many(key, [f"tea {n}" for n in range(6)]),
    "upsert by the other's id": lambda memory, key, other: memory.upsert(key, "tea, mine", id=other.id),
    "upsert the other's text": lambda memory, key, other: memory.upsert(key, other.text, id="1"),
    "remove by the other's id": lambda memory, key, other: memory.remove(key, other.id),
    "restore the other's items": lambda memory, key, other: memory.restore(key, [other]),
    "clear": lambda memory, key, other: memory.clear(key),
    "remove from nothing": lambda memory, key, other: memory.remove(key, other.id),
}


@given(keys=two_keys())
@hostile
def test_no_verb_of_one_key_sees_counts_changes_or_drops_items_of_another(every_place, keys):
    """richfitz/storr#95, langchain-ai/langgraph#8478, langchain-ai/langgraphjs#2512, google/adk-python#1019"""
    memory = blocking(every_place.opened[0] if every_place.opened else every_place.open(max_items=4))
    one, two = keys
    theirs = memory.add(two, "tea of the other", metadata={"whose": "the other's"})
    before = seen(memory, two)
    assert seen(memory, one) == ([], [], 0, [], False)
    assert memory.get(one, theirs.id) is None
    for name, change in CHANGES.items():
        change(memory, one, theirs)
        assert seen(memory, two) == before, name
        assert theirs.metadata not in [item.metadata for item in memory.list(one)] or "restore" in name
    if isinstance(memory.target, VectorProvider):
        assert memory.reindex(one) == 0
    assert memory.clear(one) == 0
    assert memory.clear(two) == 1
    assert memory.scope_keys() == []


@given(keys=two_keys())
@hostile
def test_no_chat_of_one_scope_key_reaches_into_another(tmp_path, keys):
    """google/adk-python#1019, MervinPraison/PraisonAI#4818"""
    one, two = keys
    with SqliteStore(":memory:") as store:
        mine, theirs = (
            blocking(ChatStorage(store, embedder=HashEmbedder(32), scope_key=key, ranking=ranking))
            for key, ranking in ((one, "vector"), (two, "hybrid"))
        )
        secret = theirs.save_message("c", "user", "the green tea is secret", id="m1")
        assert (mine.messages("c"), mine.conversations(), mine.search_messages("green tea")) == ([], [], [])
        assert mine.create_memory_retrieval_tool(min_similarity=0).call({"query": "tea"})["messages"] == []
        assert (mine.delete_message("m1"), mine.delete_conversation("c"), mine.embed_pending()) == (False, 0, 0)
        mine.save_message("c", "user", "my own tea, under the same id", id="m1")
        assert mine.delete_conversation("c") == 1
        assert theirs.messages("c") == [secret]
        assert [match.message for match in theirs.search_messages("green tea")] == [secret]


@given(keys=two_keys())
@hostile
def test_no_tool_of_one_scope_reaches_into_another(every_place, keys):
    """google/adk-python#1019, moorcheh-ai/memanto#1685"""
    provider = every_place.opened[0] if every_place.opened else every_place.open(max_items=4)
    slot = define_memory(
        name="notes", scope=lambda context: context.metadata["user"], provider=provider, expose={"forget": True}
    )
    contexts = [MemoryContext(metadata={"user": key}) for key in keys]
    try:
        one, two = (blocking(MemoryRun([slot], context)) for context in contexts)
    except MemoryInvalidError:
        return
    theirs = two.call("remember_notes", {"text": "tea of the other"})["remembered"]
    assert one.block() == ""
    assert one.call("recall_notes", {}) == one.call("recall_notes", {"query": "tea", "limit": 100}) == {"items": []}
    assert one.call("forget_notes", {"id": theirs})["forgotten"] is None
    for number in range(6):
        one.call("remember_notes", {"text": f"tea {number}"})
    assert two.block() == f'<memory name="notes">\n- tea of the other (id: {theirs})\n</memory>'
    for context in contexts:
        blocking(provider).clear(memory_key(slot, context))


@given(
    names=st.tuples(*[st.text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=5)] * 2),
    keys=st.tuples(*[st.text("#:abA_-", min_size=1, max_size=6)] * 2),
)
def test_two_slots_or_two_scopes_never_have_one_key(names, keys):
    slots = [
        define_memory(name=name, scope=lambda context, key=key: key, provider=_NO_PROVIDER)
        for name, key in zip(names, keys, strict=True)
    ]
    first, second = (memory_key(slot, MemoryContext()) for slot in slots)
    assert (first == second) == (names[0] == names[1] and keys[0] == keys[1])


class _Nothing:
    async def list(self, scope_key, *, limit=None, query=None):
        return []

    async def add(self, scope_key, text, *, metadata=None):
        raise NotImplementedError

    async def remove(self, scope_key, item_id):
        return False


_NO_PROVIDER = _Nothing()


@pytest.mark.parametrize("key", ["a\x00", "\x00", "a\ud800"])
def test_a_key_that_a_store_might_cut_short_is_refused(every_place, key):
    """nano-step/nano-brain#181"""
    memory = blocking(every_place.open())
    memory.add("a", "tea")
    with pytest.raises(MemoryInvalidError):
        memory.clear(key)
    assert memory.count("a") == 1
