"""One provider object serves several event loops and threads, and survives cancelled calls."""

import asyncio
import threading

import pytest

from vectormem import blocking

KEY = "notes#global"


def texts(provider):
    return [item.text for item in blocking(provider).list(KEY)]


def test_a_provider_works_in_one_event_loop_after_another(every_provider):
    for text in ("one", "two", "three"):
        asyncio.run(every_provider.add(KEY, text))
    assert [item.text for item in asyncio.run(every_provider.list(KEY))] == ["three", "two", "one"]


def test_several_threads_with_loops_of_their_own_keep_every_item(every_provider):
    def work(name):
        async def add():
            for n in range(5):
                await every_provider.add(KEY, f"{name} {n}")
                await every_provider.list(KEY, query=f"{name} {n}")

        asyncio.run(add())

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(every_provider)) == sorted(f"{name} {n}" for name in "abcd" for n in range(5))


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 8])
def test_a_cancelled_call_leaves_the_memory_usable_and_no_half_item(every_provider, steps):
    async def scenario():
        task = asyncio.create_task(every_provider.add(KEY, "cancelled"))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        kept = await every_provider.add(KEY, "kept")
        await every_provider.add(KEY, "cancelled")
        return kept, await every_provider.list(KEY)

    kept, items = asyncio.run(scenario())
    assert kept in items
    assert sorted(item.text for item in items) == ["cancelled", "kept"]


def test_blocking_works_inside_a_running_event_loop(every_provider):
    async def scenario():
        blocking(every_provider).add(KEY, "one")
        await every_provider.add(KEY, "two")
        return [item.text for item in blocking(every_provider).list(KEY)]

    assert asyncio.run(scenario()) == ["two", "one"]
