import pytest

from tests.extras.langgraph.stores import INDEX, Clock
from vectormem.adapters.langgraph_store import VectormemStore


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=[":memory:", "a file"])
def store(request, tmp_path, clock):
    path = request.param if request.param == ":memory:" else tmp_path / "m.db"
    with VectormemStore(path, index=INDEX, clock=clock) as store:
        yield store
