"""What an amount of items needs, computed from measured figures: one file, one server, or many of them."""

import argparse
import json
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from vectormem.index.vectors import TWO_STAGE_FLOATS

_RESULTS = Path(__file__).parent / "results"
_CONSTANTS = _RESULTS / "scaling.json"
_AMOUNTS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
_DIMENSIONS = 384
_CODE_BYTES = 56  # a one-bit code of 384 dimensions with its two factors, as faiss keeps it


class Measured(NamedTuple):
    """What one item costs, of 384 dimensions and a text of some forty bytes; times in milliseconds."""

    file_bytes: float  # in a SQLite file
    file_adds: float  # items a second with add_many
    file_query: tuple[tuple[int, float], ...]  # items of the key, and a warm query of ten
    server_bytes: float  # rows, vectors and indexes in Postgres, without HNSW
    server_adds: float
    server_compared: tuple[tuple[int, float], ...]  # a query that compares all of a key
    index_bytes: float  # HNSW
    index_query: tuple[int, float]
    index_build: tuple[int, float]  # items, and seconds

    @classmethod
    def read(cls, path: Path) -> "Measured":
        """Return the figures of a file that `--dsn` has written, and of the run of the benchmark that it names."""
        own = json.loads(path.read_text())
        run = json.loads((path.parent / own["run"]).read_text())["rows"]
        warm = [run[f"warm-{items}"]["engines"]["vectormem"]["median_ms"] for items in (100, 5000, 100_000)]
        server = own["server"]
        return cls(
            file_bytes=own["file_bytes_per_item"],
            file_adds=run["bulk-100000"]["engines"]["vectormem"]["items_per_second"],
            file_query=tuple(zip((100, 5000, 100_000), warm, strict=True)),
            server_bytes=server["bytes_per_item"],
            server_adds=server["items_per_second"],
            server_compared=tuple((items, milliseconds) for items, milliseconds in server["compared_ms"]),
            index_bytes=server["index_bytes_per_item"],
            index_query=(server["items"], server["index_ms"]),
            index_build=(server["items"], server["index_build_seconds"]),
        )


class Machine(NamedTuple):
    """A server: memory for vectors and indexes, and disk, in gigabytes of 10^9 bytes."""

    memory: float
    disk: float


def between(points: Sequence[tuple[int, float]], items: int) -> float:
    """Return the time for a number of items: along the line between measured points, and on from the last one."""
    if items <= points[0][0]:
        return points[0][1]
    for (fewer, less), (more, most) in pairwise(points):
        if items <= more or (more, most) == points[-1]:
            return less + (most - less) * (items - fewer) / (more - fewer)
    return points[0][1]


def many_keys(measured: Measured, items: int, per_key: int, machine: Machine) -> dict[str, Any]:
    """Return what items need that are spread over keys of `per_key` items: no query sees more than one key."""
    stored = items * measured.server_bytes / 1e9
    shards = max(1, math.ceil(stored / (0.7 * machine.disk)))  # the rest is for the log and for vacuuming
    return {
        "file_gb": items * measured.file_bytes / 1e9,
        "file_load_hours": items / measured.file_adds / 3600,
        "file_query_ms": between(measured.file_query, per_key),
        "server_gb": stored,
        "server_load_hours": items / measured.server_adds / 3600 / shards,
        "server_query_ms": between(measured.server_compared, per_key),
        "servers": shards,
        "keys_per_server": items / per_key / shards,
    }


def one_key(measured: Measured, items: int, machine: Machine) -> dict[str, Any]:
    """Return what one key of so many items needs: it cannot be divided, so memory decides where it ends."""
    indexed, milliseconds = measured.index_query
    built, seconds = measured.index_build
    growth = math.log(items)  # what inserting into a graph, and searching it, grows with
    is_indexed = items * _DIMENSIONS >= TWO_STAGE_FLOATS
    index = items * measured.index_bytes / 1e9 if is_indexed else 0.0
    return {
        "file_gb": items * measured.file_bytes / 1e9,
        "file_memory_gb": items * min(4 * _DIMENSIONS + _CODE_BYTES, 0.5e9 / items + _CODE_BYTES) / 1e9,
        "file_query_ms": between(measured.file_query, items),
        "index_gb": index,
        "index_hours": seconds * items / built * growth / math.log(built) / 3600 if is_indexed else 0.0,
        "server_query_ms": milliseconds * growth / math.log(indexed)
        if is_indexed
        else between(measured.server_compared, items),
        "fits": index <= machine.memory,
    }


def tables(measured: Measured, machine: Machine, per_key: int) -> str:
    """Return both tables in Markdown."""
    spread = [many_keys(measured, items, per_key, machine) for items in _AMOUNTS]
    single = [one_key(measured, items, machine) for items in _AMOUNTS]
    lines = [
        f"| items in keys of {per_key:,} | file | its loading | a query | Postgres | its loading | a query | servers |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for items, need in zip(_AMOUNTS, spread, strict=True):
        cells = [
            f"{items:,}",
            _size(need["file_gb"]),
            _time(need["file_load_hours"]),
            f"{need['file_query_ms']:.1f} ms",
            _size(need["server_gb"]),
            _time(need["server_load_hours"]),
            f"{need['server_query_ms']:.1f} ms",
            f"{need['servers']}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| items in one key | memory, file | a query | HNSW index | its building | a query | fits one server |",
        "|---|---|---|---|---|---|---|",
    ]
    for items, need in zip(_AMOUNTS, single, strict=True):
        cells = [
            f"{items:,}",
            _size(need["file_memory_gb"]),
            f"{need['file_query_ms']:,.1f} ms",
            _size(need["index_gb"]) if need["index_gb"] else "none",
            _time(need["index_hours"]) if need["index_gb"] else "",
            f"{need['server_query_ms']:.0f} ms",
            "yes" if need["fits"] else "no",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _size(gigabytes: float) -> str:
    for unit, size in (("TB", 1000.0), ("GB", 1.0)):
        if gigabytes >= size:
            return f"{gigabytes / size:.1f} {unit}"
    return f"{gigabytes * 1000:.0f} MB"


def _time(hours: float) -> str:
    for unit, length in (("days", 24.0), ("h", 1.0), ("min", 1 / 60)):
        if hours >= length:
            return f"{hours / length:.1f} {unit}"
    return f"{hours * 3600:.1f} s"


def main(arguments: Sequence[str]) -> int:
    """Print the tables; with a DSN, measure that server first and write its figures."""
    options = _parser().parse_args(arguments)
    if options.dsn:
        from benchmarks.scaling_server import measure  # needs the extra `postgres`

        options.constants.write_text(json.dumps(measure(options), indent=1) + "\n")
    machine = Machine(options.memory, options.disk)
    print(tables(Measured.read(options.constants), machine, options.per_key), end="")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks scaling", description=__doc__)
    parser.add_argument("--per-key", type=int, default=1000, help="items of a key (default: 1,000)")
    parser.add_argument("--memory", type=float, default=128.0, help="GB of a server for vectors (default: 128)")
    parser.add_argument("--disk", type=float, default=2000.0, help="GB of a server's disk (default: 2,000)")
    parser.add_argument("--constants", type=Path, default=_CONSTANTS, help="the measured figures")
    parser.add_argument("--dsn", help="measure this server; the schema vectormem_scaling is made and dropped there")
    parser.add_argument("--items", type=int, default=50_000, help="items to measure with (default: 50,000)")
    parser.add_argument("--vectors", type=Path, metavar="FILE.npy", help="real embeddings; synthetic ones without")
    parser.add_argument("--run", default="2026-11-30.json", help="the run of the benchmark to go with it")
    return parser
