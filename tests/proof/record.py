"""The figures of a long run as JSON, with the machine and the versions that they were made with."""

import json
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.machine import describe_commit, describe_machine, describe_versions

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "proof"


def write(name, settings, figures, *, folder=RESULTS, work=None):
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": describe_commit(),
        "machine": describe_machine(Path(work or tempfile.gettempdir())),
        "versions": describe_versions(),
        "settings": settings,
        "figures": figures,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return path
