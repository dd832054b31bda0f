"""LangGraph's conformance suite of checkpointers, over its async and its sync half."""

import asyncio

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability

from vectormem.adapters.langgraph_saver import VectormemSaver


class SyncHalf(VectormemSaver):
    """Answers the suite, which is async, by the sync methods."""

    async def aget_tuple(self, *args, **kwargs):
        return self.get_tuple(*args, **kwargs)

    async def alist(self, *args, **kwargs):
        for found in self.list(*args, **kwargs):
            yield found

    async def aput(self, *args, **kwargs):
        return self.put(*args, **kwargs)

    async def aput_writes(self, *args, **kwargs):
        self.put_writes(*args, **kwargs)

    async def adelete_thread(self, *args, **kwargs):
        self.delete_thread(*args, **kwargs)

    async def adelete_for_runs(self, *args, **kwargs):
        self.delete_for_runs(*args, **kwargs)

    async def acopy_thread(self, *args, **kwargs):
        self.copy_thread(*args, **kwargs)

    async def aprune(self, *args, **kwargs):
        self.prune(*args, **kwargs)


@pytest.mark.parametrize("kind", [VectormemSaver, SyncHalf])
@pytest.mark.parametrize("where", [":memory:", "a file"])
def test_the_saver_has_every_capability_and_passes_all_tests_of_it(kind, where, tmp_path):
    @checkpointer_test(name=kind.__name__)
    async def saver():
        with kind(where if where == ":memory:" else tmp_path / "checkpoints.db") as made:
            yield made

    report = asyncio.run(validate(saver))
    assert {name: result.failures for name, result in report.results.items() if result.failures} == {}
    assert {name for name, result in report.results.items() if result.passed} == {one.value for one in Capability}
