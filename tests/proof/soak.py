"""Mixed work for a long time in one process, whose memory, files and descriptors have to stay as they are."""

import asyncio
import gc
import math
import random
import threading
import time
from pathlib import Path

from benchmarks.process import resident_bytes
from embedders import HashEmbedder
from tests.conftest import DictKV
from tests.proof.checks import check_files
from vectormem import (
    ChatStorage,
    FileMemory,
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    MemoryContext,
    MemoryRun,
    SqliteMemory,
    SqliteStore,
    SqliteVectorMemory,
    define_memory,
)

_DESCRIPTORS = Path("/proc/self/fd")
_ITEMS = 60
_MESSAGES = 40


class Soak:
    """Every kind of memory over one folder; `round` does some of everything, in keys that come and go."""

    def __init__(self, folder):
        self.folder = folder
        self.chance = random.Random(1)
        self.embedder = HashEmbedder(128)
        self.store = SqliteStore(folder / "memory.db", cache_bytes=2**20)  # else it keeps what passing keys leave
        self.memories = [
            InMemoryMemory(max_items=_ITEMS),
            InMemoryVectorMemory(embedder=self.embedder, max_items=_ITEMS),
            KVMemory(DictKV(), max_items=_ITEMS),
            FileMemory(folder / "files", max_items=_ITEMS),
            SqliteMemory(self.store, max_items=_ITEMS),
            SqliteVectorMemory(self.store, embedder=self.embedder, max_items=_ITEMS, ranking="hybrid"),
        ]
        self.chat = ChatStorage(self.store, embedder=self.embedder, ranking="hybrid")
        self.rounds = 0
        self.operations = 0

    async def round(self):
        self.rounds += 1
        await asyncio.gather(*(self._mixed(memory) for memory in self.memories), self._talk())
        self.operations += 14 * len(self.memories) + 4

    async def _mixed(self, memory):
        key = self.chance.choice(["steady", f"passing {self.rounds}"]) + f" {type(memory).__name__}"
        items = await memory.add_many(key, [self._text() for _ in range(3)], metadata={"round": self.rounds})
        await memory.add(key, self._text())
        await memory.upsert(key, self._text(), id=items[0].id)
        await memory.remove(key, items[1].id)
        await memory.list(key, query="tea with milk", limit=5)
        await memory.list(key, limit=10)
        await memory.get(key, items[2].id)
        await memory.count(key)
        await self._run(memory)
        if not key.startswith("steady"):
            await memory.clear(key)

    async def _run(self, memory):
        slot = define_memory(
            name="notes", scope="session", provider=memory, expose={"forget": True}, recall={"query": "last-input"}
        )
        run = MemoryRun([slot], MemoryContext(session_id=f"{type(memory).__name__} {self.rounds % 5}"))
        kept = await run.call("remember_notes", {"text": self._text()})
        await run.system_prompt("Be kind.", "tea?")
        await run.call("recall_notes", {"query": "tea"})
        await run.call("forget_notes", {"id": kept["remembered"]})

    async def _talk(self):
        conversation = f"c{self.rounds}"
        await self.chat.save_message(conversation, "user", f"{self._text()}, and what is good with it?")
        await self.chat.search_messages("good tea", limit=3)
        if self.rounds > _MESSAGES:
            await self.chat.delete_conversation(f"c{self.rounds - _MESSAGES}")

    def _text(self):
        return f"tea number {self.chance.randrange(10**9)} with milk " + "and sugar " * self.chance.randrange(20)

    async def close(self):
        for memory in self.memories:
            await memory.aclose()
        self.store.close()
        check_files("sqlite", self.folder)
        check_files("file", self.folder)


def sample(folder):
    gc.collect()
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        "resident_mb": round(resident_bytes() / 2**20, 1),
        "descriptors": len(list(_DESCRIPTORS.iterdir())) if _DESCRIPTORS.exists() else 0,
        "threads": threading.active_count(),
        "files": len(files),
        "files_mb": round(sum(path.stat().st_size for path in files) / 2**20, 1),
    }


async def _soak(folder, seconds, every, rounds):
    soak, started, samples = Soak(folder), time.monotonic(), []
    while (passed := time.monotonic() - started) < seconds and soak.rounds < rounds:
        await soak.round()
        if passed >= len(samples) * every:
            samples.append({"second": round(passed), "rounds": soak.rounds, **sample(folder)})
    samples.append({"second": round(time.monotonic() - started), "rounds": soak.rounds, **sample(folder)})
    await soak.close()
    return soak, samples


def run(folder, *, minutes, every=None, rounds=math.inf):
    """Work for so many minutes or rounds; return the samples, and by how much each grew in the second half.

    The first half fills what is kept of words and vectors up to its bound: each round brings words nobody said before.
    """
    every = max(1.0, minutes * 60 / 60) if every is None else every
    soak, samples = asyncio.run(_soak(Path(folder), minutes * 60, every, rounds))
    warm = samples[len(samples) // 2]
    grown = {name: round(samples[-1][name] - warm[name], 1) for name in samples[0] if name not in ("second", "rounds")}
    return {"rounds": soak.rounds, "operations": soak.operations, "errors": 0, "grown": grown, "samples": samples}
