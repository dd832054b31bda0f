"""The command `doctor`."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from vectormem.cli.checkup import Checkup, Finding, Level, examine
from vectormem.cli.opening import check_exists, database_key
from vectormem.cli.options import (
    DEFAULT_DATABASE,
    DEFAULT_EMBEDDER,
    DatabaseOption,
    EmbedderOption,
    JsonOption,
    OnlyKeyOption,
)
from vectormem.cli.output import counted, print_json, print_line, shown
from vectormem.cli.place import FilePlace, ServerPlace
from vectormem.stores.sqlite.encryption import checked_key

_COLORS = {Level.PROBLEM: "red", Level.NOTE: "yellow"}


def doctor(
    db: DatabaseOption = DEFAULT_DATABASE,
    key: OnlyKeyOption = None,
    embedder: EmbedderOption = DEFAULT_EMBEDDER,
    slots: Annotated[
        Path | None,
        typer.Option("--slots", metavar="DIR", help="Check the slots that the *.py files of a folder define instead."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a database, and say what to do about what is wrong. Nothing is changed.

    Looked at: whether it is SQLite, its schema version, its integrity,
    rows without their parents, counters, vectors, and who may read it.
    On a Postgres server: schema version, rows without their parents,
    counters, vectors and indexes. With --slots: where memories are kept
    that do not outlive the process, or lose changes of several.
    The exit status is 1 where there is a problem.

    Example: vectormem doctor --db agent.db
    """
    if slots is not None:
        _report_slots(slots, as_json=as_json)
        return
    options = ["--db", db.shown, *(["--key", key] if key is not None else []), "--embedder", embedder.spec]
    advice = f"vectormem reindex {' '.join(map(quote, options))}"
    if isinstance(db, FilePlace):
        check_exists(db.path)
        checkup = examine(db.path, key=key, reindex=advice, secret=checked_key(database_key()))
    else:
        assert isinstance(db, ServerPlace)
        from vectormem.cli.checkup_server import examine_server

        checkup = examine_server(db, key=key, reindex=advice)
    if as_json:
        print_json(_document(checkup))
    else:
        _print(checkup)
    if not checkup.is_sound:
        raise typer.Exit(1)


def _report_slots(folder: Path, *, as_json: bool) -> None:
    from vectormem.cli.checkup_slots import examine_slots

    slots, findings = examine_slots(folder)
    if as_json:
        names = [slot.name for slot in slots]
        print_json({"path": str(folder), "slots": names, "findings": [finding._asdict() for finding in findings]})
        return
    print_line(f"{shown(str(folder))}: {counted(len(slots), 'slot')}")
    _print_findings(findings)


def _document(checkup: Checkup) -> dict[str, Any]:
    embedders = [
        {"embedder": name, "dimensions": dimensions, "vectors": count}
        for (name, dimensions), count in _by_embedder(checkup).items()
    ]
    return {
        "path": checkup.shown,
        "ok": checkup.is_sound,
        "schema_version": checkup.schema_version,
        "current_schema_version": checkup.current_schema_version,
        "keys": checkup.keys,
        "items": checkup.items,
        "embedders": embedders,
        "without_vector": checkup.without_vector,
        "findings": [finding._asdict() for finding in checkup.findings],
    }


def _print(checkup: Checkup) -> None:
    version = "unknown" if checkup.schema_version is None else checkup.schema_version
    print_line(f"{shown(checkup.shown)}: schema version {version}, current is {checkup.current_schema_version}")
    print_line(
        f"{counted(checkup.keys, 'key')}, {counted(checkup.items, 'item')}, {checkup.without_vector} without a vector"
    )
    for (name, dimensions), count in _by_embedder(checkup).items():
        print_line(f"{counted(count, 'vector')} by {shown(name)} ({dimensions} d)")
    _print_findings(checkup.findings)
    if checkup.is_sound:
        typer.echo(typer.style("no problem found", fg="green", bold=True))


def _print_findings(findings: Sequence[Finding]) -> None:
    for finding in findings:
        label = typer.style(finding.level, fg=_COLORS[finding.level], bold=True)
        typer.echo(f"{label}: {shown(finding.message)}\n  to do: {shown(finding.advice)}")


def _by_embedder(checkup: Checkup) -> dict[tuple[str, int], int]:
    totals: dict[tuple[str, int], int] = {}
    for count in checkup.vectors:
        kind = (count.embedder, count.dimensions)
        totals[kind] = totals.get(kind, 0) + count.vectors
    return totals
