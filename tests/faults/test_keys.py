"""Faults of keys: names that lead elsewhere, keys that look alike, tenants that see each other."""

import pytest

from tests.conftest import texts_of
from vectormem import MemoryInvalidError, blocking

LEADING_ELSEWHERE = [
    "../../x",
    "/etc/x",
    "a\\..\\b",
    ".",
    "..",
    "~",
    "C:\\x",
    "a/b",
    "a/../b",
    "\n",
    "x.json",
    "x.lock",
]
ALIKE = [
    ["Note", "note", "NOTE"],
    ["user:Alice", "user:alice", "user:^alice"],
    ["É", "é", "E\u0301"],
    ["con", "con.", "con ", "CON", "nul.txt", "lpt1", "a.", "a ", "a"],
    ["acme", "acme2", "acm"],
    ["a/b", "a/bc", "a", "a/b/"],
    ["%", "*", "a%", "a_", "ab", "?", "_"],
    ["a:b/c", "x|y", "back\\slash", "0b5d2f6e-9d3c-4f6b-8a57-0c1d2e3f4a5b", "{tag}", "a-b", "a b"],
    ["x') OR 1=1 --", "x'; DROP TABLE memory_items; --", 'a"b', "a`b", "$.a"],
    ["k" * 180, "k" * 181, "k" * 400, "K" * 400, "k" * 400 + "!"],
    ["notes#global", "notes%23global", "notes#Global"],
]
MISSING = [None, "", 0, 3, b"k", ["k"], True, object()]
VERBS = {
    "list": lambda memory, key: memory.list(key),
    "query": lambda memory, key: memory.list(key, query="tea"),
    "add": lambda memory, key: memory.add(key, "tea"),
    "add_many": lambda memory, key: memory.add_many(key, ["tea"]),
    "upsert": lambda memory, key: memory.upsert(key, "tea", id="1"),
    "remove": lambda memory, key: memory.remove(key, "1"),
    "get": lambda memory, key: memory.get(key, "1"),
    "count": lambda memory, key: memory.count(key),
    "clear": lambda memory, key: memory.clear(key),
    "restore": lambda memory, key: memory.restore(key, []),
}


@pytest.mark.parametrize("key", LEADING_ELSEWHERE)
def test_a_key_that_looks_like_a_path_stays_inside(every_place, tmp_path, key):
    """basicmachines-co/basic-memory#223, alioshr/memory-bank-mcp#36"""
    before = set(tmp_path.parent.iterdir())
    memory = blocking(every_place.open())
    item = memory.add(key, "tea")
    assert texts_of(memory.list(key)) == ["tea"]
    assert memory.scope_keys() == [key]
    assert set(tmp_path.parent.iterdir()) == before
    assert {path.name.split("-")[0] for path in tmp_path.iterdir()} <= {"files", "memory.db"}
    assert [path for path in tmp_path.rglob("*") if path.is_dir() and path.name != "files"] == []
    assert memory.remove(key, item.id) is True
    assert memory.list(key) == []


@pytest.mark.parametrize("keys", ALIKE, ids=lambda keys: repr(keys[0])[:20])
def test_keys_that_look_alike_share_nothing_in_any_verb(every_place, keys):
    """richfitz/storr#95, zarr-developers/zarr-python#319, SitecoreUnicorn/Rainbow#8, langchain-ai/langgraph#8478,
    langchain-ai/langgraphjs#2512, oceanbase/powercontext#898, mem0ai/mem0#5749, google/adk-python#1019"""
    memory = blocking(every_place.open())
    items = {key: memory.add(key, f"tea of {key!r}") for key in keys}
    for key in keys:
        assert texts_of(memory.list(key)) == [f"tea of {key!r}"]
        assert texts_of(memory.list(key, query="tea")) == [f"tea of {key!r}"]
        assert memory.count(key) == 1
        assert [memory.get(key, item.id) is not None for item in items.values()] == [key == other for other in items]
    assert memory.scope_keys() == sorted(keys)
    first, *others = keys
    for item in list(items.values())[1:]:
        assert memory.remove(first, item.id) is False
    assert memory.clear(first) == 1
    assert memory.scope_keys() == sorted(others)
    assert [memory.count(key) for key in keys] == [0] + [1] * len(others)


def test_a_pattern_as_a_key_reads_no_other_key(every_place):
    """langchain-ai/langgraphjs#2512, spring-projects/spring-ai#5637, maximhq/bifrost#5351"""
    memory = blocking(every_place.open())
    memory.add("alice", "tea")
    for key in ("%", "*", "a%", "alic_", "?????", "alice*", "(.*)", "[a-z]+"):
        assert memory.list(key) == []
        assert memory.list(key, query="tea") == []
        assert memory.clear(key) == 0
    assert memory.count("alice") == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("key", MISSING, ids=repr)
def test_a_missing_key_never_means_somebodys_memory(every_place, verb, key):
    """moorcheh-ai/memanto#1685, MervinPraison/PraisonAI#4818"""
    memory = blocking(every_place.open())
    memory.add("k", "tea")
    with pytest.raises(MemoryInvalidError, match="scope key"):
        VERBS[verb](memory, key)
    assert memory.scope_keys() == ["k"]
    assert memory.count("k") == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("key", ["a\x00b", "\ud83d", "user:\udcff"])
def test_a_key_that_cannot_be_stored_everywhere_is_refused_everywhere(every_place, verb, key):
    """basicmachines-co/basic-memory#223, frappe/frappe#41128"""
    with pytest.raises(MemoryInvalidError):
        VERBS[verb](blocking(every_place.open()), key)


def test_forgetting_says_whether_anything_was_forgotten(every_place):
    """Smart-AI-Memory/attune-ai#2135"""
    memory = blocking(every_place.open())
    item = memory.add("k", "tea")
    assert memory.remove("k", "unknown") is False
    assert memory.remove("other", item.id) is False
    assert memory.count("k") == 1
    assert memory.remove("k", item.id) is True
    assert memory.remove("k", item.id) is False
    assert memory.list("k") == []


def test_a_busy_key_drops_nothing_of_a_quiet_one(every_place):
    """diegosouzapw/OmniRoute#9146"""
    memory = blocking(every_place.open(max_items=5))
    memory.add("quiet", "tea")
    memory.add_many("busy", [str(number) for number in range(100)])
    assert texts_of(memory.list("quiet")) == ["tea"]
    assert texts_of(memory.list("busy")) == ["99", "98", "97", "96", "95"]


@pytest.mark.parametrize("metadata", [None, {"a": 1}, [None, {"a": 1}, {}, None, {"b": 2}]])
def test_every_text_of_a_batch_gets_its_own_item_back_in_order(every_place, metadata):
    """langchain-ai/langchain#8061"""
    memory = blocking(every_place.open())
    stored = memory.add("k", "two")
    items = memory.add_many("k", ["one", "two", "three", "one", "four"], metadata=metadata)
    assert texts_of(items) == ["one", "two", "three", "one", "four"]
    assert items[1] == stored
    assert items[3].id == items[0].id
    assert len({item.id for item in items}) == 4
    assert texts_of(memory.list("k")) == ["four", "three", "one", "two"]
    assert [memory.get("k", item.id).text for item in items] == texts_of(items)


def test_a_text_that_comes_again_later_in_a_batch_keeps_its_first_place(every_place):
    """langchain-ai/langchain#8061"""
    memory = blocking(every_place.open())
    memory.add_many("k", ["a", "b", "a", "c", "b"])
    assert texts_of(memory.list("k")) == ["c", "b", "a"]
