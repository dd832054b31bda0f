"""The lock that coroutines of any loop and thread may wait for, and what a fork has to make anew."""

import asyncio
import gc
import threading
import weakref

import pytest

from embedders import HashEmbedder
from tests.conftest import DictKV, in_forked_child
from vectormem import (
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    MemoryInvalidError,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
)
from vectormem.concurrency import AsyncLock, ForkAware, run_in_thread


async def let_others_run():
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_blocking_function_runs_in_another_thread_with_its_arguments():
    async def main():
        return await run_in_thread(lambda *args, **kwargs: (threading.get_ident(), args, kwargs), 1, b=2)

    thread, args, kwargs = asyncio.run(main())
    assert thread != threading.get_ident()
    assert (args, kwargs) == ((1,), {"b": 2})


def test_the_error_of_a_blocking_function_comes_back():
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_in_thread(lambda: 1 / 0))


def test_a_function_whose_caller_gave_up_still_runs_to_its_end():
    may_end, ended = threading.Event(), threading.Event()

    def work():
        may_end.wait()
        ended.set()

    async def main():
        task = asyncio.create_task(run_in_thread(work))
        await let_others_run()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        may_end.set()

    asyncio.run(main())
    assert ended.wait(10)


class TestAsyncLock:
    def test_it_is_given_out_in_the_order_of_asking(self):
        lock, order = AsyncLock(), []

        async def enter(number):
            async with lock:
                order.append(number)
                await let_others_run()
                order.append(number)

        async def main():
            await asyncio.gather(*map(enter, range(5)))

        asyncio.run(main())
        assert order == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]

    def test_it_is_free_again_after_an_error(self):
        lock = AsyncLock()

        async def main():
            for _ in range(3):
                with pytest.raises(ZeroDivisionError):
                    async with lock:
                        raise ZeroDivisionError

        asyncio.run(main())

    def test_a_waiter_that_is_cancelled_is_passed_over(self):
        lock, entered = AsyncLock(), []

        async def enter(number):
            async with lock:
                entered.append(number)

        async def main():
            async with lock:
                waiters = [asyncio.create_task(enter(number)) for number in range(4)]
                await let_others_run()
                waiters[0].cancel()
                waiters[2].cancel()
            await asyncio.gather(*waiters, return_exceptions=True)
            async with lock:
                entered.append("again")

        asyncio.run(main())
        assert entered == [1, 3, "again"]

    @pytest.mark.parametrize("rounds", [0, 1])
    def test_a_waiter_that_is_cancelled_just_when_it_gets_the_lock_hands_it_on(self, rounds):
        lock, entered = AsyncLock(), []

        async def enter(number):
            async with lock:
                entered.append(number)

        async def main():
            async with lock:
                first, second = (asyncio.create_task(enter(number)) for number in (1, 2))
                await let_others_run()
            for _ in range(rounds):
                await asyncio.sleep(0)  # the lock is handed over, and the waiter has not run yet
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            await asyncio.wait_for(second, 10)

        asyncio.run(main())
        assert entered == [2]

    def test_a_holder_that_is_cancelled_lets_go(self):
        lock = AsyncLock()

        async def hold():
            async with lock:
                await asyncio.Event().wait()

        async def main():
            holder = asyncio.create_task(hold())
            await let_others_run()
            holder.cancel()
            async with lock:
                pass
            with pytest.raises(asyncio.CancelledError):
                await holder

        asyncio.run(asyncio.wait_for(main(), 10))

    def test_loops_of_several_threads_never_hold_it_at_once(self):
        lock, inside, most = AsyncLock(), [], []

        async def enter_often():
            for _ in range(200):
                async with lock:
                    inside.append(1)
                    most.append(len(inside))
                    await asyncio.sleep(0)
                    inside.pop()

        threads = [threading.Thread(target=asyncio.run, args=(enter_often(),)) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert (len(most), max(most)) == (1000, 1)

    def test_a_waiter_whose_loop_was_closed_is_passed_over(self):
        """bytedance/deer-flow#2615"""
        lock = AsyncLock()

        async def enter():
            async with lock:
                pass

        async def main():
            async with lock:
                other = asyncio.new_event_loop()
                waiter = other.create_task(enter())
                await asyncio.to_thread(other.run_until_complete, let_others_run())
                waiter.cancel()  # takes effect only when its loop runs, and that never does again
                other.close()
            async with lock:
                return waiter

        waiter = asyncio.run(asyncio.wait_for(main(), 10))
        waiter._log_destroy_pending = False

    def test_asking_costs_nothing_that_stays(self):
        lock = AsyncLock()

        async def enter():
            async with lock:
                await asyncio.sleep(0)

        async def main():
            tasks = [asyncio.create_task(enter()) for _ in range(5)]
            await asyncio.gather(*tasks)
            return [weakref.ref(task) for task in tasks]

        references = asyncio.run(main())
        gc.collect()
        assert [reference() for reference in references] == [None] * 5


class Counter(ForkAware):
    """Counts how often it is told of a fork."""

    def __init__(self):
        self.forks = 0
        super().__init__()

    def _after_fork_in_child(self):
        self.forks += 1


def test_a_forked_child_is_told_once_and_the_parent_never():
    counter = Counter()
    assert in_forked_child(lambda: counter.forks) == 1
    assert counter.forks == 0


def test_an_object_whose_construction_failed_keeps_no_other_from_being_told():
    kept = []
    for kind in (FileMemory, KVMemory, SqliteStore):
        try:
            kind(None)
        except MemoryInvalidError as error:
            kept.append(error)  # its traceback holds the unfinished object
    counters = [Counter() for _ in range(5)]
    assert in_forked_child(lambda: [counter.forks for counter in counters]) == [1] * 5
    assert len(kept) == 3


def test_being_told_of_forks_keeps_nothing_alive():
    reference = weakref.ref(Counter())
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda folder: InMemoryMemory(),
        lambda folder: FileMemory(folder),
        lambda folder: KVMemory(DictKV()),
        lambda folder: SqliteMemory(":memory:"),
        lambda folder: InMemoryVectorMemory(embedder=HashEmbedder()),
        lambda folder: SqliteVectorMemory(":memory:", embedder=HashEmbedder()),
    ],
    ids=["memory", "file", "kv", "sqlite", "memory-vectors", "sqlite-vectors"],
)
def test_the_store_of_every_provider_is_told_of_forks(make, tmp_path):
    before = set(ForkAware._alive)
    provider = make(tmp_path)
    assert len(set(ForkAware._alive) - before) >= 1
    asyncio.run(provider.aclose())
