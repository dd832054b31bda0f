"""The results of a run as tables in the terminal."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.engines import ENGINES

_PRINTED_WIDTH = 110
_REASONS = {"cannot", "skipped", "failed"}
_WORDS = {None: "not measured", True: "[green]met[/]", False: "[red]not met[/]"}


def console() -> Console:
    """Return a console that is wide enough for the tables where it is no terminal."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=_PRINTED_WIDTH)


def show(document: Mapping[str, Any], console: Console) -> None:
    """Print one table a row, then the targets and the notes."""
    for name, row in document["rows"].items():
        _show_row(name, row, console)
    console.print(_targets_table(document["targets"]))
    for note in document["notes"]:
        console.print(f"- {note}", style="dim", highlight=False)


def _show_row(name: str, row: Mapping[str, Any], console: Console) -> None:
    scaled = f" ({row['items']:,} items measured)" if "items" in row else ""
    lines = list(_lines(row["engines"]))
    used = [column for column in _COLUMNS if any(column in cells for _, cells, _ in lines)]
    table = Table("engine", title=f"{name}: {row['work']}{scaled}", title_justify="left")
    for column in used:
        table.add_column(column, justify="right")
    for title, cells, style in lines:
        table.add_row(title, *(cells.get(column, "") for column in used), style=style)
    console.print(table)
    for engine, figures in row["engines"].items():
        for reason in _REASONS & figures.keys():
            console.print(f"  {_title(engine)} {reason}: {figures[reason]}", style="dim", markup=False, highlight=False)


def _lines(engines: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield a title, the cells by column and a style for each engine that has figures, and for the limits."""
    for engine, figures in engines.items():
        if _REASONS & figures.keys():
            continue
        yield _title(engine), _cells(figures), "bold" if engine == "vectormem" else ""
        for limit in ("numpy", "apsw"):
            if limit in figures and engine == "vectormem":
                yield f"  bare {limit}", _cells(figures[limit]), "dim"


def _cells(figures: Mapping[str, Any]) -> dict[str, str]:
    return {column: text for column, cell in _COLUMNS.items() if (text := cell(figures))}


def _times_limit(figures: Mapping[str, Any]) -> str:
    if "share_of_apsw" in figures:
        return _number(1 / figures["share_of_apsw"], "x")
    return _number(figures.get("times_numpy", figures.get("times_apsw")), "x")


def _title(engine: str) -> str:
    return ENGINES[engine].title if engine in ENGINES else engine


def _figure(figures: Mapping[str, Any]) -> str:
    if "median_ms" in figures:
        return _number(figures["median_ms"], " ms")
    if "items_per_second" in figures:
        return f"{figures['items_per_second']:,.0f}/s"
    if "grown_mb" in figures:
        return f"{figures['grown_mb']:,.0f} MB = {figures['times_float32']:.2f}x float32"
    return f"{figures['own_mb']:.1f} MB, {figures['with_dependencies_mb']:,.0f} MB with dependencies"


def _targets_table(targets: list[dict[str, Any]]) -> Table:
    table = Table("row", "target", title="targets", title_justify="left", min_width=60)
    table.add_column("measured", justify="right")
    table.add_column("verdict")
    for one in targets:
        table.add_row(one["work"], one["target"], _number(one["value"], ""), _WORDS[one["met"]])
    return table


def _number(value: float | None, unit: str) -> str:
    return "" if value is None else f"{value:,.3g}{unit}" if abs(value) < 1000 else f"{value:,.0f}{unit}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


_COLUMNS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "figure": _figure,
    "p95": lambda figures: _number(figures.get("p95_ms"), " ms"),
    "x limit": _times_limit,
    "x vectormem": lambda figures: _number(figures.get("times_vectormem"), "x"),
    "recall@10": lambda figures: _share(figures.get("recall@10")),
    "recall@100": lambda figures: _share(figures.get("recall@100")),
}
