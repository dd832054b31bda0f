"""The memories that outlive a process, opened for the long runs with ids and times that they share with the model."""

from embedders import HashEmbedder
from tests.proof.model import MOMENT
from vectormem import FileMemory, SqliteMemory, SqliteVectorMemory
from vectormem.origin import new_uuid

KINDS = ("file", "sqlite", "vectors")
DIMENSIONS = (48, 64)


def open_memory(kind, folder, *, new_id=new_uuid, max_items=None, dimensions=64):
    options = {"max_items": max_items, "new_id": new_id, "clock": lambda: MOMENT}
    match kind:
        case "file":
            return FileMemory(folder / "files", **options)
        case "sqlite":
            return SqliteMemory(folder / "memory.db", **options)
        case _:
            return SqliteVectorMemory(folder / "memory.db", embedder=HashEmbedder(dimensions), **options)


class Reindexing:
    """A vector memory whose verb `reindex` says by how many dimensions; other memories have nothing to do then."""

    def __init__(self, kind, folder, *, new_id):
        numbers = DIMENSIONS if kind == "vectors" else DIMENSIONS[-1:]
        self.by_dimensions = {number: open_memory(kind, folder, new_id=new_id, dimensions=number) for number in numbers}
        self._memory = self.by_dimensions[DIMENSIONS[-1]]
        self.kind = kind

    def __getattr__(self, name):
        return getattr(self._memory, name)

    async def reindex(self, dimensions):
        if self.kind == "vectors":
            await self.by_dimensions[dimensions].reindex()

    async def aclose(self):
        for memory in self.by_dimensions.values():
            await memory.aclose()
