"""Many at once on one memory: processes, threads, coroutines, and a reader that stays while others write."""

import asyncio
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from tests.proof.checks import check_files
from tests.proof.hops import without_threads
from tests.proof.kinds import open_memory

SHARED = "shared"


class Worker:
    """Does mixed work on a shared key and on one of its own, and knows what it has left there."""

    def __init__(self, memory, name, *, most_own=40):
        self.memory = memory
        self.most_own = most_own
        self.name = name
        self.chance = random.Random(name)
        self.held = {SHARED: {}, f"own {name}": {}}
        self.done = Counter()
        self.number = 0

    async def work(self, operations):
        for _ in range(operations):
            await self.once()

    async def once(self):
        key = self.chance.choice(list(self.held))
        verb = self.chance.choices(("add", "upsert", "remove", "list", "search", "get"), (30, 10, 20, 15, 15, 10))[0]
        if verb == "add" and len(self.held[key]) >= self.most_own:
            verb = "remove"
        await getattr(self, f"_{verb}")(key)
        self.done[verb] += 1

    async def _add(self, key):
        item = await self.memory.add(key, self._text())
        self.held[key][item.id] = item.text

    async def _upsert(self, key):
        if not self.held[key]:
            return
        item_id = self.chance.choice(list(self.held[key]))
        item = await self.memory.upsert(key, self._text(), id=item_id)
        assert item.id == item_id
        del self.held[key][item_id]  # it is the newest now
        self.held[key][item_id] = item.text

    async def _remove(self, key):
        if self.held[key]:
            item_id = self.chance.choice(list(self.held[key]))
            assert await self.memory.remove(key, item_id) is True
            del self.held[key][item_id]

    async def _list(self, key):
        self._compare(key, await self.memory.list(key))

    async def _search(self, key):
        found = await self.memory.list(key, query=f"tea {self.name}", limit=20)
        assert all(self.held[key][item.id] == item.text for item in found if self._is_own(item.text))

    async def _get(self, key):
        for item_id, text in list(self.held[key].items())[:1]:
            assert (await self.memory.get(key, item_id)).text == text

    def _compare(self, key, items):
        """What is this worker's own is all there, in its order, whatever the others do."""
        own = {item.id: item.text for item in reversed(items) if self._is_own(item.text)}
        assert list(own.items()) == list(self.held[key].items())

    def _text(self):
        self.number += 1
        return f"{self.name}| tea {self.number}"

    def _is_own(self, text):
        return text.startswith(f"{self.name}| ")

    async def check(self):
        for key in self.held:
            self._compare(key, await self.memory.list(key))


def in_process(kind, folder, name, operations):
    """What each of the processes does; started by `processes`."""
    memory = open_memory(kind, Path(folder))
    worker = Worker(memory, name)

    async def main():
        await worker.work(operations)
        await worker.check()
        await memory.aclose()

    sys.stdin.readline()
    asyncio.run(main())
    counts = [sum(len(items) for items in worker.held.values()), len(worker.held[SHARED]), sum(worker.done.values())]
    sys.stdout.write(" ".join(map(str, counts)))


def processes(folder, *, kind, count, operations):
    """Let processes work on one file or folder; return the figures. What each left is there at the end."""
    started = time.monotonic()
    code = "import sys; from tests.proof.load import in_process; in_process(*sys.argv[1:4], int(sys.argv[4]))"
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", code, kind, str(folder), f"w{number}", str(operations)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(count)
    ]
    said = []
    for worker in workers:
        worker.stdin.write("\n")
        worker.stdin.flush()
    for worker in workers:
        out, error = worker.communicate()
        assert (worker.returncode, error) == (0, ""), error
        said.append([int(part) for part in out.split()])
    check_files(kind, folder)
    asyncio.run(_check_total(kind, folder, sum(one[0] for one in said), sum(one[1] for one in said)))
    seconds = time.monotonic() - started
    done = sum(one[2] for one in said)
    return {"processes": count, "operations": done, "errors": 0, "lost": 0, "seconds": round(seconds, 1)}


async def _check_total(kind, folder, total, shared):
    memory = open_memory(kind, folder)
    keys = await memory.scope_keys()
    assert sum([await memory.count(key) for key in keys]) == total
    assert await memory.count(SHARED) == shared
    await memory.aclose()


def threads(memory, *, count, operations, most_own=10):
    """Let threads, each with a loop of its own, work on one memory object."""
    started = time.monotonic()
    workers = [Worker(memory, f"t{number}", most_own=most_own) for number in range(count)]
    errors = []

    def work(worker):
        try:
            asyncio.run(worker.work(operations))
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not errors, errors
    return _summary(memory, workers, "threads", started)


def coroutines(memory, *, count, operations, most_own=2):
    """Let coroutines of one loop work on one memory object."""
    started = time.monotonic()
    workers = [Worker(memory, f"c{number}", most_own=most_own) for number in range(count)]

    async def main():
        await asyncio.gather(*(worker.work(operations) for worker in workers))

    asyncio.run(main())
    return _summary(memory, workers, "coroutines", started)


def _summary(memory, workers, name, started):
    async def check():
        for worker in workers:
            await worker.check()
        total = sum(len(items) for worker in workers for items in worker.held.values())
        assert sum([await memory.count(key) for key in await memory.scope_keys()]) == total

    seconds = time.monotonic() - started
    asyncio.run(check())
    done = sum(sum(worker.done.values()) for worker in workers)
    return {name: len(workers), "operations": done, "errors": 0, "lost": 0, "seconds": round(seconds, 1)}


def with_a_reader(folder, *, kind, writes, pause=500):
    """Write while another connection stays open and is half-way through a reading for every second `pause` writes.

    Return how large the write-ahead log became, in bytes.
    """
    path, log = folder / "memory.db", folder / "memory.db-wal"
    memory = open_memory(kind, folder, max_items=200)
    largest, started = 0, time.monotonic()

    async def write(first, number):
        for one in range(first, first + number):
            await memory.add("k", f"tea {one} " + "x" * 200)

    asyncio.run(write(0, 10))
    with without_threads(), closing(apsw.Connection(str(path))) as reader:
        for first in range(10, writes, pause):
            with _half_read(reader) if (first - 10) // pause % 2 else _idle():
                asyncio.run(write(first, min(pause, writes - first)))
            largest = max(largest, log.stat().st_size)
        asyncio.run(write(writes, 2))  # the first one copies the log into the file, the next begins it anew
        at_the_end = log.stat().st_size
    asyncio.run(memory.aclose())
    check_files(kind, folder)
    return {
        "writes": writes,
        "reader_half_way_for_writes": pause,
        "largest_wal_mb": round(largest / 2**20, 1),
        "wal_at_the_end_mb": round(at_the_end / 2**20, 1),
        "file_mb": round(path.stat().st_size / 2**20, 1),
        "seconds": round(time.monotonic() - started, 1),
    }


@contextmanager
def _half_read(reader):
    cursor = reader.execute("SELECT * FROM memory_items")
    next(cursor)
    yield
    cursor.close()


@contextmanager
def _idle():
    yield
