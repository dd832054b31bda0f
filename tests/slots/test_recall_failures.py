"""Recalls that fail or are cancelled: a memory is never the end of a run."""

import asyncio
import logging

import pytest

from tests.providers.stand_ins import FailingProvider, MinimalProvider
from vectormem import (
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    MemoryContext,
    MemoryRun,
    StorageFailedError,
    blocking,
    define_memory,
)
from vectormem.testing import HashEmbedder, ScriptedEmbedder


def define(provider, name="notes", **options):
    return define_memory(**{"name": name, "scope": "global", "provider": provider, **options})


def holding(*texts, provider=None, key="notes#global"):
    provider = provider or InMemoryMemory()
    for text in texts:
        blocking(provider).add(key, text)
    return provider


def block_of(*slots, last_input=None):
    return blocking(MemoryRun(slots)).block(last_input)


def test_a_failing_memory_costs_its_block_and_not_the_run(caplog):
    good = define(holding("likes tea"))
    broken = define(FailingProvider(StorageFailedError("the disk is gone")), "broken")
    prompt = blocking(MemoryRun([broken, good])).system_prompt("Be brief.")
    assert prompt == 'Be brief.\n\n<memory name="notes">\n- likes tea\n</memory>'
    assert caplog.record_tuples == [
        ("vectormem", logging.WARNING, "memory 'broken': recall failed, continuing without it: the disk is gone")
    ]


@pytest.mark.parametrize("error", [StorageFailedError("x"), OSError("x"), KeyError("x"), ValueError("x")])
def test_whatever_a_provider_raises_the_run_goes_on(error, caplog):
    assert block_of(define(FailingProvider(error))) == ""
    assert len(caplog.records) == 1


@pytest.mark.parametrize("answer", [None, 7, ["text"], [{"id": "1", "text": "x"}]])
def test_whatever_a_provider_returns_the_run_goes_on(answer, caplog):
    class Odd(MinimalProvider):
        async def list(self, scope_key, *, limit=None, query=None):
            return answer

    assert block_of(define(Odd())) == ""
    assert len(caplog.records) == 1


def test_a_damaged_memory_file_costs_its_block(tmp_path, caplog):
    (tmp_path / "notes%23global.json").write_text('{"version": 1, "key": "notes#glo')
    assert block_of(define(FileMemory(tmp_path))) == ""
    assert "recall failed" in caplog.text


def test_a_failing_embedder_costs_the_block(caplog):
    embedder = ScriptedEmbedder()
    provider = holding("likes tea", provider=InMemoryVectorMemory(embedder=embedder))
    embedder.answer = lambda texts: []
    assert block_of(define(provider, recall={"query": "last-input"}), last_input="tea") == ""
    assert "returned 0 vectors for 1 texts" in caplog.text


def test_a_slot_warns_once_however_many_runs_fail(caplog):
    slot = define(FailingProvider(OSError("gone")))
    for _ in range(3):
        block_of(slot)
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["memory 'notes'"]


def test_each_slot_warns_for_itself(caplog):
    provider = FailingProvider(OSError("gone"))
    block_of(define(provider, "one"), define(provider, "two"))
    block_of(define(provider, "one"))
    names = sorted(record.getMessage().split(":")[0] for record in caplog.records)
    assert names == ["memory 'one'", "memory 'one'", "memory 'two'"]


def test_a_run_recovers_when_the_provider_does():
    class Flaky(MinimalProvider):
        broken = True

        async def list(self, scope_key, *, limit=None, query=None):
            if self.broken:
                raise OSError("gone")
            return await super().list(scope_key, limit=limit, query=query)

    provider = holding("likes tea", provider=Flaky())
    slot = define(provider)
    assert block_of(slot) == ""
    provider.broken = False
    assert block_of(slot) == '<memory name="notes">\n- likes tea\n</memory>'


def test_cancelling_a_recall_leaves_the_run_usable():
    class Slow(MinimalProvider):
        started = None

        async def list(self, scope_key, *, limit=None, query=None):
            if self.started is not None and not self.started.is_set():
                self.started.set()
                await asyncio.Event().wait()
            return await super().list(scope_key, limit=limit, query=query)

    async def scenario():
        provider = Slow()
        await provider.add("notes#global", "likes tea")
        provider.started = asyncio.Event()
        run = MemoryRun([define(provider)])
        first = asyncio.create_task(run.block())
        await provider.started.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        return await run.block()

    assert asyncio.run(scenario()) == '<memory name="notes">\n- likes tea\n</memory>'


def test_two_runs_of_one_slot_do_not_share_what_they_recalled():
    slot = define_memory(name="notes", scope="session", provider=InMemoryVectorMemory(embedder=HashEmbedder()))
    one = blocking(MemoryRun([slot], MemoryContext(session_id="1")))
    two = blocking(MemoryRun([slot], MemoryContext(session_id="2")))
    one.call("remember_notes", {"text": "likes tea"})
    assert two.block() == ""
    assert one.block() == '<memory name="notes">\n- likes tea\n</memory>'
