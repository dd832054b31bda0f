"""Repeated measurements and what is said of them."""

import gc
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass
class Series:
    """Seconds of one kind of call, in the order measured."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def p95(self) -> float:
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(len(self.seconds) * 0.95))]

    def figures(self) -> dict[str, Any]:
        return {
            "median_ms": self.median * 1e3,
            "p95_ms": self.p95 * 1e3,
            "repetitions": len(self.seconds),
        }

    async def time(self, call: Callable[[], Awaitable[T]]) -> T:
        started = time.perf_counter()
        result = await call()
        self.seconds.append(time.perf_counter() - started)
        return result

    def time_sync(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        result = call()
        self.seconds.append(time.perf_counter() - started)
        return result


@dataclass(frozen=True)
class Patience:
    """How long to repeat: until `seconds` have passed and `least` were done, and never beyond ten times that."""

    seconds: float
    least: int = 20
    most: int = 2000

    def wants_more(self, done: int, started: float) -> bool:
        passed = time.perf_counter() - started
        if done >= self.most or (done and passed >= 10 * self.seconds):
            return False
        return done < self.least or passed < self.seconds


def settle_garbage() -> None:
    """Take what was built so far out of the collector's way, for every engine alike."""
    gc.collect()
    gc.freeze()
