"""What vectormem promises of its speed, and whether a run keeps it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Rows = Mapping[str, Any]

_MB_BESIDE_VECTORS = 60
_ADD_ROWS = ("add-0", "add-10000", "add-100000")


class Verdict(NamedTuple):
    """`value` and `met` are None where the run did not measure what the target needs."""

    work: str
    target: str
    value: float | None
    met: bool | None


class _NotMeasuredError(Exception):
    pass


def judge(rows: Rows) -> list[Verdict]:
    """Hold the figures of a run against every target."""
    return [_verdict(rows, *one) for one in _targets()]


def _verdict(rows: Rows, work: str, target: str, value: "Value", holds: Callable[[float], bool]) -> Verdict:
    try:
        measured = value(rows)
    except _NotMeasuredError:
        return Verdict(work, target, None, None)
    return Verdict(work, target, measured, holds(measured))


Value = Callable[[Rows], float]
_Target = tuple[str, str, Value, Callable[[float], bool]]


def _targets() -> Iterator[_Target]:
    yield from _warm("warm-20x5000", 2.0, None)
    for peer in ("chroma", "lancedb"):
        value = _of("warm-20x5000", peer, "times_vectormem")
        yield "warm-20x5000", f"{peer} takes >= 50x the time of vectormem", value, _at_least(50)
    yield "warm-100", "<= 0.25 ms", _of("warm-100", "vectormem", "median_ms"), _at_most(0.25)
    yield from _warm("warm-100000", 0.2, 0.99)
    yield from _warm("warm-1000000", 0.12, 0.99)
    for row, most in (("first-5000", 1.5), ("first-100000", 0.5)):
        target = f"<= {most}x reading all rows with bare apsw"
        yield row, target, _of(row, "vectormem", "times_apsw"), _at_most(most)
    share = _of("bulk-100000", "vectormem", "share_of_apsw")
    yield "bulk-100000", ">= 0.6x the bare apsw inserts", share, _at_least(0.6)
    for row in _ADD_ROWS:
        yield row, "<= 2.5x a bare apsw transaction", _of(row, "vectormem", "times_apsw"), _at_most(2.5)
        for peer in ("chroma", "lancedb"):
            yield row, f"faster than {peer}", _of(row, peer, "times_vectormem"), _at_least(1.0)
    growth = _ratio(_of("add-100000", "vectormem", "median_ms"), _of("add-0", "vectormem", "median_ms"))
    yield "add", "flat: at 100,000 items <= 1.5x the time at 0", growth, _at_most(1.5)
    imported, bare = _of("import", "vectormem", "median_ms"), _of("import", "numpy, pydantic", "median_ms")
    yield "import", "<= 80 ms beyond numpy and pydantic", _difference(imported, bare), _at_most(80)
    helped = _of("import", "vectormem --help", "median_ms")
    yield "import", "--help <= 250 ms beyond the import", _difference(helped, imported), _at_most(250)
    for row in ("memory-100000", "memory-1000000"):
        yield row, "<= 1.25x the float32 bytes + 60 MB", _memory(row), _at_most(1.25)


def _warm(row: str, most: float, recall: float | None) -> Iterator[_Target]:
    yield row, f"<= {most}x the bare numpy product", _of(row, "vectormem", "times_numpy"), _at_most(most)
    if recall:
        yield row, f"recall@10 >= {recall}", _of(row, "vectormem", "recall@10"), _at_least(recall)


def _of(row: str, engine: str, figure: str) -> Value:
    def value(rows: Rows) -> float:
        try:
            return float(rows[row]["engines"][engine][figure])
        except KeyError:
            raise _NotMeasuredError from None

    return value


def _memory(row: str) -> Value:
    """How often the float32 bytes fit into the growth beyond 60 MB."""
    grown, float32 = _of(row, "vectormem", "grown_mb"), _of(row, "vectormem", "float32_mb")
    return lambda rows: (grown(rows) - _MB_BESIDE_VECTORS) / float32(rows)


def _ratio(value: Value, base: Value) -> Value:
    return lambda rows: value(rows) / base(rows)


def _difference(value: Value, base: Value) -> Value:
    return lambda rows: value(rows) - base(rows)


def _at_most(bound: float) -> Callable[[float], bool]:
    return lambda value: value <= bound


def _at_least(bound: float) -> Callable[[float], bool]:
    return lambda value: value >= bound
