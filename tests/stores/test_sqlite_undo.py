"""Changes taken back: what they removed, cleared or replaced is put in its place again."""

import pytest

from tests.conftest import texts_of
from tests.stores.raw_files import RandomEmbedder
from vectormem import MemoryInvalidError, SqliteMemory, SqliteStore, SqliteVectorMemory, blocking

EMBEDDER = RandomEmbedder()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path):
    with SqliteStore(path, history=True) as store:
        yield store


def memory_of(store, **options):
    return blocking(SqliteVectorMemory(store, embedder=EMBEDDER, **options))


def actions(store, key="k"):
    """What happened, oldest first, as (change, action, old text)."""
    return [(one.change, one.action, one.text) for one in reversed(blocking(store).history(key))]


def test_a_removed_item_comes_back_with_its_id_time_place_metadata_and_vector(store):
    memory = memory_of(store)
    items = memory.add_many("k", ["tea", "milk", "bread"], metadata={"n": 1})
    assert memory.list("k", query="milk")[0].text == "milk"
    memory.remove("k", items[1].id)
    assert memory.list("k", query="milk") == []
    assert blocking(store).undo("k") == (2, [items[1].id], [])
    assert list(memory.list("k")) == list(reversed(items))
    assert texts_of(memory.list("k", query="milk")) == ["milk"]


def test_another_process_sees_what_an_undo_put_back(store, path):
    with SqliteStore(path) as other:
        memory, elsewhere = memory_of(store), memory_of(other)
        items = memory.add_many("k", [f"text {number}" for number in range(20)])
        memory.remove("k", items[5].id)
        assert elsewhere.list("k", query="text 5") == []
        blocking(store).undo("k")
        assert texts_of(elsewhere.list("k", query="text 5")) == ["text 5"]
        memory.clear("k")
        assert elsewhere.list("k", query="text 5") == []
        blocking(store).undo("k")
        assert texts_of(elsewhere.list("k", query="text 5")) == ["text 5"]
        assert list(elsewhere.list("k")) == list(reversed(items))


def test_a_cleared_key_comes_back_also_when_it_was_begun_anew(store):
    memory = memory_of(store)
    old = memory.add_many("k", ["tea", "milk"])
    memory.clear("k")
    new = memory.add("k", "bread")
    assert blocking(store).undo("k").restored == [one.id for one in old]
    assert sorted(texts_of(memory.list("k"))) == ["bread", "milk", "tea"]
    assert memory.get("k", new.id).text == "bread"
    assert memory.count("k") == 3


def test_a_replaced_item_gets_its_old_state_back(store):
    memory = memory_of(store)
    item = memory.add("k", "tea", metadata={"n": 1})
    memory.upsert("k", "black tea", id=item.id, metadata={"n": 2})
    assert blocking(store).undo("k").restored == [item.id]
    assert list(memory.list("k")) == [item]
    assert texts_of(memory.list("k", query="tea")) == ["tea"]
    assert actions(store)[-1] == (3, "replace", "black tea")


def test_undoing_goes_back_step_by_step_and_ends_with_an_error(store):
    memory = memory_of(store)
    items = memory.add_many("k", ["tea", "milk", "bread"])
    for item in items:
        memory.remove("k", item.id)
    assert [blocking(store).undo("k").change for _ in range(3)] == [4, 3, 2]
    assert list(memory.list("k")) == list(reversed(items))
    with pytest.raises(MemoryInvalidError, match="holds no change that could be undone"):
        blocking(store).undo("k")
    assert [one.by_undo for one in blocking(store).history("k", limit=3)] == [True] * 3
    assert [one.undone for one in blocking(store).history("k")[3:6]] == [True] * 3


def test_a_change_can_be_named_and_an_undo_taken_back_so(store):
    memory = memory_of(store, max_items=2)
    memory.add_many("k", ["tea", "milk"])
    memory.add("k", "bread")
    assert blocking(store).undo("k", 2).restored == [blocking(store).history("k")[0].item_id]
    assert sorted(texts_of(memory.list("k"))) == ["bread", "milk", "tea"]
    for change in (1, 99):
        with pytest.raises(MemoryInvalidError, match=f"nothing of change {change}"):
            blocking(store).undo("k", change)


def test_an_item_whose_text_is_stored_again_is_passed_over(store):
    memory = memory_of(store)
    tea, milk = memory.add_many("k", ["tea", "milk"])
    memory.clear("k")
    again = memory.add("k", "tea")
    assert blocking(store).undo("k") == (2, [milk.id], [tea.id])
    assert sorted((one.text, one.id) for one in memory.list("k")) == [("milk", milk.id), ("tea", again.id)]


def test_providers_without_vectors_and_items_without_one_are_kept_too(store):
    memory = blocking(SqliteMemory(store))
    item = memory.add("k", "tea")
    memory.remove("k", item.id)
    blocking(store).undo("k")
    assert list(memory.list("k")) == [item]
    assert texts_of(memory.list("k", query="tea")) == ["tea"]
    assert memory_of(store).reindex() == 1
