"""How long a process takes that only imports a package, and how much the package puts on the disk."""

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from benchmarks.engines import ENGINES
from benchmarks.process import ROOT, succeeds, wall_seconds
from benchmarks.timing import Series

_BARE = "import numpy, pydantic"
_HELP = "import sys; sys.argv = ['vectormem', '--help']; from vectormem.cli.app import main; main()"
_OWN_PACKAGES = ("vectormem", "embedders")


def measure_imports(engines: list[str], repetitions: int) -> dict[str, Any]:
    """Return the median wall time of a process for each import, all taking turns."""
    statements = {"numpy, pydantic": _BARE, "vectormem --help": _HELP}
    statements |= {name: ENGINES[name].imports for name in _one_each(engines)}
    commands = {name: [sys.executable, "-c", statement] for name, statement in statements.items()}
    working = {name: command for name, command in commands.items() if succeeds(command)}
    series = {name: Series() for name in working}
    for _ in range(repetitions):
        for name, command in working.items():
            series[name].seconds.append(wall_seconds(command))
    bare = series["numpy, pydantic"].median
    measured = {name: one.figures() | {"over_bare_ms": (one.median - bare) * 1e3} for name, one in series.items()}
    return {name: measured.get(name, {"failed": "cannot be imported"}) for name in commands}


def measure_sizes(engines: list[str]) -> dict[str, Any]:
    """Return the size of the distributions of each engine, alone and with all that they require."""
    return {name: _sizes(ENGINES[name].distributions) for name in _one_each(engines)}


def _one_each(engines: list[str]) -> list[str]:
    """Return the first engine of each package."""
    first: dict[str, str] = {}
    for name in engines:
        first.setdefault(ENGINES[name].imports, name)
    return list(first.values())


def _sizes(distributions: tuple[str, ...]) -> dict[str, Any]:
    visited: set[tuple[str, frozenset[str]]] = set()
    for name in distributions:
        _visit(name, frozenset(), visited)
    required = {name for name, _ in visited}
    return {
        "own_mb": sum(map(_own_bytes, distributions)) / 2**20,
        "with_dependencies_mb": sum(map(_own_bytes, required)) / 2**20,
        "distributions": len(required),
    }


def _visit(name: str, extras: frozenset[str], visited: set[tuple[str, frozenset[str]]]) -> None:
    """Add a distribution and all that it requires with these extras, as far as installed."""
    name = name.lower().replace("_", "-").replace(".", "-")
    try:
        requirements = distribution(name).requires or []
    except PackageNotFoundError:
        return
    if (name, extras) in visited:
        return
    visited.add((name, extras))
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras | {""}):
            _visit(requirement.name, frozenset(requirement.extras), visited)


def _own_bytes(name: str) -> int:
    """Return the bytes of a distribution's files; those of the packages themselves where it is editable."""
    if name == "vectormem":
        return sum(_size(path) for package in _OWN_PACKAGES for path in (ROOT / package).rglob("*") if _counts(path))
    files = distribution(name).files or []
    return sum(_size(path) for path in (Path(str(file.locate())) for file in files) if _counts(path))


def _counts(path: Path) -> bool:
    return path.suffix != ".pyc" and path.is_file()


def _size(path: Path) -> int:
    return path.stat().st_size
