"""A plugin of pytest: whoever imports LangGraph's InMemoryStore gets a new, empty file of ours."""

import tempfile
from pathlib import Path

import langgraph.store.memory

from vectormem.adapters.langgraph_store import VectormemStore

_folder = tempfile.TemporaryDirectory()


class StoreInAFile(VectormemStore):
    made = 0

    def __init__(self, *, index=None):
        StoreInAFile.made += 1
        super().__init__(Path(_folder.name) / f"{StoreInAFile.made}.db", index=index)


langgraph.store.memory.InMemoryStore = StoreInAFile
