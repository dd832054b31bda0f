"""Rows deleted for good: what they held is looked for afterwards in the bytes of the files."""

from typing import Any

import apsw

from vectormem.stores.traces import Traces


def erase_rows(connection: apsw.Connection, table: str, condition: str, value: object, traces: Traces) -> int:
    """Delete the rows of a table for which a condition on `value` holds, having told `traces` what they held.

    Returns how many rows there were.
    """
    rows: Any = connection.execute(f"SELECT * FROM {table} WHERE {condition}", (value,))
    for row in rows:
        for content in row:
            traces.add(content)
    connection.execute(f"DELETE FROM {table} WHERE {condition}", (value,))
    return connection.changes()
