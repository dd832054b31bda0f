"""The engines that can be measured, by the name that the command line and the results use."""

import importlib
import importlib.util
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.engines.protocol import Engine


@dataclass(frozen=True)
class EngineSpec:
    """Where an engine is found, what it needs, and what it cannot do.

    `cannot` gives the reason by kind of row, under "" for all. `rows`, where given, are the only rows in
    which this variant says anything of its own.
    """

    title: str
    file: str
    class_name: str
    distributions: tuple[str, ...]
    imports: str
    cannot: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[str, ...] = ()

    @property
    def is_vectormem(self) -> bool:
        return self.file == "vectormem"

    def measures(self, row: str) -> bool:
        return not self.rows or row in self.rows

    @property
    def is_durable(self) -> bool:
        return "first" not in self.cannot

    def missing(self) -> str:
        """Return how to install what the engine needs, "" where it is installed."""
        modules = [statement.split()[1] for statement in self.imports.split(";")]
        installed = all(map(_is_installed, modules))
        return "" if installed else f"not installed: pip install {' '.join(self.distributions)}"

    def obstacle(self, kind: str) -> str:
        """Return why rows of this kind cannot be measured here, "" where they can."""
        return self.missing() or self.cannot.get("") or self.cannot.get(kind, "")

    def load(self) -> Engine:
        """Import the engine and make one."""
        module = importlib.import_module(f"benchmarks.engines.{self.file}")
        engine: Engine = getattr(module, self.class_name)()
        return engine


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


_IN_MEMORY = dict.fromkeys(("first", "add"), "keeps nothing on disk")
_NEEDS_EXTENSION = {"": "this Python's sqlite3 cannot load extensions, and the vector search is one"}
_LARGEST = ("warm-1000000", "memory-1000000")
_INDEXED = ("warm-20x5000", "warm-100000", "warm-1000000", "first-100000")

ENGINES: dict[str, EngineSpec] = {
    "vectormem": EngineSpec(
        title="vectormem",
        file="vectormem",
        class_name="SqliteVectormem",
        distributions=("vectormem",),
        imports="import vectormem",
    ),
    "vectormem-default-cache": EngineSpec(
        title="vectormem, default cache",
        file="vectormem",
        class_name="SmallCacheVectormem",
        distributions=("vectormem",),
        imports="import vectormem",
        rows=_LARGEST,
    ),
    "vectormem-memory": EngineSpec(
        title="vectormem, in memory",
        file="vectormem",
        class_name="InMemoryVectormem",
        distributions=("vectormem",),
        imports="import vectormem",
        cannot=_IN_MEMORY,
    ),
    "chroma": EngineSpec(
        title="Chroma",
        file="chroma",
        class_name="Chroma",
        distributions=("chromadb",),
        imports="import chromadb",
    ),
    "lancedb": EngineSpec(
        title="LanceDB",
        file="lancedb",
        class_name="LanceDB",
        distributions=("lancedb",),
        imports="import lancedb",
    ),
    "lancedb-indexed": EngineSpec(
        title="LanceDB, indexed",
        file="lancedb",
        class_name="IndexedLanceDB",
        distributions=("lancedb",),
        imports="import lancedb",
        rows=_INDEXED,
    ),
    "langgraph-memory": EngineSpec(
        title="LangGraph InMemoryStore",
        file="langgraph",
        class_name="InMemoryLangGraph",
        distributions=("langgraph",),
        imports="import langgraph.store.memory",
        cannot=_IN_MEMORY,
    ),
    "langgraph-sqlite": EngineSpec(
        title="LangGraph SqliteStore",
        file="langgraph",
        class_name="SqliteLangGraph",
        distributions=("langgraph", "langgraph-checkpoint-sqlite"),
        imports="import langgraph.store.sqlite",
        cannot={} if hasattr(sqlite3.Connection, "enable_load_extension") else _NEEDS_EXTENSION,
    ),
    "nano-vectordb": EngineSpec(
        title="nano-vectordb",
        file="nano",
        class_name="NanoVectorDb",
        distributions=("nano-vectordb",),
        imports="import nano_vectordb",
    ),
    "qdrant-local": EngineSpec(
        title="qdrant-client, local",
        file="qdrant",
        class_name="QdrantLocal",
        distributions=("qdrant-client",),
        imports="import qdrant_client",
    ),
    "sqlite-vec-scan": EngineSpec(
        title="sqlite-vec, scan",
        file="sqlite_vec",
        class_name="SqliteVecScan",
        distributions=("sqlite-vec", "apsw"),
        imports="import apsw; import sqlite_vec",
    ),
    "sqlite-vec-vec0": EngineSpec(
        title="sqlite-vec, vec0",
        file="sqlite_vec",
        class_name="SqliteVec0",
        distributions=("sqlite-vec", "apsw"),
        imports="import apsw; import sqlite_vec",
    ),
}
