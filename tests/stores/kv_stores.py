"""Key-value stores that fail, hang, stop, compare, or list in a way of their own."""

import asyncio
import threading
from types import SimpleNamespace

from tests.conftest import DictKV


class FailingKV(DictKV):
    """Fails in the calls that `failing` names."""

    def __init__(self, *failing):
        super().__init__()
        self.failing = set(failing)

    async def get(self, key):
        self._fail("get")
        return await super().get(key)

    async def put(self, key, value):
        self._fail("put")
        await super().put(key, value)

    async def delete(self, key):
        self._fail("delete")
        await super().delete(key)

    async def list(self, *, prefix):
        self._fail("list")
        return await super().list(prefix=prefix)

    def _fail(self, name):
        if name in self.failing:
            raise ConnectionError("the network is down")


class PlainKV:
    """Has nothing but the three calls."""

    def __init__(self):
        self.values = {}

    async def get(self, key):
        return self.values.get(key)

    async def put(self, key, value):
        self.values[key] = value

    async def delete(self, key):
        self.values.pop(key, None)


class ComparingKV(DictKV):
    """Can compare and set; `meanwhile` happens once, between a reading and what is stored then."""

    def __init__(self, meanwhile=None):
        super().__init__()
        self.meanwhile = meanwhile
        self.tries = 0

    async def compare_and_set(self, key, expected, value):
        self.tries += 1
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            await happens()
        if self.values.get(key) != expected:
            return False
        self.values.pop(key, None)
        if value is not None:
            self.values[key] = value
        return True


class HangingKV(DictKV):
    """Never answers the calls that `hanging` names."""

    def __init__(self, *hanging):
        super().__init__()
        self.hanging = set(hanging)

    async def get(self, key):
        await self._answer("get")
        return await super().get(key)

    async def put(self, key, value):
        await self._answer("put")
        await super().put(key, value)

    async def _answer(self, name):
        if name in self.hanging:
            await asyncio.Event().wait()


class WorkersKV(PlainKV):
    """Lists its keys as the KV namespaces of Cloudflare Workers do: a page at a time, each key an object."""

    async def list(self, *, prefix, cursor=0):
        names = sorted(key for key in self.values if key.startswith(prefix))
        keys = [SimpleNamespace(name=name) for name in names[cursor : cursor + 2]]
        return SimpleNamespace(keys=keys, list_complete=cursor + 2 >= len(names), cursor=cursor + 2)


class StoppingKV(DictKV):
    """Stops in `put` until it is let go."""

    def __init__(self):
        super().__init__()
        self.arrived = threading.Event()
        self.go_on = threading.Event()

    async def put(self, key, value):
        self.arrived.set()
        while not self.go_on.is_set():
            await asyncio.sleep(0.001)
        await super().put(key, value)
