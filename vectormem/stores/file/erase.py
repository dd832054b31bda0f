"""The files of a scope key, removed, and other files searched for what they held."""

import json
from pathlib import Path

from vectormem.errors import StorageFailedError
from vectormem.stores.document import read_document, read_key
from vectormem.stores.erasure import Erased, is_of_scope
from vectormem.stores.file.lock import FileLocks, leftovers
from vectormem.stores.file.names import SUFFIX, file_name, key_of
from vectormem.stores.traces import Traces

_CHUNK = 4 * 2**20


def erase(folder: Path, locks: FileLocks, scope_key: str) -> Erased:
    """Remove the files of all keys of a scope.

    Raises StorageFailedError where a copy that is no document of a key still holds bytes of them.
    """
    traces, counts = Traces(), dict[str, int]()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        key = key_of(path.name) or read_key(path.read_bytes(), str(path))
        if is_of_scope(key, scope_key):
            counts[key] = counts.get(key, 0) + _erase_file(path, key, locks, traces)
    copies = [path for path in sorted(folder.glob("*")) if _is_copy(path) and traces.find(_chunks(path))]
    if copies:
        raise StorageFailedError(
            f"{sum(counts.values())} items of {scope_key!r} were erased, but bytes of them still stand in "
            f"{', '.join(map(str, copies))}, which vectormem did not write; delete what is a copy"
        )
    return Erased(counts)


def _erase_file(path: Path, key: str, locks: FileLocks, traces: Traces) -> int:
    document = path.with_name(file_name(key))
    with locks.hold(path.with_name(document.name + ".lock")):
        if not path.exists():
            return 0
        rows = read_document(path.read_bytes(), key, str(path)).newest()
        for row in rows:
            for value in filter(None, (row.id, row.text, row.metadata)):
                traces.add_text(value)
                traces.add_text(json.dumps(value, ensure_ascii=False)[1:-1])
        for file in (path, *leftovers(document)):
            file.unlink(missing_ok=True)
        return len(rows)


def _is_copy(path: Path) -> bool:
    return path.is_file() and path.suffix not in (SUFFIX, ".lock")


def _chunks(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        return list(iter(lambda: file.read(_CHUNK), b""))
