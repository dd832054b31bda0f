"""A process that is killed in the middle of its changes, again and again, and what is found after each time."""

import asyncio
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

from tests.proof.checks import check_files, state_of
from tests.proof.hops import without_threads
from tests.proof.kinds import KINDS, Reindexing
from tests.proof.model import KEYS, NEW_KEY, Act, Ids, Model, perform, some_act

WEIGHTS = {
    "add": 30, "add_many": 14, "upsert": 16, "remove": 12, "clear": 3, "restore": 6, "migrate": 8, "reindex": 4,
}  # fmt: skip
_MOST_ACTS = 40
_MOST_HELD = 40


class Killer:
    """Kills writers of one memory, and holds what they had done by then."""

    def __init__(self, kind, folder, seed):
        self.kind = kind
        self.folder = folder
        self.chance = random.Random(seed)
        self.model = Model(Ids("none"))
        self.figures = Counter(kills=0, acknowledged=0, in_flight_kept=0, in_flight_absent=0, unsigned_locks=0)
        self.verbs = Counter()
        self.longest_wait = 0.0

    def kill_once(self):
        """Let a process write and kill it; check that all it acknowledged is there, and nothing half."""
        number = self.figures["kills"]
        self.model.ids = Ids(f"{self.kind}{number}")
        seed = self.chance.randrange(2**32)
        acknowledged = self._run_victim(seed)
        with without_threads():
            asyncio.run(self._check(seed, acknowledged))
        self.figures["kills"] += 1
        self.figures["acknowledged"] += acknowledged

    def _run_victim(self, seed):
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(receiving)
            _write_until_killed(self.kind, self.folder, self.model, seed, sending)
        os.close(sending)
        wanted = self.chance.randrange(_MOST_ACTS)
        said = b""
        while len(said) < wanted and (more := os.read(receiving, wanted - len(said))):
            said += more
        time.sleep(self.chance.random() ** 2 * 0.01)
        os.kill(child, signal.SIGKILL)
        while more := os.read(receiving, 4096):
            said += more
        os.close(receiving)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"the victim ended by itself, with status {status}"
        return len(said)

    async def _check(self, seed, acknowledged):
        chance = random.Random(seed)
        for _ in range(acknowledged):
            self.model.do(some_act(chance, self.model, weights=WEIGHTS))
        act = some_act(chance, self.model, weights=WEIGHTS)
        check_files(self.kind, self.folder)
        self._age_locks_without_an_owner()
        name = f"after{self.figures['kills']}"
        memory = Reindexing(self.kind, self.folder, new_id=Ids(name))
        self._settle(act, await state_of(memory))
        self.model.ids = Ids(name)
        await self._go_on(memory, act)
        await memory.aclose()

    def _settle(self, act, found):
        """Take over the state after the act that was in flight, where that is what is found."""
        for name, state in outcomes(self.model, act).items():
            if state.state() == found:
                self.figures[f"in_flight_{name}"] += 1
                self.verbs[act.verb] += 1
                self.model = state
                return
        raise AssertionError(f"after a kill in {act}: {found} is neither {self.model.state()} nor what follows it")

    async def _go_on(self, memory, act):
        """The next writer goes on at once, also in the key that the dead one was changing."""
        started = time.monotonic()
        keys = {NEW_KEY, *(argument for argument in act.arguments[:2] if argument in KEYS)}
        for key in sorted(keys):
            after = Act("add", (key, f"survivor {self.figures['kills']}", None))
            assert await perform(memory, after) == self.model.do(after)
        self.longest_wait = max(self.longest_wait, time.monotonic() - started)
        for key in [key for key, items in self.model.keys.items() if len(items) > _MOST_HELD]:
            assert await memory.clear(key) == self.model.clear(key)
        assert await state_of(memory) == self.model.state()

    def _age_locks_without_an_owner(self):
        """A process that died between making its lock file and signing it is waited for, for half a minute."""
        for lock in self.folder.rglob("*.lock"):
            if not lock.read_bytes():
                self.figures["unsigned_locks"] += 1
                os.utime(lock, (time.time() - 31,) * 2)

    async def _finish(self):
        """Write every key once more: nothing but data is left then."""
        memory = Reindexing(self.kind, self.folder, new_id=Ids("last"))
        for key in KEYS:
            await memory.add(key, "the last")
        await memory.aclose()
        check_files(self.kind, self.folder)
        left = [path.name for path in self.folder.rglob("*") if path.suffix in (".tmp", ".lock")]
        assert left == []

    def finish(self):
        asyncio.run(self._finish())


def outcomes(model, act):
    """The states that may be found when the process died in this act; a migration that removes is two changes."""
    before, after = model.copy(), model.copy()
    after.do(act)
    found = {"absent": before, "kept": after}
    if act.verb == "migrate" and act.arguments[-1]:
        middle = model.copy()
        middle.do(act._replace(arguments=(*act.arguments[:-1], False)))
        found["half_way"] = middle
    return found


def _write_until_killed(kind, folder, model, seed, sending):
    async def write():
        memory = Reindexing(kind, folder, new_id=model.ids)
        chance, twin = random.Random(seed), model.copy()
        while True:
            act = some_act(chance, twin, weights=WEIGHTS)
            twin.do(act)
            await perform(memory, act)
            os.write(sending, b".")

    try:
        with without_threads():
            asyncio.run(write())
    except BaseException as error:  # the parent reports that it ended by itself
        os.write(2, f"{error!r}\n".encode())
    os._exit(3)


def run(folder, *, kills, kinds=KINDS, seed=0, on_figures=lambda figures: None):
    """Kill `kills` writers of each kind; return the figures."""
    figures = {}
    for kind in kinds:
        started = time.monotonic()
        home = Path(folder) / kind
        home.mkdir()
        killer = Killer(kind, home, seed)
        for _ in range(kills):
            killer.kill_once()
        killer.finish()
        figures[kind] = {
            **killer.figures,
            "in_flight_by_verb": dict(sorted(killer.verbs.items())),
            "longest_wait_of_the_next_writer_s": round(killer.longest_wait, 3),
            "lost": 0,
            "half": 0,
            "seconds": round(time.monotonic() - started, 1),
        }
        on_figures(figures)
    return figures
