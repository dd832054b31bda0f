"""A process that adds numbered texts to a shared memory, and prints each number once it is stored."""
# ruff: noqa: T201  # what it prints is what the tests read

import sys
from pathlib import Path

from embedders import HashEmbedder
from vectormem import FileMemory, SqliteMemory, SqliteVectorMemory, blocking

KEY = "shared"


def open_memory(kind, folder):
    if kind == "file":
        return FileMemory(folder / "files", max_items=None)
    if kind == "sqlite":
        return SqliteMemory(folder / "items.db", max_items=None)
    return SqliteVectorMemory(folder / "vectors.db", embedder=HashEmbedder(64), max_items=None)


def main(kind, folder, name, count):
    with blocking(open_memory(kind, Path(folder))) as memory:
        print("ready", flush=True)
        sys.stdin.readline()  # the others are ready too
        for number in range(int(count)):
            memory.add(KEY, f"{name} {number}")
            print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
