"""Random changes and questions, a million of them, each compared with plain lists."""

import asyncio
import math
import random
import re
import shutil
import time
from collections import Counter
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from embedders import HashEmbedder
from tests.conftest import DictKV
from tests.proof.checks import check_files, state_of, vectors_of
from tests.proof.hops import without_threads
from tests.proof.kinds import open_memory
from tests.proof.model import KEYS, MOMENT, Ids, Model, held_of, perform, some_act, some_text
from vectormem import (
    InMemoryMemory,
    InMemoryVectorMemory,
    KVMemory,
    PostgresMemory,
    PostgresStore,
    PostgresVectorMemory,
)

KINDS = ("memory", "memory-vectors", "kv", "file", "sqlite", "vectors")
WEIGHTS = {"add": 26, "add_many": 8, "upsert": 18, "remove": 14, "clear": 1, "restore": 3, "migrate": 2}
DIMENSIONS = 64
_QUESTIONS = ("newest", "some", "search", "get", "count", "keys")
_STEPS_BETWEEN_LOOKS = 500
_CHUNK = 20_000


class Walk:
    """Random steps over one place, through one or two memory objects that share it."""

    def __init__(self, kind, folder, seed, *, objects=1, max_items=12, dsn=None):
        self.kind = kind
        self.folder = folder
        self.dsn = dsn
        self.chance = random.Random(seed)
        self.ids = Ids("i")
        self.model = Model(Ids("i"), max_items)
        self.kv = DictKV()
        self.stores = []
        self.memories = [self._open(max_items) for _ in range(objects)]
        self.done = Counter()

    async def take(self, steps):
        for number in range(steps):
            memory = self.chance.choice(self.memories)
            await (self._change(memory) if self.chance.random() < 0.6 else self._ask(memory))
            if number % _STEPS_BETWEEN_LOOKS == 0:
                for one in self.memories:
                    assert await state_of(one) == self.model.state()
        for one in self.memories:
            assert await state_of(one) == self.model.state()

    async def close(self):
        for memory in self.memories:
            await memory.aclose()
        for store in self.stores:
            store.close()
        check_files(self.kind, self.folder)

    async def _change(self, memory):
        act = some_act(self.chance, self.model, weights=WEIGHTS)
        self.done[act.verb] += 1
        expected = self.model.do(act)
        found = await perform(memory, act)
        assert found == expected, (act, found, expected)

    async def _ask(self, memory):
        question, key = self.chance.choice(_QUESTIONS), self.chance.choice(KEYS)
        self.done[question] += 1
        held = self.model.newest(key)
        match question:
            case "newest":
                assert _held(await memory.list(key)) == held
            case "some":
                limit = self.chance.randrange(1, 30)
                assert _held(await memory.list(key, limit=limit)) == held[:limit]
            case "search":
                await self._search(memory, key, held)
            case "get":
                wanted = self.chance.choice(held).id if held else "nobody"
                item = await memory.get(key, wanted)
                assert item is None if not held else held_of(item) in held and item.id == wanted
            case "count":
                assert await memory.count(key) == len(held)
            case _:
                assert list(await memory.scope_keys()) == sorted(self.model.keys)

    async def _search(self, memory, key, held):
        query, limit = some_text(self.chance), self.chance.choice((None, 1, 3, 10))
        found = await memory.list(key, query=query, limit=limit)
        if "vectors" in self.kind:
            _check_by_meaning(held, found, query, limit)
        else:
            assert _held(found) == by_words(held, query)[:limit], query

    def _open(self, max_items):
        options = {"max_items": max_items, "new_id": self.ids, "clock": lambda: MOMENT}
        match self.kind:
            case "memory":
                return InMemoryMemory(**options)
            case "memory-vectors":
                return InMemoryVectorMemory(embedder=HashEmbedder(DIMENSIONS), **options)
            case "kv":
                return KVMemory(self.kv, **options)
            case "postgres":
                return PostgresMemory(self._server(), **options)
            case "postgres-vectors":
                return PostgresVectorMemory(self._server(), embedder=HashEmbedder(DIMENSIONS), **options)
            case kind:
                return open_memory(kind, self.folder, new_id=self.ids, max_items=max_items, dimensions=DIMENSIONS)

    def _server(self):
        store = PostgresStore(self.dsn, schema=re.sub(r"\W", "_", self.folder.name), pool_size=2)
        self.stores.append(store)
        return store


def by_words(held, query):
    """Rank by the number of words shared, newest first where it is equal; written down another time."""
    wanted = _words(query)
    wanted = {word for word in wanted if len(word) > 2 or not word.isascii()} or wanted
    counts = [len(wanted & _words(item.text)) for item in held]
    order = sorted(range(len(held)), key=lambda position: (-counts[position], position))
    return [held[position] for position in order if counts[position]]


def _words(text):
    runs = re.findall(r"[^\W_]+", text.lower())
    return {run[:-1] if len(run) > 3 and run.endswith("s") and not run.endswith("ss") else run for run in runs}


def _check_by_meaning(held, found, query, limit):
    """Scores are cosines to within float32; the order is by score, and newest first where it is equal."""
    wanted = _vector_of(query)
    scores = {item.id: float(wanted @ _vector_of(item.text)) for item in held}
    good = [item.id for item in held if scores[item.id] >= 0.2 - 1e-6]
    assert len(found) == (len(good) if limit is None else min(limit, len(good)))
    for item in found:
        assert held_of(item) in held
        assert math.isclose(item.score, scores[item.id], abs_tol=1e-5)
    places = {item.id: position for position, item in enumerate(held)}
    for first, second in pairwise(found):
        assert (-first.score, places[first.id]) < (-second.score, places[second.id])
    if found and len(found) < len(good):
        missing = [scores[item_id] for item_id in good if item_id not in {item.id for item in found}]
        assert max(missing) <= found[-1].score + 1e-5


@lru_cache(maxsize=100_000)
def _vector_of(text):
    return vectors_of(DIMENSIONS, [text])[0].astype(float)


def _held(items):
    return list(map(held_of, items))


def run(folder, *, steps, kinds=KINDS, seed=0, dsn=None, on_figures=lambda figures: None):
    """Take `steps` over each kind, a chunk in turn, each in a new place; where two objects can share one, two do.

    `dsn` is that of an empty Postgres database, for the kinds `postgres` and `postgres-vectors`.
    """
    done, seconds = {kind: Counter() for kind in kinds}, Counter()
    for number, taken in enumerate(range(0, steps, _CHUNK)):
        for kind in kinds:
            started = time.monotonic()
            home = Path(folder) / f"{kind} {number}"
            home.mkdir()
            walk = Walk(kind, home, seed + number, objects=_objects(kind), dsn=dsn)
            with without_threads():
                asyncio.run(walk.take(min(_CHUNK, steps - taken)))
                asyncio.run(walk.close())
            shutil.rmtree(home)
            done[kind] += walk.done
            seconds[kind] += time.monotonic() - started
        on_figures(_figures(done, seconds))
    return _figures(done, seconds)


def _objects(kind):
    return 1 if kind.startswith("memory") else 2


def _figures(done, seconds):
    return {
        kind: {
            "objects": _objects(kind),
            "steps": counts.total(),
            "differences": 0,
            "by_kind_of_step": dict(sorted(counts.items())),
            "seconds": round(seconds[kind], 1),
        }
        for kind, counts in done.items()
    }
