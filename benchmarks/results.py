"""The results of a run as JSON: figures, ratios, targets, and all that one must know to believe them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.data import SYNTHETIC_DIMENSIONS
from benchmarks.machine import describe_commit, describe_machine, describe_versions
from benchmarks.plan import Settings
from benchmarks.run import Results
from benchmarks.targets import judge
from benchmarks.workload import to_json

BASIS = "vectormem"

_NOTES = (
    "Times are medians of wall time in one process an engine; the embedder is a lookup of prepared vectors.",
    "numpy, OpenBLAS and OpenMP have one thread. Engines with thread pools of their own (Chroma, LanceDB) keep them.",
    "The bare numpy product and the bare apsw transactions are measured between the calls of vectormem.",
    "A filter on the key is given where there are several keys, and left out where there is one.",
    "Every engine commits as it does by default; vectormem and bare apsw wait for the disk (synchronous=FULL).",
    "x vectormem says how often the time (or memory, or size) of vectormem an engine takes.",
    "First queries find the file in the operating system's cache.",
)
_SYNTHETIC = "The vectors are synthetic: they flatter approximate search, so read no recall from this run."
_STRETCHED = "Vectors beyond those of the file are pairs mixed, with noise of the file's own covariance."
_SCALED = "Every shape is scaled by {scale}: the figures say nothing about the sizes in the rows' names."


def notes(settings: Settings) -> list[str]:
    own = [_STRETCHED if settings.vectors else _SYNTHETIC]
    own += [_SCALED.format(scale=settings.scale)] if settings.scale != 1 else []
    return [*own, *_NOTES]


def compare(rows: Results) -> None:
    """Add to the figures of each peer how often its time is that of vectormem in the same row."""
    for row in rows.values():
        basis = _cost(row["engines"].get(BASIS, {}))
        for name, figures in row["engines"].items():
            if basis and name != BASIS and (cost := _cost(figures)):
                figures["times_vectormem"] = cost / basis


def assemble(rows: Results, settings: Settings, work: Path) -> dict[str, Any]:
    """Return everything that is written of a run."""
    compare(rows)
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": describe_commit(),
        "machine": describe_machine(work),
        "versions": describe_versions(),
        "settings": {
            "vectors": settings.vectors.name if settings.vectors else f"synthetic, {SYNTHETIC_DIMENSIONS} d",
            "seed": settings.seed,
            "scale": settings.scale,
            "seconds": settings.seconds,
            "budget": settings.budget,
            "processes": settings.processes,
        },
        "notes": notes(settings),
        "targets": [verdict._asdict() for verdict in judge(rows)],
        "rows": rows,
    }
    result: dict[str, Any] = to_json(document)
    return result


def write(document: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def _cost(figures: dict[str, Any]) -> float:
    """Return what grows with slowness: a time, the time of an item, or an amount; 0 where there is none."""
    if speed := figures.get("items_per_second"):
        return 1 / float(speed)
    names = ("median_ms", "grown_mb", "with_dependencies_mb")
    return float(next((figures[name] for name in names if name in figures), 0))
