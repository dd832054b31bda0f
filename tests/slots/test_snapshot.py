"""Runs that pause: what was recalled is kept as JSON and comes back."""

import json

import pytest

from tests.providers.stand_ins import MinimalProvider
from vectormem import (
    InMemoryMemory,
    MemoryContext,
    MemoryInvalidError,
    MemoryRun,
    ToolInputError,
    blocking,
    define_memory,
)

BLOCK = '<memory name="notes">\n- likes tea\n</memory>'


def define(provider=None, name="notes", scope="session"):
    return define_memory(name=name, scope=scope, provider=provider or InMemoryMemory())


def context(session_id="s1"):
    return MemoryContext(session_id=session_id)


def paused(slot):
    """Return the snapshot of a run that has recalled one item, through JSON."""
    blocking(slot.provider).add("notes#session:s1", "likes tea")
    run = blocking(MemoryRun([slot], context()))
    assert run.block() == BLOCK
    return json.loads(json.dumps(run.snapshot()))


def test_a_restored_run_has_the_block_that_was_recalled():
    slot = define()
    snapshot = paused(slot)
    blocking(slot.provider).add("notes#session:s1", "lives in Oslo")
    run = blocking(MemoryRun.restore([slot], context(), snapshot))
    assert run.system_prompt("Be brief.") == f"Be brief.\n\n{BLOCK}"
    assert run.block(last_input="something else") == BLOCK


def test_a_prompt_that_holds_the_block_already_holds_it_once_after_restoring():
    slot = define()
    run = blocking(MemoryRun.restore([slot], context(), paused(slot)))
    assert run.system_prompt(f"Be brief.\n\n{BLOCK}") == f"Be brief.\n\n{BLOCK}"


def test_a_restored_run_asks_the_provider_nothing():
    provider = MinimalProvider()
    slot = define(provider)
    snapshot = paused(slot)
    provider.calls.clear()
    blocking(MemoryRun.restore([slot], context(), snapshot)).block()
    assert provider.calls == []


def test_a_restored_run_offers_no_tools():
    slot = define()
    run = MemoryRun.restore([slot], context(), paused(slot))
    assert run.tools == []
    with pytest.raises(ToolInputError, match="none"):
        blocking(run).call("recall_notes", {})


def test_a_run_that_had_recalled_nothing_yet_recalls_after_restoring():
    slot = define()
    blocking(slot.provider).add("notes#session:s1", "likes tea")
    snapshot = MemoryRun([slot], context()).snapshot()
    assert blocking(MemoryRun.restore([slot], context(), snapshot)).block() == BLOCK


def test_a_run_that_found_nothing_looks_for_nothing_after_restoring():
    slot = define()
    run = blocking(MemoryRun([slot], context()))
    assert run.block() == ""
    blocking(slot.provider).add("notes#session:s1", "likes tea")
    assert blocking(MemoryRun.restore([slot], context(), run.snapshot())).block() == ""


def test_a_snapshot_of_a_restored_run_restores_again():
    slot = define()
    again = MemoryRun.restore([slot], context(), paused(slot)).snapshot()
    assert blocking(MemoryRun.restore([slot], context(), again)).block() == BLOCK


def test_a_snapshot_is_refused_under_another_scope_key():
    slot = define()
    snapshot = paused(slot)
    for other in (context("s2"), MemoryContext(), None):
        with pytest.raises(MemoryInvalidError, match="'notes'"):
            MemoryRun.restore([slot], other, snapshot)


def test_a_snapshot_is_refused_where_its_slot_is_gone():
    snapshot = paused(define())
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        MemoryRun.restore([define(name="other")], context(), snapshot)


@pytest.mark.parametrize(
    "snapshot",
    [
        {},
        {"version": 2, "keys": {}, "blocks": {}},
        {"version": 1, "keys": {}, "blocks": {"notes": 7}},
        {"version": 1, "keys": {}, "blocks": {}, "more": 1},
        [],
        None,
        "text",
    ],
)
def test_what_is_no_snapshot_is_refused(snapshot):
    with pytest.raises(MemoryInvalidError, match="snapshot"):
        MemoryRun.restore([define()], context(), snapshot)


def test_a_bad_scope_fails_when_restoring_too():
    slot = define(scope=lambda context: 7)
    with pytest.raises(MemoryInvalidError, match="'notes'"):
        MemoryRun.restore([slot], context(), {"keys": {}, "blocks": {}})
