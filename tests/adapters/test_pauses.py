"""Where the memory of paused runs waits in a process."""

import asyncio

import pytest

from vectormem import StorageFailedError
from vectormem.adapters.pauses import PausesInProcess, tolerated


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


def test_a_failing_store_is_tolerated_with_a_warning_and_other_errors_are_not(caplog):
    async def fail(error):
        raise error

    assert asyncio.run(tolerated(fail(StorageFailedError("disk full")))) is None
    assert [record.getMessage()[:24] for record in caplog.records] == ["paused runs: disk full; "]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(tolerated(fail(ZeroDivisionError())))
