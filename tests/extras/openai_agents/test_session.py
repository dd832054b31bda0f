"""The session in the file of the memory, beside the SDK's own."""

import asyncio
import json
import subprocess
import sys

import pytest
from agents import Session, SessionSettings, SQLiteSession
from hypothesis import given
from hypothesis import strategies as st

from tests.extras.openai_agents.play import agent_of, call, define, remembering, run, texts_in
from vectormem import MemoryContext, MemoryInvalidError, SqliteMemory, SqliteStore, StorageFailedError
from vectormem.adapters.openai_agents import VectormemSession

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ITEMS = st.dictionaries(st.text(max_size=9), VALUES, max_size=3)
LIMITS = st.none() | st.integers(-2, 6)
STEPS = st.one_of(
    st.tuples(st.just("add_items"), st.lists(ITEMS, max_size=4)),
    st.tuples(st.just("get_items"), LIMITS),
    st.tuples(st.just("pop_item")),
    st.tuples(st.just("clear_session")),
)


@pytest.fixture
def store():
    with SqliteStore(":memory:") as opened:
        yield opened


def do(session, verb, *arguments):
    return asyncio.run(getattr(session, verb)(*arguments))


def said(*texts):
    return [{"role": "user", "content": text} for text in texts]


@given(steps=st.lists(st.tuples(st.sampled_from("ab"), STEPS), max_size=12), default=LIMITS)
def test_it_does_what_the_sdks_own_session_does(steps, default):
    settings = SessionSettings(limit=default)
    with SqliteStore(":memory:") as store:
        ours = {name: VectormemSession(name, store, session_settings=settings) for name in "ab"}
        theirs = {name: SQLiteSession(name, session_settings=settings) for name in "ab"}
        for name, (verb, *arguments) in [*steps, ("a", ("get_items", -1)), ("b", ("get_items", -1))]:
            assert do(ours[name], verb, *arguments) == do(theirs[name], verb, *arguments)
        for session in theirs.values():
            session.close()


def test_it_is_a_session(store):
    session = VectormemSession("s", store)
    assert isinstance(session, Session)
    assert (session.session_id, session.session_settings) == ("s", SessionSettings())


def test_items_come_back_in_order_and_limits_take_the_latest(store):
    session = VectormemSession("s", store)
    do(session, "add_items", said("a", "b"))
    do(session, "add_items", said("c"))
    assert do(session, "get_items") == said("a", "b", "c")
    assert do(session, "get_items", 2) == said("b", "c")
    assert do(session, "pop_item") == said("c")[0]
    do(session, "add_items", said("d"))
    assert do(session, "get_items") == said("a", "b", "d")


def test_sessions_and_scope_keys_are_kept_apart(store):
    sessions = [
        VectormemSession("s", store),
        VectormemSession("t", store),
        VectormemSession("s", store, scope_key="user:ada"),
    ]
    for n, session in enumerate(sessions):
        do(session, "add_items", said(str(n)))
    do(sessions[0], "clear_session")
    assert [do(session, "get_items") for session in sessions] == [[], said("1"), said("2")]
    assert do(sessions[0], "pop_item") is None


def test_a_conversation_lasts_in_the_file_of_the_memory(tmp_path):
    path = tmp_path / "all.db"
    with SqliteStore(path) as store:
        slot = define(provider=SqliteMemory(store))
        agent = remembering([slot], call("remember_notes", text="Lives in Oslo."), "one")
        run(agent, "first", session=VectormemSession("s", store))
    with SqliteStore(path) as store:
        slot = define(provider=SqliteMemory(store))
        agent = remembering([slot], "two")
        run(agent, "second", session=VectormemSession("s", store))
        assert texts_in(slot) == ["Lives in Oslo."]
    first, *_, last = agent.model.calls[0].input
    assert (first["content"], last["content"]) == ("first", "second")


def test_a_path_is_opened_and_closed_again(tmp_path):
    async def main():
        async with VectormemSession("s", tmp_path / "s.db") as session:
            await session.add_items(said("a"))
        with pytest.raises(StorageFailedError):
            await session.get_items()
        async with VectormemSession("s", tmp_path / "s.db") as session:
            return await session.get_items()

    assert asyncio.run(main()) == said("a")


def test_closing_it_leaves_a_store_open_that_was_passed_in(store):
    VectormemSession("s", store).close()
    assert do(VectormemSession("s", store), "get_items") == []


@pytest.mark.parametrize("session_id", ["", None, 7, "a\0b", "\ud800"])
def test_an_id_that_cannot_be_stored_is_refused(store, session_id):
    with pytest.raises(MemoryInvalidError):
        VectormemSession(session_id, store)


@pytest.mark.parametrize("bad", [{"a": object()}, {"a": {1}}, {"a": b"x"}])
def test_items_that_are_no_json_are_refused_and_none_of_them_is_stored(store, bad):
    session = VectormemSession("s", store)
    with pytest.raises(MemoryInvalidError, match="JSON"):
        do(session, "add_items", [*said("a"), bad])
    assert do(session, "get_items") == []


def test_a_memory_that_is_only_read_has_an_empty_session(tmp_path):
    SqliteStore(tmp_path / "s.db").close()
    with SqliteStore(tmp_path / "s.db") as store:
        assert do(VectormemSession("s", store), "get_items") == []
        assert store.read(lambda c: list(c.execute("SELECT name FROM sqlite_master WHERE name='session_items'"))) == []


def test_a_change_is_made_to_its_end_before_its_caller_is_cancelled(store):
    async def main():
        session = VectormemSession("s", store)
        task = asyncio.ensure_future(session.add_items(said("a")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await session.get_items()

    assert asyncio.run(main()) == said("a")


WRITER = """
import asyncio, sys
from vectormem.adapters.openai_agents import VectormemSession

async def main(path, name, count):
    async with VectormemSession("s", path) as session:
        print("ready", flush=True)
        sys.stdin.readline()
        for n in range(count):
            await session.add_items([{"role": role, "content": f"{name} {n}"} for role in ("user", "assistant")])

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def test_several_processes_keep_every_item_and_what_is_added_at_once_stays_together(tmp_path):
    path, names, count = tmp_path / "s.db", ("a", "b"), 20
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, name, str(count)], **pipes) for name in names]
    assert [writer.stdout.readline() for writer in writers] == ["ready\n"] * 2
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=120)[1] for writer in writers] == [""] * 2
    with SqliteStore(path) as store:
        items = do(VectormemSession("s", store), "get_items")
    pairs = list(zip(items[::2], items[1::2], strict=True))
    assert all(one["content"] == two["content"] and two["role"] == "assistant" for one, two in pairs)
    for name in names:
        own = [one["content"] for one, _ in pairs if one["content"].startswith(f"{name} ")]
        assert own == [f"{name} {n}" for n in range(count)]


def test_a_run_that_uses_it_sees_the_conversation_so_far(store):
    agent = agent_of("one", "two")
    session = VectormemSession("s", store)
    run(agent, "first", session=session)
    run(agent, "second", session=session)
    assert [item.get("content") for item in agent.model.calls[1].input if item["role"] == "user"] == ["first", "second"]
    assert json.loads(json.dumps(do(session, "get_items"))) == do(session, "get_items")


def test_a_session_scope_is_off_without_a_session_and_on_with_one(store):
    slot = define(scope="session")
    run(remembering([slot], call("remember_notes", text="x"), "ok"), session=VectormemSession("s", store))
    assert texts_in(slot, MemoryContext(session_id="s")) == ["x"]
