"""Disks that fail: every single call that changes a file, in turn; and disks that are full after every byte."""

import asyncio
import errno
import mmap
import os
import random
import resource
import struct
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from tests.proof.checks import check_files, state_of
from tests.proof.hops import without_threads
from tests.proof.kills import WEIGHTS, outcomes
from tests.proof.kinds import KINDS, Reindexing, open_memory
from tests.proof.model import Act, Ids, Model, perform, some_act
from vectormem import StorageFailedError

SOURCE = Path(__file__).with_name("failing_disk.c")
MODES = {
    "one call, EIO": (errno.EIO, False, False),
    "from a call on, EIO": (errno.EIO, True, False),
    "from a call on, ENOSPC": (errno.ENOSPC, True, True),
}
_FIELDS = 6


class Control:
    """What the preloaded library reads: which call is to fail."""

    def __init__(self, path):
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _FIELDS * 8)

    def fail(self, call, mode):
        error, lasting, torn = MODES[mode]
        struct.pack_into("6q", self._memory, 0, 0, call, lasting, error, 1, torn)

    def heal(self):
        """Let nothing fail any more; return how many calls there were."""
        calls, *_ = struct.unpack_from("6q", self._memory)
        struct.pack_into("6q", self._memory, 0, 0, -1, 0, 0, 0, 0)
        return calls


def build(folder):
    """Compile the library; None where there is no compiler."""
    library = Path(folder) / "failing_disk.so"
    try:
        call = ["cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"]
        subprocess.run(call, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return library


def run(folder, *, kinds=KINDS, acts=24, seed=0, every=1, on_figures=lambda figures: None):
    """Let every call of a row of changes fail in turn (or one in `every`); return the figures, None without cc."""
    folder = Path(folder)
    library = build(folder)
    if library is None:
        return None
    figures = {}
    for kind in kinds:
        (folder / kind).mkdir()
        (folder / kind / "control").write_bytes(bytes(_FIELDS * 8))
        env = {**os.environ, "LD_PRELOAD": str(library), "FAILING_DISK": str(folder / kind / "control")}
        arguments = [kind, str(folder / kind), str(acts), str(seed), str(every)]
        code = "import sys; from tests.proof import disk; disk.main(*sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=env, cwd=SOURCE.parents[2], capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        figures[kind] = eval(done.stdout, {})
        on_figures(figures)
    return figures


def main(kind, folder, acts, seed, every):
    """Run in the process with the library: print the figures of one kind."""
    control, figures = Control(Path(folder) / "control"), {}
    started = time.monotonic()
    for mode in MODES:
        counts, call = Counter(), 0
        while True:
            home = Path(folder) / f"{mode} {call}"
            home.mkdir()
            trial = Trial(kind, home, control, int(seed), counts)
            with without_threads():
                reached = asyncio.run(trial.run(int(acts), call, mode))
            if not reached:
                break
            counts["calls_that_failed"] += 1
            call += int(every)
        figures[mode] = dict(sorted(counts.items()))
    sys.stdout.write(repr({**figures, "lost": 0, "half": 0, "seconds": round(time.monotonic() - started, 1)}))


class Trial:
    """A row of changes of which one meets a failing disk."""

    def __init__(self, kind, folder, control, seed, counts):
        self.kind = kind
        self.folder = folder
        self.control = control
        self.chance = random.Random(seed)
        self.counts = counts
        self.ids = Ids("")
        self.model = Model(Ids(""))

    async def run(self, acts, call, mode):
        """Return whether there were as many calls as to reach the failing one."""
        self.control.fail(call, mode)
        reached = 0
        try:
            memory = self._open()
        except StorageFailedError:
            reached, memory = self.control.heal(), self._open()
        for number in range(acts):
            for ids in (self.ids, self.model.ids):
                ids.name, ids.drawn = f"i{number}", 0
            reached += await self._act(memory)
        reached += self.control.heal()
        assert await state_of(memory) == self.model.state()
        await memory.aclose()
        check_files(self.kind, self.folder)
        memory = self._open()
        assert await state_of(memory) == self.model.state()
        await memory.aclose()
        return reached > call

    async def _act(self, memory):
        act = some_act(self.chance, self.model, weights=WEIGHTS)
        try:
            found = await perform(memory, act)
        except StorageFailedError:
            reached = self.control.heal()
            state = await state_of(memory)
            self.model = self._settled(act, state)
            return reached
        assert found == self.model.do(act), act
        return 0

    def _settled(self, act, state):
        for name, model in outcomes(self.model, act).items():
            if model.state() == state:
                self.counts[f"error_reported_and_change_{name}"] += 1
                return model
        raise AssertionError(f"after an error in {act}: {state} is neither {self.model.state()} nor what follows it")

    def _open(self):
        return Reindexing(self.kind, self.folder, new_id=self.ids)


@contextmanager
def room(size):
    """Let no file of this process grow beyond `size` bytes, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def fill(folder, *, kind, step):
    """Add to a memory whose file may grow up to each `step`-th byte of what that takes; return the figures."""
    return asyncio.run(_fill(Path(folder), kind, step))


async def _fill(folder, kind, step):
    ids = Ids("i")
    memory = open_memory(kind, folder, new_id=ids)
    model = Model(Ids("i"))
    await perform(memory, first := Act("add_many", ("k", [f"tea {number}" for number in range(20)], None)))
    model.do(first)
    counts, size = Counter(refused=0, stored=0), 0
    while not counts["stored"]:
        await _truncate_log(memory)
        act = Act("add", ("k", f"milk {size}", {"n": size}))
        model.ids.drawn = ids.drawn
        with room(size):
            try:
                await memory.add(*act.arguments[:2], metadata=act.arguments[2])
                model.do(act)
                counts["stored"] += 1
            except StorageFailedError:
                counts["refused"] += 1
        assert await state_of(memory) == model.state(), size
        size += step
    assert await perform(memory, Act("add", ("k", "room again", None)))
    await memory.aclose()
    check_files(kind, folder)
    return {**counts, "bytes_of_the_write": size, "step": step, "lost": 0, "half": 0}


async def _truncate_log(memory):
    store = getattr(memory._items, "_store", None)
    if store is not None:
        connection = store._connections.lock_writer()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        store._connections.unlock_writer()
