"""The history of a database: what is kept of changes, and for how long."""

from contextlib import closing
from datetime import UTC, datetime, timedelta

import apsw
import pytest

from tests.conftest import texts_of
from tests.stores.raw_files import RandomEmbedder, places_of
from vectormem import MemoryInvalidError, SqliteStore, SqliteVectorMemory, blocking
from vectormem.stores.sqlite.history import History

EMBEDDER = RandomEmbedder()
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that the test sets."""

    def __init__(self):
        self.time = NOON

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def store(path, clock):
    with SqliteStore(path, history=History(clock=clock)) as store:
        yield store


def memory_of(store, **options):
    return blocking(SqliteVectorMemory(store, embedder=EMBEDDER, **options))


def actions(store, key="k"):
    """What happened, oldest first, as (change, action, old text)."""
    return [(one.change, one.action, one.text) for one in reversed(blocking(store).history(key))]


def tables(path):
    with closing(apsw.Connection(str(path))) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type='table'")}


def test_every_kind_of_change_is_kept_with_the_old_text(store):
    memory = memory_of(store, max_items=3)
    tea, milk = memory.add_many("k", ["tea", "milk"])
    memory.upsert("k", "black tea", id=tea.id)
    memory.remove("k", milk.id)
    memory.add_many("k", ["bread", "salt", "wine"])
    memory.clear("k")
    assert actions(store) == [
        (1, "add", None),
        (1, "add", None),
        (2, "replace", "tea"),
        (3, "remove", "milk"),
        (4, "evict", "black tea"),
        (4, "add", None),
        (4, "add", None),
        (4, "add", None),
        (5, "clear", "bread"),
        (5, "clear", "salt"),
        (5, "clear", "wine"),
    ]


def test_an_entry_tells_who_when_and_what_was_there(store, path, clock):
    memory = memory_of(store)
    item = memory.add("k", "tea", metadata={"topic": "drinks"})
    clock.time = NOON + timedelta(hours=1)
    names = iter(["ann", None])
    with SqliteStore(path, history=History(clock=clock, actor=lambda: next(names))) as other:
        memory_of(other).remove("k", item.id)
        entry = blocking(other).history("k", limit=1)[0]
        memory_of(other).add("k", "milk")
    assert (entry.actor, entry.at, entry.action, entry.item_id) == ("ann", clock.time, "remove", item.id)
    assert (entry.text, entry.metadata, entry.created_at) == ("tea", '{"topic":"drinks"}', item.created_at)
    assert [one.actor for one in blocking(store).history("k")] == [None, "ann", None]


def test_another_key_never_sees_a_history_nor_undoes_it(store):
    memory = memory_of(store)
    memory.remove("facts#sam", memory.add("facts#sam", "tea").id)
    memory.add("facts#sam2", "milk")
    for key in ("facts#sam2", "facts#Sam", "sam", "%", "facts#"):
        assert all(one.text is None for one in blocking(store).history(key))
        with pytest.raises(MemoryInvalidError):
            blocking(store).undo(key)
        with pytest.raises(MemoryInvalidError):
            blocking(store).undo(key, 2)
    assert blocking(store).history("facts#sam2")[0].change == 1


def test_a_key_keeps_its_newest_entries_however_busy_others_are(path, clock):
    with SqliteStore(path, history=History(max_entries=5, clock=clock)) as store:
        memory = memory_of(store)
        memory.remove("quiet", memory.add("quiet", "tea").id)
        items = memory.add_many("busy", [str(number) for number in range(20)])
        for item in items:
            memory.remove("busy", item.id)
        assert [text for _, _, text in actions(store, "busy")] == ["15", "16", "17", "18", "19"]
        assert actions(store, "quiet") == [(1, "add", None), (2, "remove", "tea")]


def test_what_is_too_old_is_not_shown_not_undone_and_deleted_at_the_next_change_of_any_key(path, clock):
    with SqliteStore(path, history=History(max_age=timedelta(days=7), clock=clock)) as store:
        memory = memory_of(store)
        memory.remove("k", memory.add("k", "a needle").id)
        clock.time = NOON + timedelta(days=7)
        assert len(blocking(store).history("k")) == 2
        clock.time += timedelta(microseconds=1)
        assert blocking(store).history("k") == []
        with pytest.raises(MemoryInvalidError):
            blocking(store).undo("k")
        memory.add("other", "tea")
    assert places_of("a needle", path.parent) == []


def test_without_the_option_there_is_no_table_and_nothing_is_kept(path):
    with SqliteStore(path) as store:
        memory = memory_of(store)
        memory.remove("k", memory.add("k", "tea").id)
        assert blocking(store).history("k") == []
        with pytest.raises(MemoryInvalidError, match="history=True"):
            blocking(store).undo("k")
    assert not any("history" in name for name in tables(path))


def test_a_file_keeps_its_history_whoever_opens_it_until_it_is_switched_off(path, clock):
    SqliteStore(path, history=History(max_entries=3, max_age=timedelta(days=7), clock=clock)).close()
    with SqliteStore(path) as store:
        memory = memory_of(store)
        item = memory.add("k", "a needle")
        memory.remove("k", item.id)
        assert actions(store) == [(1, "add", None), (2, "remove", "a needle")]
        assert (store.recorded.max_entries, store.recorded.max_age) == (3, timedelta(days=7))
    SqliteStore(path, history=False).close()
    assert not any("history" in name for name in tables(path))
    assert places_of("a needle", path.parent) == []


def test_a_change_that_fails_leaves_nothing_in_the_history(store, monkeypatch):
    memory = memory_of(store)
    item = memory.add("k", "tea")

    def break_off(connection, history, key_id=None):
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr("vectormem.stores.sqlite.recording.expire", break_off)
        with pytest.raises(ZeroDivisionError):
            memory.remove("k", item.id)
    assert actions(store) == [(1, "add", None)]
    assert texts_of(memory.list("k")) == ["tea"]


@pytest.mark.parametrize(
    "options",
    [{"max_entries": 0}, {"max_entries": 1.5}, {"max_age": 30}, {"max_age": timedelta(0)}, {"actor": 3}],
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(MemoryInvalidError):
        History(**options)


@pytest.mark.parametrize("history", [0, 1, "yes", 30, object()])
def test_what_is_no_history_is_refused(path, history):
    with pytest.raises(MemoryInvalidError, match="history must be"):
        SqliteStore(path, history=history)
    assert not path.exists()


def test_a_history_that_another_process_switched_off_is_missed_by_nobody(store, path):
    memory = memory_of(store)
    item = memory.add("k", "tea")
    SqliteStore(path, history=False).close()
    assert memory.remove("k", item.id)
    assert blocking(store).history("k") == []
    with pytest.raises(MemoryInvalidError, match="no history is kept"):
        blocking(store).undo("k")


def test_after_a_restoring_history_is_kept_as_the_store_or_the_backup_says(tmp_path, clock):
    plain, kept = tmp_path / "plain.db", tmp_path / "kept.db"
    with SqliteStore(tmp_path / "a.db") as store:
        memory_of(store).add("k", "tea")
        blocking(store).backup(plain)
    with SqliteStore(tmp_path / "b.db", history=History(clock=clock)) as store:
        memory_of(store).add("k", "milk")
        blocking(store).backup(kept)
        blocking(store).restore(plain)
        memory_of(store).clear("k")
        assert actions(store) == [(1, "clear", "tea")]
    with SqliteStore(tmp_path / "a.db") as store:
        blocking(store).restore(kept)
        store.recorded = History(clock=clock)
        memory_of(store).clear("k")
        assert actions(store) == [(1, "add", None), (2, "clear", "milk")]


def test_without_history_no_statement_of_a_change_has_to_do_with_it(path):
    statements = []

    def trace(event):
        statements.append(event["sql"])

    with SqliteStore(path) as store:
        memory = memory_of(store, max_items=2)
        store.write(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace))
        item = memory.add_many("k", ["tea", "milk", "bread"])[2]
        memory.upsert("k", "wine", id=item.id)
        memory.remove("k", item.id)
        memory.clear("k")
        assert len(statements) > 20
        assert [sql for sql in statements if "history" in sql or "sqlite_schema" in sql] == []
        store.write(lambda connection: connection.set_exec_trace(None))
