"""Where the memory of paused runs waits in a process."""

import asyncio

import pytest

from vectormem import StorageFailedError
from vectormem.adapters.pauses import PausesInProcess, TolerantPauses


def test_a_snapshot_is_found_until_it_is_dropped():
    async def scenario():
        pauses = PausesInProcess()
        await pauses.keep_pause("c", "run-1", {"blocks": {}})
        found = await pauses.find_pause("run-1"), await pauses.find_pause("run-2")
        await pauses.drop_pause("run-1")
        await pauses.drop_pause("run-1")
        return *found, await pauses.find_pause("run-1")

    assert asyncio.run(scenario()) == ({"blocks": {}}, None, None)


def test_the_newest_thousand_are_kept():
    async def scenario():
        pauses = PausesInProcess()
        for number in range(1002):
            await pauses.keep_pause("c", f"run-{number}", {"number": number})
        return [await pauses.find_pause(f"run-{number}") for number in (0, 1, 2, 1001)]

    assert asyncio.run(scenario()) == [None, None, {"number": 2}, {"number": 1001}]


class Failing(PausesInProcess):
    def __init__(self, error):
        super().__init__()
        self._error = error

    async def keep_pause(self, conversation_id, run_id, snapshot):
        raise self._error

    async def find_pause(self, run_id):
        raise self._error

    async def drop_pause(self, run_id):
        raise self._error


async def keep_find_and_drop(pauses):
    await pauses.keep_pause("c", "run-1", {"blocks": {}})
    found = await pauses.find_pause("run-1")
    await pauses.drop_pause("run-1")
    return found


def test_a_failing_store_costs_warnings_and_not_the_run(caplog):
    assert asyncio.run(keep_find_and_drop(TolerantPauses(Failing(StorageFailedError("disk full"))))) is None
    assert [record.getMessage()[:24] for record in caplog.records] == ["paused runs: disk full; "] * 3


def test_an_error_that_no_store_raises_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        asyncio.run(keep_find_and_drop(TolerantPauses(Failing(ZeroDivisionError()))))


def test_without_a_store_of_its_own_pauses_are_kept_in_the_process(caplog):
    assert asyncio.run(keep_find_and_drop(TolerantPauses())) == {"blocks": {}}
    assert caplog.records == []


def test_a_run_without_an_id_was_not_paused():
    async def scenario():
        pauses = TolerantPauses()
        await pauses.drop_pause(None)
        return await pauses.find_pause(None)

    assert asyncio.run(scenario()) is None
