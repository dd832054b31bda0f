"""The sync face: from any thread, with and without an event loop, and nothing in between lost."""

import asyncio
import inspect
import os
import subprocess
import sys
import threading

import pytest

from embedders import HashEmbedder, as_embedder
from tests.conftest import DictKV, in_forked_child, texts_of
from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    MemoryContext,
    MemoryInvalidError,
    MemoryItem,
    MemoryRun,
    SqliteMemory,
    StorageFailedError,
    ToolInputError,
    blocking,
    define_memory,
)
from vectormem.sync import wait_for


class Custom:
    """The least that a custom provider has."""

    def __init__(self):
        self.items = []

    async def list(self, scope_key, *, limit=None, query=None):
        return self.items[:limit]

    async def add(self, scope_key, text, *, metadata=None):
        item = MemoryItem(id=str(len(self.items)), text=text, created_at="2026-01-01T00:00:00Z", metadata=metadata)
        self.items.insert(0, item)
        return item

    async def remove(self, scope_key, item_id):
        return False


class CustomWithUpsert(Custom):
    """A custom provider that replaces in place."""

    async def upsert(self, scope_key, text, *, id=None, metadata=None):
        return await self.add(scope_key, text, metadata=metadata)


def run_of(provider):
    return MemoryRun([define_memory(name="notes", scope="global", provider=provider)], MemoryContext())


def test_a_plain_program_uses_every_verb():
    memory = blocking(InMemoryMemory())
    first = memory.add("k", "Tea.")
    memory.add_many("k", ["Milk.", "Bread."])
    memory.upsert("k", "Green tea.", id=first.id)
    assert texts_of(memory.list("k")) == ["Green tea.", "Bread.", "Milk."]
    assert memory.get("k", first.id).text == "Green tea."
    assert memory.count("k") == 3
    assert memory.scope_keys() == ["k"]
    assert memory.remove("k", first.id) is True
    kept = memory.list("k")
    assert memory.clear("k") == 2
    assert memory.restore("k", kept) == 2
    assert texts_of(memory.list("k", limit=1, query="milk")) == ["Milk."]
    memory.close()


def test_a_vector_memory_can_be_reindexed():
    memory = blocking(InMemoryVectorMemory(embedder=HashEmbedder()))
    memory.add("k", "Tea.")
    assert memory.reindex() == 0
    assert memory.reindex("k") == 0


def test_a_run_and_its_tools_are_blocking_too():
    run = blocking(run_of(InMemoryMemory()))
    remember, recall = run.tools
    assert (remember.name, recall.name) == ("remember_notes", "recall_notes")
    item_id = remember.call({"text": "Tea."})["remembered"]
    assert run.call("recall_notes", {})["items"][0]["id"] == item_id
    assert run.block() == '<memory name="notes">\n- Tea.\n</memory>'
    assert run.system_prompt("Be kind.") == 'Be kind.\n\n<memory name="notes">\n- Tea.\n</memory>'
    assert run.snapshot()["keys"] == {"notes": "notes#global"}


def test_a_tool_alone_is_blocking_and_shows_its_own_attributes():
    tool = run_of(InMemoryMemory()).tools[0]
    assert blocking(tool).call('{"text": "Tea."}').keys() == {"remembered"}
    assert blocking(tool).to_openai() == tool.to_openai()
    assert blocking(tool).input_schema is tool.input_schema


def test_a_custom_provider_is_blocking():
    memory = blocking(Custom())
    memory.add("k", "Tea.", metadata={"cups": 1})
    assert [(item.text, item.metadata) for item in memory.list("k", limit=5)] == [("Tea.", {"cups": 1})]
    assert memory.remove("k", "1") is False


def test_a_custom_provider_keeps_its_upsert():
    assert blocking(CustomWithUpsert()).upsert("k", "Tea.", id="0").text == "Tea."


@pytest.mark.parametrize("target", [None, 3, "memory", object(), InMemoryMemory, HashEmbedder()])
def test_what_has_no_verbs_is_refused(target):
    with pytest.raises(MemoryInvalidError, match="blocking"):
        blocking(target)


def test_the_verbs_keep_their_names_signatures_and_docstrings():
    memory, target = blocking(InMemoryMemory()), InMemoryMemory()
    for name in ("list", "add", "add_many", "upsert", "remove", "get", "count", "clear", "scope_keys", "restore"):
        assert getattr(memory, name).__name__ == name
        assert getattr(memory, name).__doc__ == getattr(target, name).__doc__
        assert inspect.signature(getattr(memory, name)) == inspect.signature(getattr(target, name))
        assert not inspect.iscoroutinefunction(getattr(memory, name))


def test_the_objects_are_the_same_and_not_copies():
    memory = InMemoryMemory()
    blocking(memory).add("k", "Tea.")
    assert texts_of(asyncio.run(memory.list("k"))) == ["Tea."]
    assert blocking(memory).target is memory
    assert repr(blocking(memory)) == f"blocking({memory!r})"


def test_it_works_inside_a_running_event_loop():
    """moorcheh-ai/memanto#599"""
    memory = InMemoryMemory()

    async def main():
        blocking(memory).add("k", "Tea.")
        await memory.add("k", "Milk.")
        return blocking(memory).list("k")

    assert texts_of(asyncio.run(main())) == ["Milk.", "Tea."]


def test_it_works_with_one_memory_in_several_loops_one_after_the_other():
    """bytedance/deer-flow#2615"""
    memory = KVMemory(DictKV())
    for number in range(3):
        asyncio.run(memory.add("k", f"{number}"))
        blocking(memory).add("k", f"{number} again")
    assert len(blocking(memory).list("k")) == 6


def test_many_threads_use_one_object():
    memory = blocking(KVMemory(DictKV()))
    threads = [
        threading.Thread(target=lambda number=number: [memory.add("k", f"{number} {step}") for step in range(20)])
        for number in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert memory.count("k") == 120


def test_errors_pass_through_as_they_are():
    memory = blocking(InMemoryMemory())
    with pytest.raises(MemoryInvalidError):
        memory.add("", "Tea.")
    with pytest.raises(ToolInputError):
        blocking(run_of(InMemoryMemory())).call("remember_notes", {})
    with pytest.raises(TypeError, match="top_k"):
        memory.list("k", top_k=3)


def test_an_error_of_a_callback_passes_through():
    def fail(done, total):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        blocking(InMemoryMemory()).add_many("k", ["Tea."], on_progress=fail)


def test_a_call_from_inside_a_call_is_refused_and_does_not_hang():
    memory = blocking(InMemoryMemory())
    with pytest.raises(RuntimeError, match="inside a blocking"):
        memory.add_many("k", ["Tea."], on_progress=lambda done, total: memory.count("k"))
    assert memory.count("k") == 1


def test_a_sync_embedder_may_use_another_memory():
    other = blocking(InMemoryMemory())

    def embed(texts):
        other.add_many("seen", list(texts))
        return [[1.0, 0.0] for _ in texts]

    memory = blocking(InMemoryVectorMemory(embedder=as_embedder(embed, id="noting")))
    memory.add("k", "Tea.")
    assert texts_of(other.list("seen")) == ["Tea."]


def test_it_works_in_a_forked_child_of_a_program_that_has_used_it():
    """tox-dev/filelock#635"""
    memory = blocking(InMemoryMemory())
    memory.add("k", "Tea.")

    def use_in_child():
        memory.add("k", "Milk.")
        return texts_of(memory.list("k"))

    assert in_forked_child(use_in_child, timeout=10) == ["Milk.", "Tea."]
    assert texts_of(memory.list("k")) == ["Tea."]


def test_it_works_in_a_child_that_was_forked_while_another_thread_was_in_a_call():
    inside, go_on = threading.Event(), threading.Event()

    def embed(texts):
        inside.set()
        go_on.wait()
        return [[1.0] for _ in texts]

    slow = blocking(InMemoryVectorMemory(embedder=as_embedder(embed, id="slow")))
    memory = blocking(InMemoryMemory())
    busy = threading.Thread(target=slow.add, args=("k", "Tea."))
    busy.start()
    inside.wait()
    try:
        assert in_forked_child(lambda: memory.add("k", "Milk.").text, timeout=10) == "Milk."
    finally:
        go_on.set()
        busy.join()
    assert slow.count("k") == 1


INTERRUPTED = """
import asyncio, os, signal, sys, threading
from vectormem import InMemoryVectorMemory, blocking

class Slow:
    id = "slow"
    cancelled = threading.Event()
    async def embed(self, texts, *, kind="document"):
        if texts == ["Slow."]:
            while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "wait":
                await asyncio.sleep(0.001)  # the caller has not begun to wait yet
            os.kill(os.getpid(), signal.SIGINT)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return [[1.0, 0.0] for _ in texts]

memory = blocking(InMemoryVectorMemory(embedder=Slow()))
try:
    memory.add("k", "Slow.")
except KeyboardInterrupt:
    print("interrupted", Slow.cancelled.wait(10))
memory.add("k", "Quick.")
print([item.text for item in memory.list("k")])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX systems")
def test_an_interrupted_call_is_cancelled_and_the_next_one_works():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("interrupted True\n['Quick.']\n", "")


def test_the_context_manager_closes(tmp_path):
    with blocking(SqliteMemory(tmp_path / "memory.db")) as memory:
        memory.add("k", "Tea.")
    with pytest.raises(StorageFailedError, match="closed"):
        memory.count("k")


def test_any_coroutine_can_be_run_from_a_thread_in_which_a_loop_runs():
    async def inside():
        return wait_for(asyncio.sleep(0, result="done"))

    assert asyncio.run(inside()) == "done"


def test_what_a_coroutine_raises_reaches_the_caller():
    async def fail():
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        wait_for(fail())
