"""Several processes on one file: every item is kept."""

import subprocess
import sys

from embedders import HashEmbedder
from vectormem import SqliteStore
from vectormem.adapters.langchain_vectors import VectormemVectorStore
from vectormem.adapters.langgraph_saver import VectormemSaver
from vectormem.adapters.langgraph_store import VectormemStore

PROGRAM = """
import sys
from embedders import HashEmbedder
from vectormem import SqliteStore
from vectormem.adapters.langchain_vectors import VectormemVectorStore
from vectormem.adapters.langgraph_saver import VectormemSaver
from vectormem.adapters.langgraph_store import VectormemStore

path, name = sys.argv[1:]
with SqliteStore(path) as file:
    store = VectormemStore(file, index={"embed": HashEmbedder(), "dims": 256})
    vectors, saver = VectormemVectorStore(file, HashEmbedder()), VectormemSaver(file)
    for number in range(20):
        store.put(("shared",), f"{name} {number}", {"text": f"tea {number}"})
        store.search(("shared",), query="tea")
        vectors.add_texts(["tea"], ids=[f"{name} {number}"])
        checkpoint = {"v": 4, "id": f"{name} {number}", "ts": "", "channel_values": {"a": "same"}}
        saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, checkpoint, {}, {})
"""


def test_processes_that_write_at_once_keep_every_item(tmp_path):
    path = tmp_path / "m.db"
    started = [subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), f"p{n}"]) for n in range(4)]
    assert [process.wait(timeout=120) for process in started] == [0] * 4
    names = sorted(f"p{n} {number}" for n in range(4) for number in range(20))
    with SqliteStore(path) as file:
        store = VectormemStore(file, index={"embed": HashEmbedder(), "dims": 256})
        assert sorted(item.key for item in store.search(("shared",), query="tea", limit=100)) == names
        assert (
            sorted(one.id for one in VectormemVectorStore(file, HashEmbedder()).similarity_search("tea", 100)) == names
        )
        thread = {"configurable": {"thread_id": "t"}}
        assert sorted(found.checkpoint["id"] for found in VectormemSaver(file).list(thread)) == names
