"""What deleted rows leave behind in a database file, overwritten.

SQLite's `secure_delete` overwrites a row where it is deleted. Copies of it may still stand in the unused middle
of pages, from where it was moved when pages were split or joined: those are overwritten here.
"""

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from vectormem.stores.sqlite.raw import CHUNK, opened, size_of_log

_TREE_PAGES = {2: 12, 5: 12, 10: 8, 13: 8}  # type of a page of a B-tree: bytes of its header
_HEADER_OF_FILE = 100
_MOST_PAGES = 2**25  # with fewer, the first byte of any other page is 0 or 1
_ATTEMPTS = 5


class _Gap(NamedTuple):
    """Unused bytes of a file, from `start` on."""

    start: int
    length: int


def wipe(path: str, connection: apsw.Connection) -> bool:
    """Empty the log into the file and overwrite what is unused there; `connection` is of no other use meanwhile.

    Returns False where another connection reads or writes, within the patience of `connection`.
    """
    for _ in range(_ATTEMPTS):
        if not empty_log(connection) or not _begin(connection):
            return False
        try:
            if size_of_log(path):  # somebody was quicker
                continue
            if overwrite_gaps(path):
                _let_all_read_anew(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return empty_log(connection)
    return False


def empty_log(connection: apsw.Connection) -> bool:
    """Bring the log into the file and leave it empty; False where another connection holds it up."""
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def _begin(connection: apsw.Connection) -> bool:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        return False
    return True


def overwrite_gaps(path: str) -> bool:
    """Overwrite what is unused in the pages; False where there was nothing.

    Nobody may write pages meanwhile. Nobody reads gaps, so a crash does no harm.
    """
    with opened(path, writable=True) as file:
        gaps = list(_dirty_gaps(file))
        for gap in gaps:
            file.xWrite(bytes(gap.length), gap.start)
        if gaps:
            file.xSync(apsw.SQLITE_SYNC_FULL)
    return bool(gaps)


def _dirty_gaps(file: "apsw.VFSFile") -> Iterator[_Gap]:
    size = file.xFileSize()
    page_size = _page_size(file) if size >= _HEADER_OF_FILE else 0
    if not page_size or size // page_size >= _MOST_PAGES:
        return
    step = max(CHUNK // page_size, 1) * page_size
    for start in range(0, size, step):
        content = file.xRead(min(step, size - start), start)
        for page in range(0, len(content) - page_size + 1, page_size):
            header = page + (_HEADER_OF_FILE if start + page == 0 else 0)
            gap = _gap(content, page, header, page_size)
            if gap.length > 0 and content.count(0, gap.start, gap.start + gap.length) != gap.length:
                yield _Gap(start + gap.start, gap.length)


def _page_size(file: "apsw.VFSFile") -> int:
    """Return the page size that the header names, 0 where it is no header of SQLite."""
    header = file.xRead(18, 0)
    size = int.from_bytes(header[16:18])
    return 0 if header[:16] != b"SQLite format 3\0" else 65_536 if size == 1 else size


def _gap(content: bytes, page: int, header: int, page_size: int) -> _Gap:
    """Return the unused bytes between the pointers to the cells of a page and its lowest cell; none on other pages."""
    if content[header] not in _TREE_PAGES:
        return _Gap(0, 0)
    cells = int.from_bytes(content[header + 3 : header + 5])
    lowest = int.from_bytes(content[header + 5 : header + 7]) or 65_536
    start = header + _TREE_PAGES[content[header]] + 2 * cells
    return _Gap(start, page + min(lowest, page_size) - start)


def _let_all_read_anew(connection: apsw.Connection) -> None:
    """Change the file, so that no connection writes a page back from memory as it was before."""
    version = connection.pragma("user_version")
    connection.execute(f"PRAGMA user_version={version}")
